//! Forwarding by name: the two parts of an NDN forwarder that a scheme can replace.
//!
//! A forwarder records the downstream faces of a name in its pending Interest table (PIT), so that Data return on the same path. A [`Strategy`]
//! selects the next hops of an Interest. A [`LinkLaw`] is a part at the links: it polices or shapes the Interests that the strategy sends, and
//! observes and labels the Data that return. Each node has one object of each; names, tables and queues belong to the forwarder.

use ambassador::delegatable_trait;
use units::{Bytes, Duration, Time};

use crate::{FaceId, LaneId, NackReason, Name, NameId, Names, Packet, PortView, Random, TransitCx};

/// A pending Interest: an entry of the PIT. Stale once the entry has ended; every use of a stale one finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Place in the table.
    pub slot: u32,
    /// How often the place was used before.
    pub generation: u32,
}

/// Which next hops to take. One object per node, for all names.
///
/// Each method says what is already true and what it may do about the pending Interest it is told of; about others it may do at any
/// time what [`StrategyCx`] offers.
#[delegatable_trait]
pub trait Strategy {
    /// The run begins; faces can be looked at.
    fn on_start(&mut self, _cx: &mut dyn StrategyCx) {}

    /// An Interest came that no store answers.
    ///
    /// Already true: its nonce is new, its in-record is written, `fib` has at least one next hop. It may send the Interest to any faces,
    /// refuse it to any downstream, or reject it; if it does nothing, the Interest stays pending until Data comes or it expires.
    /// It is called for every Interest that is not a loop: where `is_new` is false, others wait for the same Data or the same
    /// downstream asks again, and doing nothing aggregates. But every Interest keeps the entry alive: a strategy that never sends again
    /// what was lost on the way starves whoever asks again in time.
    fn on_interest(&mut self, interest: &Arrived<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx);

    /// Data came for a pending Interest.
    ///
    /// Already true: the out-record of the face is there, if the Interest was sent there. Afterwards the Data goes to every downstream
    /// and the entry ends; this is only for looking and learning.
    fn on_data(&mut self, _data: &Returned<'_>, _fib: &FibEntry<'_>, _cx: &mut dyn StrategyCx) {}

    /// A neighbour, or this node's own [`LinkLaw`] in releasing a lane, refuses an Interest.
    ///
    /// Already true: the out-record says so. It may send the Interest to other faces, refuse it to any downstream, or reject it. The
    /// default is [`StrategyCx::pass_refusals`].
    fn on_nack(&mut self, nack: &Refused<'_>, _fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        cx.pass_refusals(nack.pending);
    }

    /// A pending Interest has expired: no Data came for any downstream.
    ///
    /// Already true: its records are all still there. Afterwards the entry ends; this is only for looking and learning.
    fn on_expiry(&mut self, _pending: Pending, _name: Name, _fib: &FibEntry<'_>, _cx: &mut dyn StrategyCx) {}

    /// The deadline may have passed. It may do anything that `cx` offers, about Interests that are still pending.
    fn on_timer(&mut self, _cx: &mut dyn StrategyCx) {}

    /// When `on_timer` is wanted. Asked after each call that may change it.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Whether `wake` ever answers anything but never; asked once, when the node is made. A strategy without deadlines that says so spares
    /// a question a packet.
    fn has_deadlines(&self) -> bool {
        true
    }

    /// Operations that it has taken since the node was made, see [`LinkLaw::operations`].
    fn operations(&self) -> u64 {
        0
    }
}

/// An Interest that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The packet; its header is an Interest.
    pub packet: &'a Packet,
    /// What is wanted.
    pub name: Name,
    /// The face it came in by.
    pub from: FaceId,
    /// The entry that it made or joined.
    pub pending: Pending,
    /// It made the entry.
    pub is_new: bool,
}

/// Data that came for a pending Interest.
#[derive(Clone, Copy, Debug)]
pub struct Returned<'a> {
    /// The packet; its header is Data. A mark is in its `ecn`.
    pub packet: &'a Packet,
    /// What it is.
    pub name: Name,
    /// The face it came in by.
    pub from: FaceId,
    /// The entry that it satisfies.
    pub pending: Pending,
    /// Time since the Interest left by that face; `None` where it was never sent there, or more than once.
    pub rtt: Option<Duration>,
}

