//! A request that is retransmitted until it is answered.

use units::{Duration, Time};
use wire::ndn::{Interest, LinkHeader, Packet, Reason};

use super::{Control, Face, Failure, Transport};

/// Number of attempts of a request, and the timeout of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retries {
    pub(super) attempts: u32,
    pub(super) timeout: Duration,
}

/// Sends `interest` until Data answer it; `make` writes the Interest with the given nonce. The valid Data packet is in
/// `answer`. Data with a wrong digest are ignored.
pub(super) fn request<C: Transport>(
    face: &mut Face<C>,
    interest: &Interest<'_>,
    make: &mut dyn FnMut(u32, &mut Vec<u8>),
    retries: Retries,
    control: &Control,
    answer: &mut Vec<u8>,
) -> Result<(), Failure> {
    let began = face.transport().now();
    let mut refused: Option<Reason> = None;
    let mut packet = Vec::new();
    for _ in 0..retries.attempts {
        let until = face.transport().now() + retries.timeout;
        packet.clear();
        make((face.draw() >> 32) as u32, &mut packet);
        face.send(&packet, LinkHeader::default())?;
        face.flush()?;
        let (mut found, mut retransmit_at) = (false, until);
        while face.transport().now() < retransmit_at && !found {
            if control.stopped() {
                return Err(Failure::Stopped);
            }
            let now = face.transport().now();
            let some = face.receive(&mut |header, packet| match packet {
                Packet::Data(data) if interest.asks_for(data.name) && data.intact() != Some(false) => {
                    answer.clear();
                    answer.extend_from_slice(data.packet());
                    found = true;
                }
                Packet::Interest(other) if header.nack.is_some() && other.name == interest.name => {
                    refused = header.nack;
                    retransmit_at = until.min(now + REFUSED);
                }
                _ => {}
            })?;
            if !some {
                let now = face.transport().now();
                face.transport().wait(retransmit_at.min(now + POLL_INTERVAL));
            }
        }
        if found {
            return Ok(());
        }
    }
    let waited = face.transport().now().saturating_since(began);
    let name = interest.name.to_string();
    Err(match refused.map(Reason::known) {
        Some(Some(contract::NackReason::NoRoute)) => Failure::NoRoute(name),
        _ => Failure::Unanswered { name, waited },
    })
}

/// Time after which a refused Interest is retransmitted.
const REFUSED: Duration = Duration::from_millis(200);
/// Interval at which the control is checked.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The instant `span` after `now`.
pub(super) fn after(now: Time, span: Duration) -> Time {
    if span == Duration::MAX { Time::NEVER } else { now + span }
}
