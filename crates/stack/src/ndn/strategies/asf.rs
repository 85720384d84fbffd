//! Adaptive smoothed round-trip time-based forwarding (ASF): the face with the shortest round-trip time. Others are
//! probed at times, so that a better one is found.

use std::collections::VecDeque;

use contract::{
    ArrivingData, ArrivingInterest, ArrivingNack, FaceId, FibEntry, NackReason, NextHop, Pending, SendResult,
    Strategy, StrategyCx,
};
use units::{Duration, Time};

use super::give_up;
use super::suppression::Suppression;
use crate::parts::Rtt;

contract::params! {
    /// The first probe of a prefix is sent at a random time within this interval after its first Interest.
    probe_first: Duration = Duration::from_secs(5), within "0 s"..="100000 s", from "NFD: the first probe of the ASF strategy is within 5 s";
    /// Time between two probes of a prefix.
    probing_interval: Duration = Duration::from_secs(60), within "1 ms"..="100000 s", from "NFD: probing interval of the ASF strategy";
    /// Initial timeout of a face: time without an answer after which it counts as silent.
    initial_timeout: Duration = Duration::from_secs(1), within "1 ms"..="100 s", from "NFD: initial timeout of its round-trip estimator";
    /// Minimum timeout of a face.
    min_timeout: Duration = Duration::from_millis(200), within "0 s"..="100 s", from "NFD: minimum timeout of its round-trip estimator";
    /// Consecutive timeouts after which a face is ranked behind all that answer.
    silent_timeouts: u32 = 3, within 1..=1000, from "NFD 24.07: three timeouts; one, with none forgiven, before that";
    /// Minimum interval before a retransmitted Interest is forwarded again; doubles each time.
    retx_suppression_initial: Duration = Duration::from_millis(10), within "0 s"..="10 s", from "NFD: exponential retransmission suppression";
    /// Maximum suppression interval.
    retx_suppression_max: Duration = Duration::from_millis(250), within "0 s"..="1000 s", from "NFD: exponential retransmission suppression";
    order retx_suppression_initial <= retx_suppression_max;
}

/// The strategy of a forwarder.
#[derive(Clone, Debug)]
pub struct Asf {
    params: Params,
    suppression: Suppression,
    /// By number of the FIB entry.
    prefixes: Vec<Prefix>,
    /// Interests whose timeout counts against a face, in the order of their deadlines.
    watched: VecDeque<Watched>,
}

#[derive(Clone, Debug, Default)]
struct Prefix {
    faces: Vec<Face>,
    /// When the next probe is due; `None` before the first Interest.
    probe_at: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Face {
    face: FaceId,
    rtt: Rtt,
    silent: u32,
}

#[derive(Clone, Copy, Debug)]
struct Watched {
    deadline: Time,
    pending: Pending,
    face: FaceId,
    prefix: u32,
    sent_at: Time,
}

/// The rank of a face, best first: answering faces by round-trip time, then untried faces by cost, then silent faces.
type Rank = (u8, u64, FaceId);

impl Asf {
    /// The strategy with these parameters.
    pub fn new(params: &Params) -> Self {
        let suppression =
            Suppression { first: params.retx_suppression_initial, max: params.retx_suppression_max };
        Self { params: params.clone(), suppression, prefixes: Vec::new(), watched: VecDeque::new() }
    }

    fn face(&mut self, prefix: u32, face: FaceId) -> &mut Face {
        if self.prefixes.len() <= prefix as usize {
            self.prefixes.resize_with(prefix as usize + 1, Prefix::default);
        }
        let faces = &mut self.prefixes[prefix as usize].faces;
        let known = faces.iter().position(|known| known.face == face);
        let index = known.unwrap_or_else(|| {
            let rtt = Rtt::new(self.params.initial_timeout, self.params.min_timeout, MAX_PATIENCE);
            faces.push(Face { face, rtt, silent: 0 });
            faces.len() - 1
        });
        &mut faces[index]
    }

    fn rank(&self, prefix: u32, hop: &NextHop) -> Rank {
        let faces = self.prefixes.get(prefix as usize).map_or(&[][..], |prefix| &prefix.faces);
        match faces.iter().find(|known| known.face == hop.face) {
            Some(known) if known.silent >= self.params.silent_timeouts => (2, hop.cost, hop.face),
            Some(known) if known.rtt.min() != Duration::MAX => (0, known.rtt.smoothed().as_nanos(), hop.face),
            _ => (1, hop.cost, hop.face),
        }
    }

    /// The best of the next hops for which `may` is true.
    fn best(&self, fib: &FibEntry<'_>, may: impl Fn(FaceId) -> bool) -> Option<FaceId> {
        let hops = fib.hops.iter().filter(|hop| may(hop.face));
        hops.min_by_key(|hop| self.rank(fib.index, hop)).map(|hop| hop.face)
    }

