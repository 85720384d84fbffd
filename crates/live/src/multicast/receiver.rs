//! Reception of datagrams of a multicast group (RFC 1112), with the keys of the session.

use driver::Platform;
use units::{Duration, Time};
use wire::stream::{Datagram, Frame, Group, Reason};

use crate::keys::Key;
use crate::replay::Replay;
use crate::{Secret, Stats};

/// Receives datagrams of a group and verifies their tags.
pub(crate) struct MulticastReceiver {
    group: Group,
    key: Key,
    seen: Replay,
    heard_at: Time,
}

impl MulticastReceiver {
    /// Joins the group, if there is one.
    ///
    /// # Errors
    ///
    /// A reason for the other end, and a message for users at this end.
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

    /// The session number in datagrams to the group.
    pub(crate) const fn session(&self) -> u32 {
        self.group.session
    }

    /// The frame of a datagram; `None`, with a count of the reason, if its tag is wrong, it is a duplicate, or its frame is not valid in
    /// groups.
    pub(crate) fn read<'a>(&mut self, bytes: &'a [u8], now: Time, stats: &mut Stats) -> Option<Frame<'a>> {
        let Some(body) = self.key.open(bytes) else {
            stats.discarded.forged += 1;
            return None;
        };
        let Ok(Datagram { number, frame, .. }) = Datagram::read(body) else {
            stats.discarded.malformed += 1;
            return None;
        };
        if !matches!(frame, Frame::Data(_) | Frame::KeepAlive) {
            stats.discarded.misplaced += 1;
            return None;
        }
        if !self.seen.take(number) {
            stats.discarded.repeated += 1;
            return None;
        }
        self.heard_at = now;
        stats.received.add(bytes.len());
        Some(frame)
    }

    /// Whether nothing of the group has arrived for `span`. Its sender sends keep-alives to the group.
    pub(crate) fn deaf(&self, now: Time, span: Duration) -> bool {
        now >= self.heard_at + span
    }

    /// The message for users if this persists although the sender is alive: the network does not carry the group.
    pub(crate) fn complaint(&self) -> String {
        let group = self.group.address;
        format!("nothing that the sender says to the group {group} comes here: does the network carry it?")
    }
}
