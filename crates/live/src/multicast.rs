//! Reception of datagrams of a multicast group (RFC 1112), with the keys of the session.

use units::{Duration, Time};
use wire::stream::{Datagram, Frame, Group, Reason};

use crate::keys::Key;
use crate::replay::Replay;
use crate::{Platform, Secret, Stats};

/// Reads what is sent to a group, and believes it where its tag is right.
pub(crate) struct MulticastReceiver {
    group: Group,
    key: Key,
    seen: Replay,
    heard_at: Time,
}

impl MulticastReceiver {
    /// Joins the group, where there is one.
    ///
    /// # Errors
    ///
    /// A reason for the other end, and a sentence for people here, where that cannot be.
    pub(crate) fn open(
        group: Option<Group>,
        secret: &Secret,
        now: Time,
        platform: &mut impl Platform,
    ) -> Result<Option<Self>, (Reason, String)> {
        let Some(group) = group else { return Ok(None) };
        if !group.address.ip().is_multicast() {
            return Err((Reason::Offer, format!("{} is the address of no group", group.address)));
        }
        platform
            .join(group.address)
            .map_err(|why| (Reason::Offer, format!("the group {} cannot be joined: {why}", group.address)))?;
        let key = Key::group(secret, &group.secret);
        Ok(Some(Self { group, key, seen: Replay::new(), heard_at: now }))
    }

    /// The number that datagrams to the group carry.
    pub(crate) const fn session(&self) -> u32 {
        self.group.session
    }

    /// What a datagram says; `None`, and counted, where its tag is wrong, it came before, or it says what is not said to groups.
    pub(crate) fn read<'a>(&mut self, bytes: &'a [u8], now: Time, stats: &mut Stats) -> Option<Frame<'a>> {
        let Some(body) = self.key.open(bytes) else {
            stats.refused.forged += 1;
            return None;
        };
        let Ok(Datagram { number, frame, .. }) = Datagram::read(body) else {
            stats.refused.malformed += 1;
            return None;
        };
        if !matches!(frame, Frame::Data(_) | Frame::KeepAlive) {
            stats.refused.misplaced += 1;
            return None;
        }
        if !self.seen.take(number) {
            stats.refused.repeated += 1;
            return None;
        }
        self.heard_at = now;
        stats.received.add(bytes.len());
        Some(frame)
    }

    /// Whether nothing of the group was heard for this long. Its sender says there that it lives, if nothing else.
    pub(crate) fn deaf(&self, now: Time, span: Duration) -> bool {
        now >= self.heard_at + span
    }

    /// What is to be told where it stays so though the sender is there: the network does not carry the group. A sentence for people.
    pub(crate) fn complaint(&self) -> String {
        let group = self.group.address;
        format!("nothing that the sender says to the group {group} comes here: does the network carry it?")
    }
}
