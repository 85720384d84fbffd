//! The sending end of a group.

use std::net::SocketAddr;

use driver::Platform;
use transfer::Payload;

use super::channel::Channel;
use super::epochs::Epochs;
use super::flow::Flow;
use super::outcome::ReceiverOutcome;
use super::sessions::Sender;
use crate::frames::Secret;
use crate::group::Signer;
use crate::host::{Host, drive};
use crate::{Control, End, Outcome, Scheme, Stats};
use crate::{Settings, group_server_config};

/// The group of a sender, and its limit of receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Address and port of the group: an IP multicast address.
    pub address: SocketAddr,
    /// Maximum number of receivers at a time; further ones are refused with the reason busy.
    pub max: usize,
}

/// Sends `payload` with the paced scheme `scheme` to a group, and returns at the end: everything was transferred, it
/// was stopped, or it failed. Receivers connect to the address of `platform`; `settings.handshake` is ignored. Nothing
/// is sent while no receiver is ready. `about` (at most [`wire::stream::ABOUT`] bytes) is for receiving applications.
///
/// Returns the outcome and how it ended with each receiver, in the order of their ends. A receiver that reconnects is
/// the same one, also from another process with its secret ([`Settings::client_secret`]): it counts once, with its last
/// end.
///
/// Errors are the outcome's end: [`End::Failed`] if the address is not a group's, the scheme cannot be used or the
/// sizes are out of range; [`End::Silent`] if all receivers timed out, [`End::Unanswered`] if none connected.
pub fn send(
    settings: &Settings,
    group: &Group,
    scheme: &Scheme,
    payload: Box<dyn Payload>,
    about: Vec<u8>,
    platform: &mut impl Platform,
    control: &Control,
) -> (Outcome, Vec<ReceiverOutcome>) {
    let failed = |why| (Outcome { end: End::Failed(why), stats: Stats::default() }, Vec::new());
    if !group.address.ip().is_multicast() {
        return failed(format!("{} is not the address of a multicast group", group.address));
    }
    let (mut secret, mut signing, mut drawn) = ([0; 32], [0; 32], [0; 12]);
    platform.fill_random(&mut secret);
    platform.fill_random(&mut signing);
    platform.fill_random(&mut drawn);
    let [a, b, c, d, seed @ ..] = drawn;
    let flow = match Flow::new(scheme, payload, about, u64::from_be_bytes(seed)) {
        Ok(flow) => flow,
        Err(why) => return failed(why),
    };
    let epochs = Epochs::new(Secret(secret), u32::from_be_bytes([a, b, c, d]));
    let config = group_server_config(settings, platform);
    let mut host = Host::new(platform, Some(config));
    let now = host.platform.now();
    let channel = Channel::new(group.address, epochs, Signer::new(&signing), now);
    let mut sender = Sender::new(settings, group.max, flow, channel, control, now);
    let end = drive(&mut host, &mut sender);
    sender.finish(end, &mut host)
}