/// A refusal that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'a> {
    /// The packet; its header is a NACK. `None` where this node's own link part refused.
    pub packet: Option<&'a Packet>,
    /// What was wanted.
    pub name: Name,
    /// The face that the Interest was sent to.
    pub from: FaceId,
    /// The entry.
    pub pending: Pending,
    /// Why.
    pub reason: NackReason,
}

/// What a forwarder knows of the way to a prefix.
#[derive(Clone, Copy, Debug)]
pub struct FibEntry<'a> {
    /// The longest prefix that matched.
    pub prefix: NameId,
    /// Number of the entry at this node, from 0, the same as long as the run lasts: for what a strategy keeps by prefix.
    pub index: u32,
    /// The next hops, the cheapest first; of equals, the one with fewer links to go, then the lower face. Never empty.
    pub hops: &'a [NextHop],
}

/// A way to a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The face.
    pub face: FaceId,
    /// What it costs to reach the nearest producer this way, by the network's routing metric; 0 where the producer is here.
    pub cost: u64,
}

/// Who waits for the Data of a pending Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InRecord {
    /// The face.
    pub face: FaceId,
    /// The nonce of the latest Interest from there.
    pub nonce: u32,
    /// When that Interest expires.
    pub expires: Time,
}

/// Whom a pending Interest was sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutRecord {
    /// The face.
    pub face: FaceId,
    /// The nonce that was sent last.
    pub nonce: u32,
    /// When it was sent last; when it was decided, as long as it is held in a lane.
    pub sent_at: Time,
    /// It waits in a lane of the link part.
    pub held: bool,
    /// It was sent more than once.
    pub again: bool,
    /// The answer was no.
    pub refused: Option<NackReason>,
}

/// A face as the parts of its forwarder see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceView {
    /// The face.
    pub face: FaceId,
    /// The link and its queue; `None` for an endpoint on this node.
    pub link: Option<PortView>,
    /// Interests sent there and not yet answered, refused or expired. Those in lanes count as well.
    pub pending: u32,
}

/// What became of an Interest that a strategy sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It left.
    Sent,
    /// It waits in a lane of the link part.
    Held,
    /// The link part refused it. No out-record was written; another face can be tried.
    Refused(NackReason),
    /// The link part dropped it without a word. No out-record was written.
    Dropped,
    /// The entry has ended, or there is no such face.
    Gone,
}

/// What a strategy may see and do.
pub trait StrategyCx {
    /// The present instant.
    fn now(&self) -> Time;

    /// The strategy's own stream of random numbers.
    fn random(&mut self) -> &mut Random;

    /// The tree of names.
    fn names(&self) -> &Names;

    /// How many faces there are: those of links first, from 0, then those of endpoints on this node.
    fn faces(&self) -> u32;

    /// One of them.
    fn face(&mut self, face: FaceId) -> FaceView;

    /// The in-record number `index` of a pending Interest, in the order in which downstreams first asked.
    fn downstream(&self, pending: Pending, index: usize) -> Option<InRecord>;

    /// The out-record number `index` of a pending Interest, in the order in which faces were first tried.
    fn upstream(&self, pending: Pending, index: usize) -> Option<OutRecord>;

    /// The strategy's own word in the entry of a pending Interest; 0 at first.
    fn note(&self, pending: Pending) -> u32;

    /// Writes it.
    fn set_note(&mut self, pending: Pending, note: u32);

    /// Sends the Interest to a face, past the link part if the face is a link. The nonce is that of the latest Interest that arrived.
    fn send_interest(&mut self, pending: Pending, face: FaceId) -> Departure;

    /// Sends the Interest to a face with a new nonce of this node's own: a probe, which is no loop where it meets the other.
    fn probe_interest(&mut self, pending: Pending, face: FaceId) -> Departure;

    /// Refuses the Interest to one downstream, whose in-record ends. With the last of them the entry ends.
    fn send_nack(&mut self, pending: Pending, downstream: FaceId, reason: NackReason);

