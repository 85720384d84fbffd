//! Bursts: arrivals at one instant on many links, such as arrivals of the copies for the members of a group, with one
//! entry in the agenda.
//!
//! A burst keeps the sequence number that each of its arrivals would have as an entry of its own, and is handled only
//! up to the next other entry. The order of events is therefore the same as without bursts.

use contract::PortId;
use units::Time;

use super::{ABSENT, Agenda, AgendaEvent, Key, Kind, MAX_INDEX, WHAT_BITS, nanos};

/// An arrival of a burst.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// Its sequence number, counted from the first arrival of the burst.
    number: u32,
    port: u32,
}

/// Arrivals at one instant, in the order of their sequence numbers.
#[derive(Debug, Default)]
pub(crate) struct Burst {
    members: Vec<Member>,
    /// The sequence number of the first.
    first: u64,
    /// The arrivals before were handled.
    handled: usize,
    /// The fan whose ports they are of, in their order.
    pub(crate) fan: Option<FanId>,
    /// The burst of the next packet of that fan, once it has begun.
    pub(crate) next_of_fan: u32,
}

/// Names a fan of ports, see [`crate::fabric::Fabric::form_fan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FanId {
    pub number: u32,
    /// Another one than of earlier fans with this number.
    pub generation: u32,
}

impl Burst {
    /// The port of the arrival `index`; `None` beyond the last one.
    #[inline]
    pub(crate) fn port(&self, index: usize) -> Option<u32> {
        self.members.get(index).map(|member| member.port)
    }
}

/// The bursts of an agenda.
#[derive(Debug)]
pub(super) struct Bursts {
    /// By number. An arrival event with the index of a port beyond the last one is the burst of this number.
    list: Vec<Burst>,
    ports: usize,
    /// Numbers that no entry has.
    free: Vec<u32>,
    /// The burst that takes further arrivals at a time, at the place of the time.
    open: [Open; OPEN],
    /// Falls with each burst of one or two arrivals, and rises with larger ones, from zero to [`MAX_SCORE`].
    score: isize,
}

/// A time and the burst that takes further arrivals then.
#[derive(Clone, Copy, Debug)]
struct Open {
    at: Time,
    number: u32,
}

/// Bursts that take arrivals at the same time.
const OPEN: usize = 1 << OPEN_BITS;
const OPEN_BITS: u32 = 2;
/// No burst.
const NONE: u32 = u32::MAX;
/// Arrivals of a burst that neither lower nor raise the score.
const FAIR: isize = 3;
const MAX_SCORE: isize = 64;

impl Default for Bursts {
    fn default() -> Self {
        let open = [Open { at: Time::NEVER, number: NONE }; OPEN];
        Self { list: Vec::new(), ports: 0, free: Vec::new(), open, score: MAX_SCORE }
    }
}

/// The place in [`Bursts::open`] of a time.
#[inline]
const fn place(time: Time) -> usize {
    (time.as_nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - OPEN_BITS)) as usize
}

impl Agenda {
    /// Lets arrival events with indices from `ports` on be bursts.
    pub(crate) fn set_ports(&mut self, ports: usize) {
        self.bursts.ports = ports;
    }

    /// Adds an arrival at the end of a port's link, unless its time is [`Time::NEVER`]. Those at the same time have one
    /// entry.
    #[inline]
    pub(crate) fn push_arrival(&mut self, time: Time, port: u32) {
        let Bursts { list, open, .. } = &mut self.bursts;
        let open = open[place(time)];
        if time == open.at
            && let Some(burst) = list.get_mut(open.number as usize)
            && let Ok(number) = u32::try_from(self.pushed + 1 - burst.first)
        {
            self.pushed += 1;
            return burst.members.push(Member { number, port });
        }
        self.push_first_arrival(time, port);
    }

    /// Adds an arrival that no burst takes. It begins one, or if these have few arrivals, the second one at the time
    /// does.
    #[inline(never)]
    fn push_first_arrival(&mut self, time: Time, port: u32) {
        if time == Time::NEVER {
            return;
        }
        let open = &mut self.bursts.open[place(time)];
        let begins = self.bursts.score > 0 || open.at == time;
        *open = Open { at: time, number: NONE };
        if !begins || self.bursts.ports + self.bursts.list.len() > MAX_INDEX / 2 {
            return self.push(time, AgendaEvent::new(Kind::Arrive, port));
        }
        let number = self.begin_burst(time, port);
        self.bursts.open[place(time)].number = number;
    }

    /// Begins a burst with an arrival, and returns its number.
    fn begin_burst(&mut self, time: Time, port: u32) -> u32 {
        let number = self.bursts.claim();
        let burst = &mut self.bursts.list[number as usize];
        burst.first = self.pushed + 1;
        burst.members.push(Member { number: 0, port });
        let what = AgendaEvent::new(Kind::Arrive, self.bursts.ports as u32 + number);
        self.push(time, what);
        number
    }

    /// Begins the burst of a fan with the arrival of its first port, and returns its number. [`Agenda::push_of_fan`]
    /// adds the others.
    pub(crate) fn begin_fan(&mut self, time: Time, port: PortId, fan: FanId) -> u32 {
        let number = self.begin_burst(time, port.0);
        self.bursts.list[number as usize].fan = Some(fan);
        number
    }

