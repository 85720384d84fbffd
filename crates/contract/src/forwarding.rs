//! Forwarding by name: the two parts of an NDN forwarder that a scheme can replace.
//!
//! A forwarder records the downstream faces of a name in its pending Interest table (PIT), so that Data return on the
//! same path. A [`Strategy`] selects the next hops of an Interest. A [`LinkAlgorithm`] is a part at the links: it
//! polices or shapes the Interests that the strategy sends, and observes and labels the Data that return. Each node has
//! one object of each; names, tables and queues belong to the forwarder.

use ambassador::delegatable_trait;
use units::{Bytes, Duration, Time};

use crate::{
    FaceId, InterestQueueId, Label, NackReason, Name, NameId, Names, NodeId, Packet, PortView, Random,
    TransitCx,
};

/// A pending Interest: an entry of the PIT. Stale after the end of the entry; a stale one refers to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Index in the table.
    pub slot: u32,
    /// Number of earlier uses of the index.
    pub generation: u32,
}

/// Selection of next hops. Each node has one object, for all names.
///
/// Each method documents the state at its call and the allowed actions on its pending Interest. On other Interests, all
/// actions of [`StrategyCx`] are allowed at any time.
#[delegatable_trait]
pub trait Strategy {
    /// Start of the run; faces are available.
    fn on_start(&mut self, _cx: &mut dyn StrategyCx) {}

    /// An Interest arrived that the content store does not answer.
    ///
    /// State: its nonce is new, its in-record exists, `fib` has at least one next hop. Actions: send the Interest to
    /// any faces, refuse it to any downstream, or reject it. Without an action it stays pending until Data arrive or it
    /// expires. The method is called for every Interest that is no loop. If `is_new` is false, other downstreams wait
    /// for the same Data or the same downstream retransmits, and no action means aggregation. Every Interest renews the
    /// entry, so a strategy that never retransmits a lost Interest starves a consumer that retransmits in time.
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx);

    /// Data arrived for a pending Interest.
    ///
    /// State: the out-record of the face exists, if the Interest was sent there. After the call the Data are sent to
    /// every downstream and the entry ends; this method is for measurements only.
    fn on_data(&mut self, _data: &ArrivingData<'_>, _fib: &FibEntry<'_>, _cx: &mut dyn StrategyCx) {}

    /// Whether [`Strategy::on_data`] is called. Read once, when the node is created; false saves time for every Data
    /// packet.
    fn observes_data(&self) -> bool {
        true
    }

    /// A neighbour, or this node's [`LinkAlgorithm`] when it releases an Interest queue, refused an Interest.
    ///
    /// State: the out-record contains the refusal. Actions: send the Interest to other faces, refuse it to any
    /// downstream, or reject it. The default is [`StrategyCx::propagate_nacks`].
    fn on_nack(&mut self, nack: &ArrivingNack<'_>, _fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        cx.propagate_nacks(nack.pending);
    }

    /// A pending Interest expired without Data.
    ///
    /// State: its records exist. After the call the entry ends; this method is for measurements only.
    fn on_expiry(&mut self, _pending: Pending, _name: Name, _fib: &FibEntry<'_>, _cx: &mut dyn StrategyCx) {}

    /// A deadline can have expired. All actions of `cx` on pending Interests are allowed.
    fn on_timer(&mut self, _cx: &mut dyn StrategyCx) {}

    /// The next deadline, at which `on_timer` is called. Called after each call that can change it.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Whether `wake` can return anything but [`Time::NEVER`]. Called once, when the node is created; false saves one
    /// call per packet.
    fn has_deadlines(&self) -> bool {
        true
    }

    /// Number of operations since the node was created, see [`LinkAlgorithm::operations`].
    fn operations(&self) -> u64 {
        0
    }
}

/// An arrived Interest.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingInterest<'a> {
    /// The packet; its header is an Interest.
    pub packet: &'a Packet,
    /// The requested name.
    pub name: Name,
    /// The incoming face.
    pub from: FaceId,
    /// Its PIT entry.
    pub pending: Pending,
    /// Whether it created the entry.
    pub is_new: bool,
}