    /// Refuses the Interest to every downstream; the entry ends.
    fn send_nacks(&mut self, pending: Pending, reason: NackReason);

    /// Ends the entry without a word to anybody.
    fn reject(&mut self, pending: Pending);

    /// Offers the present value of a series of this node.
    fn probe(&mut self, series: &'static str, value: f64);

    /// The out-record of `face`, if the Interest was sent there.
    fn sent_to(&self, pending: Pending, face: FaceId) -> Option<OutRecord> {
        (0..).map_while(|index| self.upstream(pending, index)).find(|record| record.face == face)
    }

    /// The in-record of `face`, if it waits for the Data.
    fn awaited_by(&self, pending: Pending, face: FaceId) -> Option<InRecord> {
        (0..).map_while(|index| self.downstream(pending, index)).find(|record| record.face == face)
    }

    /// Refuses to every downstream once every face that was tried has refused, with the least severe of their reasons. Where all but
    /// one have, and that one waits for the Data itself, the two nodes would wait for each other: then it alone is refused
    /// [NFD: best-route strategy, processing of NACKs].
    fn pass_refusals(&mut self, pending: Pending) {
        let (mut min, mut open) = (None, None);
        for record in (0..).map_while(|index| self.upstream(pending, index)) {
            match record.refused {
                Some(reason) => min = Some(min.map_or(reason, |min: NackReason| min.min(reason))),
                None if open.is_some() => return,
                None => open = Some(record.face),
            }
        }
        let Some(reason) = min else { return };
        match open {
            None => self.send_nacks(pending, reason),
            Some(face) if self.awaited_by(pending, face).is_some() => self.send_nack(pending, face, reason),
            Some(_) => {}
        }
    }

    /// The least severe reason, once every face that was tried has refused; `None` before, and where none was tried.
    fn all_refused(&self, pending: Pending) -> Option<NackReason> {
        let mut min = None;
        for record in (0..).map_while(|index| self.upstream(pending, index)) {
            let reason = record.refused?;
            min = Some(min.map_or(reason, |min: NackReason| min.min(reason)));
        }
        min
    }
}

/// What happens at the links of a node: police, shape, stamp. One object per node, for all links and names.
///
/// It is told of packets at link faces; what is handed to or comes from endpoints on the node passes it by, but the nodes of
/// consumers and producers are forwarders too and have such a part, which sees the links there.
#[delegatable_trait]
pub trait LinkLaw {
    /// The run begins; faces can be looked at.
    fn on_start(&mut self, _cx: &mut dyn LinkCx) {}

    /// An Interest came in from a link, before anything was decided about it: loops, aggregated ones and hits included.
    fn on_interest_in(&mut self, _interest: &Packet, _from: FaceId, _cx: &mut dyn LinkCx) {}

    /// The strategy sends an Interest to a link. It may be stamped here.
    ///
    /// Already true: the entry is pending; for what is retransmitted the out-record of the earlier time is there.
    fn on_interest(
        &mut self,
        _interest: &mut Packet,
        _way: &mut Crossing,
        _cx: &mut dyn LinkCx,
    ) -> Admission {
        Admission::Pass
    }

    /// Data came from a link for a pending Interest. It may be stamped or marked here, once for all who get it. Unsolicited Data is
    /// not shown.
    fn on_data_in(&mut self, _data: &mut Packet, _way: &Return, _cx: &mut dyn LinkCx) {}

    /// Data, from a link, a store or an endpoint here, is about to be offered to the queue of a link. It may be stamped or marked here,
    /// for this link alone.
    fn on_data_out(&mut self, _data: &mut Packet, _way: &Crossing, _cx: &mut dyn LinkCx) {}

    /// A refusal came from a link, for an Interest that is pending and was sent there.
    fn on_nack_in(&mut self, _nack: &mut Packet, _from: FaceId, _cx: &mut dyn LinkCx) {}

    /// Whether [`LinkLaw::on_enqueue`] is wanted; asked once, when the node is made. It costs something for every packet.
    fn watches(&self) -> bool {
        false
    }