    /// Adds the arrival of the next port of a fan to its burst.
    #[inline]
    pub(crate) fn push_of_fan(&mut self, burst: u32, port: PortId) {
        let burst = &mut self.bursts.list[burst as usize];
        self.pushed += 1;
        let number = u32::try_from(self.pushed - burst.first).expect("a fan is passed at one instant");
        burst.members.push(Member { number, port: port.0 });
    }

    /// Makes the burst that has `count` arrivals, all of them of ports that are `of_fan`, the burst of a fan. Returns
    /// these ports in the order of their arrivals; `None` if there is no such burst. Arrivals of these ports are due at
    /// `at`, and none is stale.
    pub(crate) fn name_fan(
        &mut self,
        at: Time,
        count: usize,
        of_fan: impl Fn(PortId) -> bool,
        fan: FanId,
    ) -> Option<impl Iterator<Item = PortId>> {
        let Bursts { list, open, .. } = &mut self.bursts;
        let number = list.iter().position(|burst| {
            burst.members.len() == count && burst.members.iter().all(|member| of_fan(PortId(member.port)))
        })?;
        list[number].fan = Some(fan);
        let open = &mut open[place(at)];
        if open.number == number as u32 {
            open.number = NONE;
        }
        Some(list[number].members.iter().map(|member| PortId(member.port)))
    }

    /// Whether there can be bursts for any number of fans.
    pub(crate) fn has_fans(&self) -> bool {
        self.bursts.ports <= MAX_INDEX / 4
    }

    /// Takes a burst from its entry, which was popped, and the number of its arrivals that are to be handled now.
    /// `None` if `what` is no burst.
    pub(crate) fn take_burst(&mut self, now: Time, what: AgendaEvent) -> Option<(Burst, [usize; 2])> {
        let number = what.index().checked_sub(self.bursts.ports)?;
        let open = &mut self.bursts.open[place(now)];
        if open.number == number as u32 {
            // further arrivals follow the entries that are between
            open.number = NONE;
        }
        let burst = std::mem::take(&mut self.bursts.list[number]);
        let end = match self.first_near().filter(|key| nanos(*key) == now.as_nanos()) {
            None => burst.members.len(),
            Some(other) => {
                let other = (other as u64) >> WHAT_BITS;
                burst.members.partition_point(|member| burst.first + u64::from(member.number) < other)
            }
        };
        let begin = burst.handled;
        Some((burst, [begin, end]))
    }

    /// Returns a burst after its arrivals before `end` were handled. Those left get an entry again.
    pub(crate) fn return_burst(&mut self, now: Time, what: AgendaEvent, mut burst: Burst, end: usize) {
        let number = what.index() - self.bursts.ports;
        if let Some(next) = burst.members.get(end) {
            burst.handled = end;
            let order = burst.first + u64::from(next.number);
            self.bursts.list[number] = burst;
            let key = entry(now, order, what);
            return match &mut self.calendar {
                Some(calendar) => calendar.push(key, &mut self.heap),
                None => self.heap.push(key),
            };
        }
        let score = self.bursts.score + burst.members.len() as isize - FAIR;
        self.bursts.score = score.clamp(0, MAX_SCORE);
        burst.members.clear();
        (burst.handled, burst.fan) = (0, None);
        self.bursts.list[number] = burst;
        self.bursts.free.push(number as u32);
    }

    /// The earliest entry, or a later one than at the instant of the entry that was popped last.
    fn first_near(&self) -> Option<Key> {
        match &self.calendar {
            Some(calendar) => calendar.first_today(),
            None => {
                let other = self.heap.first().unwrap_or(ABSENT);
                Some(self.sorted.first().min(other)).filter(|first| *first != ABSENT)
            }
        }
    }
}

impl Bursts {
    /// The number of an empty burst.
    fn claim(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.list.push(Burst::default());
            self.list.len() as u32 - 1
        })
    }
}

/// An entry in the order of its sequence number.
fn entry(time: Time, order: u64, what: AgendaEvent) -> Key {
    Key::from(time.as_nanos()) << 64 | Key::from(order << WHAT_BITS) | Key::from(what.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fan_gets_the_burst_of_its_ports() {
        let mut agenda = Agenda::default();
        agenda.set_ports(16);
        let at = Time::from_nanos(5);
        let fan = |number| FanId { number, generation: 0 };
        for (number, first) in [(0, 0), (1, 8)] {
            let burst = agenda.begin_fan(at, PortId(first), fan(number));
            (first + 1..first + 8).for_each(|port| agenda.push_of_fan(burst, PortId(port)));
        }
        let mut named = |first: u32, count| {
            let ports = agenda.name_fan(at, count, |port| port.0 >= first, fan(2));
            ports.map(|ports| ports.map(|port| port.0).collect::<Vec<_>>())
        };
        assert_eq!(named(8, 8), Some((8..16).collect()));
        assert_eq!(named(9, 8), None);
        assert_eq!(named(0, 9), None);
    }
}