/// Data for a pending Interest.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingData<'a> {
    /// The packet; its header is Data. A mark is in its `ecn`.
    pub packet: &'a Packet,
    /// Its name.
    pub name: Name,
    /// The incoming face.
    pub from: FaceId,
    /// The entry that it satisfies.
    pub pending: Pending,
    /// Time since the Interest was sent to that face; `None` if it was never sent there, or more than once.
    pub rtt: Option<Duration>,
}

/// An arrived NACK.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingNack<'a> {
    /// The packet; its header is a NACK. `None` if this node's link part refused.
    pub packet: Option<&'a Packet>,
    /// The requested name.
    pub name: Name,
    /// The face that the Interest was sent to.
    pub from: FaceId,
    /// Its PIT entry.
    pub pending: Pending,
    /// The reason.
    pub reason: NackReason,
}

/// The FIB entry of a prefix.
#[derive(Clone, Copy, Debug)]
pub struct FibEntry<'a> {
    /// The longest matching prefix.
    pub prefix: NameId,
    /// Number of the entry at this node, from 0, constant during the run: an index for state per prefix.
    pub index: u32,
    /// The next hops, ordered by cost; among equals by number of links, then by face. Never empty.
    pub hops: &'a [NextHop],
}

/// A next hop of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The face.
    pub face: FaceId,
    /// Cost to the nearest producer over this face, by the network's routing metric; 0 if the producer is at this node.
    pub cost: u64,
}

/// An in-record: a downstream of a pending Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InRecord {
    /// The face.
    pub face: FaceId,
    /// The nonce of the latest Interest from there.
    pub nonce: u32,
    /// When that Interest expires.
    pub expires: Time,
}

/// An out-record: an upstream of a pending Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutRecord {
    /// The face.
    pub face: FaceId,
    /// The nonce of the last transmission.
    pub nonce: u32,
    /// Time of the last transmission; time of the decision, while it waits in an Interest queue.
    pub sent_at: Time,
    /// Whether it waits in an Interest queue of the link part.
    pub queued: bool,
    /// Whether it was sent more than once.
    pub retransmitted: bool,
    /// Whether it was refused.
    pub refused: Option<NackReason>,
}

/// A face in the view of a forwarder's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceView {
    /// The face.
    pub face: FaceId,
    /// The link and its queue; `None` for an endpoint on this node.
    pub link: Option<PortView>,
    /// Interests that were sent there and are pending, including those in Interest queues.
    pub pending: u32,
}

/// The result of sending an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendResult {
    /// It was sent.
    Sent,
    /// It waits in an Interest queue of the link part.
    Held,
    /// The link part refused it. There is no out-record; another face can be tried.
    Refused(NackReason),
    /// The link part dropped it. There is no out-record.
    Dropped,
    /// The entry has ended, or the face does not exist.
    Gone,
}

/// The context of a strategy.
pub trait StrategyCx {
    /// The current instant.
    fn now(&self) -> Time;

    /// The strategy's stream of random numbers.
    fn random(&mut self) -> &mut Random;

    /// The tree of names.
    fn names(&self) -> &Names;

    /// Number of faces: the faces of links first, from 0, then the faces of endpoints on this node.
    fn faces(&self) -> u32;

    /// A face.
    fn face(&mut self, face: FaceId) -> FaceView;

    /// In-record number `index` of a pending Interest, in the order in which downstreams first requested.
    fn downstream(&self, pending: Pending, index: usize) -> Option<InRecord>;

    /// Out-record number `index` of a pending Interest, in the order in which faces were first tried.
    fn upstream(&self, pending: Pending, index: usize) -> Option<OutRecord>;

    /// The strategy's state word in the entry of a pending Interest; 0 at first.
    fn note(&self, pending: Pending) -> u32;

    /// Sets the state word.
    fn set_note(&mut self, pending: Pending, note: u32);

    /// Sends the Interest to a face, through the link part if the face is a link. The Interest has the nonce of the
    /// latest one that arrived.
    fn send_interest(&mut self, pending: Pending, face: FaceId) -> SendResult;

    /// Sends the Interest to a face with a new nonce of this node. Such a probe does not count as a loop where it meets
    /// the original.
    fn probe_interest(&mut self, pending: Pending, face: FaceId) -> SendResult;