    /// A packet, whosever it is, is about to be offered to the queue of a link. It may be marked or stamped.
    fn on_enqueue(&mut self, _packet: &mut Packet, _to: FaceId, _port: &PortView, _at: &mut TransitCx<'_>) {}

    /// Whether [`LinkLaw::on_dequeue`] is wanted; asked once, when the node is made. It costs an event for every packet that waits.
    fn watches_departures(&self) -> bool {
        false
    }

    /// A packet, whosever it is, leaves the queue of a link: its transmission begins. It may be marked or stamped.
    ///
    /// It is not in the backlog of `port` any more; `waited` is the time since it was offered, zero where the link was idle.
    fn on_dequeue(
        &mut self,
        _packet: &mut Packet,
        _to: FaceId,
        _port: &PortView,
        _waited: Duration,
        _at: &mut TransitCx<'_>,
    ) {
    }

    /// The deadline may have passed. The place to release what is held.
    fn on_timer(&mut self, _cx: &mut dyn LinkCx) {}

    /// When `on_timer` is wanted. Asked after each call that may change it.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Whether `wake` ever answers anything but never; asked once, when the node is made. A part without deadlines that says so spares a
    /// question a packet.
    fn has_deadlines(&self) -> bool {
        true
    }

    /// Operations that it has taken since the node was made; always 0 where it does not count.
    ///
    /// An operation is a quantity that is worked out or compared in order to find congestion or to act on it, a mark that is set, or a share
    /// that is changed. What every forwarder does (tables, queues, carrying marks on) is none.
    fn operations(&self) -> u64 {
        0
    }
}

/// The way of a packet through a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Where it came in. For Data from a store, the face that it goes to.
    pub from: FaceId,
    /// The link that it leaves by.
    pub to: FaceId,
    /// The link part's own word in the entry of the pending Interest; 0 at first. What [`LinkLaw::on_interest`] writes, those see that
    /// come later.
    pub note: u32,
}

/// The way of Data that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The link that it came by.
    pub from: FaceId,
    /// Time since the Interest left by that link; `None` where it was never sent there, or more than once.
    pub rtt: Option<Duration>,
    /// The link part's own word in the entry.
    pub note: u32,
    /// How many next hops its prefix has here.
    pub hops: u32,
}

/// What becomes of an Interest at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It goes.
    Pass,
    /// It waits at the end of a lane, until [`LinkCx::release`] or [`LinkCx::refuse`]. Lanes are numbered by the law from 0, each for
    /// Interests to one link; how much may wait there is the law's to say, see [`LinkCx::lane`].
    Hold(LaneId),
    /// It does not go, and the strategy is told so.
    Refuse(NackReason),
    /// It ends here, without a word.
    Drop,
}

/// What waits in a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneView {
    /// Interests. Those that have been answered or have expired meanwhile count until their turn comes.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
    /// Since when the first of them waits; never where there is none.
    pub since: Option<Time>,
    /// The size of the first of them.
    pub first: Bytes,
}

/// What a link part may see and do.
pub trait LinkCx {
    /// The present instant.
    fn now(&self) -> Time;

    /// The part's own stream of random numbers.
    fn random(&mut self) -> &mut Random;

    /// The tree of names.
    fn names(&self) -> &Names;

    /// How many faces there are: those of links first, from 0, then those of endpoints on this node.
    fn faces(&self) -> u32;

    /// One of them.
    fn face(&mut self, face: FaceId) -> FaceView;

    /// What waits in a lane.
    fn lane(&self, lane: LaneId) -> LaneView;

    /// Lets the first Interest of a lane go that is still pending, and forgets those before it. Its size, if there was one. Only in
    /// `on_timer`.
    fn release(&mut self, lane: LaneId) -> Option<Bytes>;

    /// The same, but the Interest is refused: the strategy is told so when `on_timer` has returned. Only in `on_timer`.
    fn refuse(&mut self, lane: LaneId, reason: NackReason) -> Option<Bytes>;

    /// Offers the present value of a series of this node.
    fn probe(&mut self, series: &'static str, value: f64);
}
