//! A request that is retransmitted until it is answered.

use units::{Duration, Time};
use wire::ndn::{Interest, LinkHeader, Packet, Reason};

use super::{Control, Face, Failure, Transport};

/// How often a question is asked, and how long each time it is waited for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    pub(super) tries: u32,
    pub(super) each: Duration,
}

/// Asks for `interest` until Data come that answer it; `make` writes the Interest with the nonce that it is given. Whole and right, the
/// Data packet is left in `answer`. Data whose digest is wrong are as good as none.
pub(super) fn ask<C: Transport>(
    face: &mut Face<C>,
    interest: &Interest<'_>,
    make: &mut dyn FnMut(u32, &mut Vec<u8>),
    patience: Patience,
    control: &Control,
    answer: &mut Vec<u8>,
) -> Result<(), Failure> {
    let began = face.transport().now();
    let mut refused: Option<Reason> = None;
    let mut packet = Vec::new();
    for _ in 0..patience.tries {
        let until = face.transport().now() + patience.each;
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
                face.transport().wait(retransmit_at.min(now + LOOK));
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

/// A step of splitmix64: another number for every number.
pub(super) const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What was refused is asked for again so much later.
const REFUSED: Duration = Duration::from_millis(200);
/// The control is looked at so often.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// The instant from which on nothing is waited for, `span` from `now`.
pub(super) fn after(now: Time, span: Duration) -> Time {
    if span == Duration::MAX { Time::NEVER } else { now + span }
}