    /// Refuses the Interest to one downstream, whose in-record ends. With the last of them the entry ends.
    fn send_nack(&mut self, pending: Pending, downstream: FaceId, reason: NackReason);

    /// Refuses the Interest to every downstream; the entry ends.
    fn send_nacks(&mut self, pending: Pending, reason: NackReason);

    /// Ends the entry without an answer.
    fn reject(&mut self, pending: Pending);

    /// Records the current value of a series of this node.
    fn probe(&mut self, series: &'static str, value: f64);

    /// The out-record of `face`, if the Interest was sent there.
    fn out_record(&self, pending: Pending, face: FaceId) -> Option<OutRecord> {
        (0..).map_while(|index| self.upstream(pending, index)).find(|record| record.face == face)
    }

    /// The in-record of `face`, if it is a downstream.
    fn in_record(&self, pending: Pending, face: FaceId) -> Option<InRecord> {
        (0..).map_while(|index| self.downstream(pending, index)).find(|record| record.face == face)
    }

    /// Refuses the Interest to every downstream once every tried face has refused, with the least severe of their
    /// reasons. If all but one have refused, and that one is a downstream as well, the two nodes would wait for each
    /// other; then only that one is refused [NFD: best-route strategy, processing of NACKs].
    fn propagate_nacks(&mut self, pending: Pending) {
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
            Some(face) if self.in_record(pending, face).is_some() => self.send_nack(pending, face, reason),
            Some(_) => {}
        }
    }

    /// The least severe reason, once every tried face has refused; `None` before, and if none was tried.
    fn all_nacked(&self, pending: Pending) -> Option<NackReason> {
        let mut min = None;
        for record in (0..).map_while(|index| self.upstream(pending, index)) {
            let reason = record.refused?;
            min = Some(min.map_or(reason, |min: NackReason| min.min(reason)));
        }
        min
    }
}

/// The part at the links of a node: policing, shaping, labels. Each node has one object, for all links and names.
///
/// It handles packets at link faces only, not at faces of endpoints on the node. The nodes of consumers and producers
/// are forwarders too and have such a part for their links.
#[delegatable_trait]
pub trait LinkAlgorithm {
    /// Start of the run; faces are available.
    fn on_start(&mut self, _cx: &mut dyn LinkCx) {}

    /// An Interest arrived from a link, before any decision: loops, aggregated ones and cache hits are included.
    fn on_interest_in(&mut self, _interest: &Packet, _from: FaceId, _cx: &mut dyn LinkCx) {}

    /// The strategy sends an Interest to a link. It can be labelled here.
    ///
    /// State: the entry is pending; for a retransmission the out-record of the earlier transmission exists.
    fn on_interest(
        &mut self,
        _interest: &mut Packet,
        _path: &mut Transit,
        _cx: &mut dyn LinkCx,
    ) -> Admission {
        Admission::Pass
    }

    /// Data arrived from a link for a pending Interest. They can be labelled or marked here, for all downstreams.
    /// Unsolicited Data are excluded.
    fn on_data_in(&mut self, _data: &mut Packet, _path: &ReturnPath, _cx: &mut dyn LinkCx) {}

    /// Data, from a link, a store or a local endpoint, are about to enter the queue of a link. They can be labelled or
    /// marked here, for this link only.
    fn on_data_out(&mut self, _data: &mut Packet, _path: &Transit, _cx: &mut dyn LinkCx) {}

    /// A NACK arrived from a link, for a pending Interest that was sent there.
    fn on_nack_in(&mut self, _nack: &mut Packet, _from: FaceId, _cx: &mut dyn LinkCx) {}

    /// Whether the methods above for Interests, Data and NACKs are called. Read once, when the node is created; false
    /// saves time for every packet.
    fn observes_packets(&self) -> bool {
        true
    }

    /// Whether [`LinkAlgorithm::on_enqueue`] is called. Read once, when the node is created. It costs time for every
    /// packet.
    fn observes_enqueue(&self) -> bool {
        false
    }