    /// Starts the timeout of a face that was used.
    fn watch(&mut self, pending: Pending, face: FaceId, prefix: u32, now: Time) {
        let deadline = now + self.face(prefix, face).rtt.rto();
        let place =
            self.watched.iter().rposition(|watched| watched.deadline <= deadline).map_or(0, |at| at + 1);
        self.watched.insert(place, Watched { deadline, pending, face, prefix, sent_at: now });
    }

    /// Sends the Interest to another face as well, if a probe is due.
    fn probe(
        &mut self,
        interest: &ArrivingInterest<'_>,
        used: FaceId,
        fib: &FibEntry<'_>,
        cx: &mut dyn StrategyCx,
    ) {
        let now = cx.now();
        let Params { probe_first, probing_interval, .. } = self.params;
        // the first probe is at a random time, so that forwarders do not probe together
        let probe_at = &mut self.prefixes[fib.index as usize].probe_at;
        let due = *probe_at.get_or_insert_with(|| now + probe_first.scaled(cx.random().unit()));
        let others = fib.hops.iter().filter(|hop| hop.face != used && hop.face != interest.from);
        if due > now || others.clone().next().is_none() {
            return;
        }
        self.prefixes[fib.index as usize].probe_at = Some(now + probing_interval);
        let untried = others.clone().map(|hop| self.rank(fib.index, hop)).filter(|rank| rank.0 == 1).min();
        let face = match untried {
            Some(rank) => rank.2,
            None => {
                // the probability decreases with the rank: n : n - 1 : … : 1
                let count = others.clone().count() as u64;
                let drawn = cx.random().below(count * (count + 1) / 2);
                let mut place = 0;
                let mut passed = count;
                while drawn >= passed {
                    place += 1;
                    passed += count - place;
                }
                let mut ranks: Vec<Rank> = others.map(|hop| self.rank(fib.index, hop)).collect();
                ranks.sort_unstable();
                ranks[place as usize].2
            }
        };
        if cx.probe_interest(interest.pending, face) == SendResult::Sent {
            self.watch(interest.pending, face, fib.index, now);
        }
    }
}

impl Strategy for Asf {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let pending = interest.pending;
        let last = if interest.is_new { None } else { Suppression::last(pending, cx) };
        if let Some(last) = last {
            if !self.suppression.is_over(pending, last, cx) {
                return;
            }
            self.suppression.widen(pending, cx);
        }
        let untried = |face| face != interest.from && cx.out_record(pending, face).is_none();
        let best = self.best(fib, untried).or_else(|| self.best(fib, |face| face != interest.from));
        let Some(face) = best else { return give_up(interest, NackReason::NoRoute, cx) };
        match cx.send_interest(pending, face) {
            SendResult::Refused(reason) => give_up(interest, reason, cx),
            SendResult::Sent => {
                self.watch(pending, face, fib.index, cx.now());
                if interest.is_new {
                    self.probe(interest, face, fib, cx);
                }
            }
            SendResult::Held | SendResult::Dropped | SendResult::Gone => {}
        }
    }

    fn on_data(&mut self, data: &ArrivingData<'_>, fib: &FibEntry<'_>, _cx: &mut dyn StrategyCx) {
        let face = self.face(fib.index, data.from);
        face.silent = 0;
        if let Some(rtt) = data.rtt {
            face.rtt.sample(rtt);
        }
    }

    fn on_nack(&mut self, nack: &ArrivingNack<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let silences = self.params.silent_timeouts;
        // differs: a duplicate shows that another copy of the Interest was there first, and nothing about the face
        if nack.reason != NackReason::Duplicate {
            self.face(fib.index, nack.from).silent = silences;
        }
        // differs: NFD leaves the downstreams to their timers
        cx.propagate_nacks(nack.pending);
    }

    fn on_timer(&mut self, cx: &mut dyn StrategyCx) {
        let now = cx.now();
        while let Some(watched) = self.watched.front().copied() {
            let record = cx.out_record(watched.pending, watched.face);
            let waiting =
                record.is_some_and(|record| record.sent_at == watched.sent_at && record.refused.is_none());
            if waiting && watched.deadline > now {
                return;
            }
            self.watched.pop_front();
            if waiting {
                let face = self.face(watched.prefix, watched.face);
                face.silent = face.silent.saturating_add(1);
                face.rtt.back_off();
            }
        }
    }

    fn wake(&self) -> Time {
        self.watched.front().map_or(Time::NEVER, |watched| watched.deadline)
    }
}

/// Maximum timeout of a face, as in NFD.
const MAX_PATIENCE: Duration = Duration::from_secs(60);