    /// A packet, of any source, is about to enter the queue of a link. It can be marked or labelled.
    fn on_enqueue(&mut self, _packet: &mut Packet, _to: FaceId, _port: &PortView, _at: &mut TransitCx<'_>) {}

    /// Whether [`LinkAlgorithm::on_dequeue`] is called. Read once, when the node is created. It costs an event for
    /// every queued packet.
    fn observes_dequeue(&self) -> bool {
        false
    }

    /// A packet, of any source, leaves the queue of a link: its transmission begins. It can be marked or labelled.
    ///
    /// It is no longer in the backlog of `port`; `waited` is the time since it was offered, zero if the link was idle.
    fn on_dequeue(
        &mut self,
        _packet: &mut Packet,
        _to: FaceId,
        _port: &PortView,
        _waited: Duration,
        _at: &mut TransitCx<'_>,
    ) {
    }

    /// A deadline can have expired. Queued Interests are released here.
    fn on_timer(&mut self, _cx: &mut dyn LinkCx) {}

    /// The next deadline, at which `on_timer` is called. Called after each call that can change it.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Whether `wake` can return anything but [`Time::NEVER`]. Called once, when the node is created; false saves one
    /// call per packet.
    fn has_deadlines(&self) -> bool {
        true
    }

    /// Number of operations since the node was created; always 0 if the part does not count them.
    ///
    /// An operation is a quantity that is computed or compared to detect congestion or to react to it, a mark that is
    /// set, or a share that is changed. Functions of every forwarder (tables, queues, copying of marks) do not count.
    fn operations(&self) -> u64 {
        0
    }
}

/// The path of a packet through a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// The incoming face. For Data from a store, the face to which they are sent.
    pub from: FaceId,
    /// The outgoing link.
    pub to: FaceId,
    /// The link part's state word in the entry of the pending Interest; 0 at first. Later calls see the value that
    /// [`LinkAlgorithm::on_interest`] writes.
    pub note: u32,
    /// The label with which the latest Interest for the Data arrived.
    pub interest_label: Label,
}

/// The path of returned Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReturnPath {
    /// The incoming link.
    pub from: FaceId,
    /// Time since the Interest was sent on that link; `None` if it was never sent there, or more than once.
    pub rtt: Option<Duration>,
    /// The link part's state word in the entry.
    pub note: u32,
    /// Number of next hops of its prefix here.
    pub hops: u32,
}

/// The decision on an Interest at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is sent.
    Pass,
    /// It waits at the end of an Interest queue, until [`LinkCx::release`] or [`LinkCx::refuse`]. The part numbers its
    /// Interest queues from 0, each for Interests to one link, and determines their limits, see
    /// [`LinkCx::interest_queue`].
    Hold(InterestQueueId),
    /// It is refused, and the strategy is informed.
    Refuse(NackReason),
    /// It is dropped.
    Drop,
}

/// Contents of an Interest queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterestQueueView {
    /// Interests, including those that were answered or expired and have not been removed yet.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
    /// Start of the first Interest's wait; `None` if the Interest queue is empty.
    pub since: Option<Time>,
    /// Size of the first Interest.
    pub first: Bytes,
}

/// The context of a link part.
pub trait LinkCx {
    /// The current instant.
    fn now(&self) -> Time;

    /// The part's stream of random numbers.
    fn random(&mut self) -> &mut Random;

    /// The tree of names.
    fn names(&self) -> &Names;

    /// Number of faces: the faces of links first, from 0, then the faces of endpoints on this node.
    fn faces(&self) -> u32;

    /// A face.
    fn face(&mut self, face: FaceId) -> FaceView;

    /// This node, if its content store holds the Data of a name. It is no use of the Data: their place in the store
    /// stays.
    fn holder(&self, _name: Name) -> Option<NodeId> {
        None
    }

    /// Contents of an Interest queue.
    fn interest_queue(&self, interest_queue: InterestQueueId) -> InterestQueueView;

    /// Sends the first pending Interest of an Interest queue, and removes those before it. Returns its size, if there
    /// was one. Only in `on_timer`.
    fn release(&mut self, interest_queue: InterestQueueId) -> Option<Bytes>;

    /// Refuses the first pending Interest of an Interest queue, and removes those before it. The strategy is informed
    /// when `on_timer` has returned. Only in `on_timer`.
    fn refuse(&mut self, interest_queue: InterestQueueId, reason: NackReason) -> Option<Bytes>;

    /// Records the current value of a series of this node.
    fn probe(&mut self, series: &'static str, value: f64);
}
