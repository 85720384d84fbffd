//! A consumer without a congestion law: one Interest after another at a constant rate, each once.

use std::collections::VecDeque;

use contract::{Count, Cx, Destination, Ecn, Endpoint, Header, Input, Interest, Label, Name};
use units::{Bytes, Carry, Duration, Rate, Time};

use super::ConsumerConfig;

/// A consumer that asks at a constant rate. The first Interest leaves at the start; what does not come is not asked for again, and
/// counts as missing when its lifetime is over.
#[derive(Clone, Debug)]
pub struct Clock {
    config: ConsumerConfig,
    /// The segment that it asks for next.
    segment: u64,
    next: Time,
    /// What whole nanoseconds could not express of the gaps so far.
    carry: Carry,
    /// When the latest segments were asked for, in order; never for those that have come.
    asked: VecDeque<Time>,
}

impl Clock {
    /// A consumer with these settings, which asks once it is started.
    pub fn new(config: &ConsumerConfig) -> Self {
        Self {
            config: config.clone(),
            segment: 0,
            next: Time::NEVER,
            carry: Carry::default(),
            asked: VecDeque::new(),
        }
    }

    /// Asks for what is due: one segment, for the driver comes back at once when another is.
    #[inline]
    fn run(&mut self, cx: &mut Cx<'_>) {
        if cx.now() < self.next {
            return;
        }
        self.forget(cx);
        let name = Name { prefix: self.config.prefix, segment: self.segment };
        let lifetime_ms = u32::try_from(self.config.lifetime.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        let nonce = (cx.random().bits() >> 32) as u32;
        let header = Header::Interest(Interest { name, nonce, lifetime_ms });
        cx.send(Destination::own_node(), self.config.interest, Ecn::NotCapable, header, Label::default());
        self.asked.push_back(cx.now());
        self.segment += 1;
        // counted from when this one was due, so that a late driver does not lower the rate
        let (gap, carry) = self.config.rate.serialise(self.config.data, self.carry);
        self.carry = carry;
        self.next += gap.max(SHORTEST_GAP);
    }

    /// Gives up what was asked for a lifetime ago.
    fn forget(&mut self, cx: &mut Cx<'_>) {
        while let Some(&at) = self.asked.front() {
            if at != Time::NEVER && cx.now() < at + self.config.lifetime {
                return;
            }
            self.asked.pop_front();
            if at != Time::NEVER {
                cx.count(Count::Missing, 1);
            }
        }
    }

    fn take(&mut self, name: Name, payload: Bytes, marked: bool, cx: &mut Cx<'_>) {
        let first = self.segment - self.asked.len() as u64;
        if name.prefix != self.config.prefix || name.segment < first || name.segment >= self.segment {
            return;
        }
        let at = std::mem::replace(&mut self.asked[(name.segment - first) as usize], Time::NEVER);
        if at != Time::NEVER {
            let delay = cx.now() - at;
            cx.deliver(payload);
            cx.measured_rtt(delay);
            cx.measured_delay(delay);
            cx.count(Count::Marks, u64::from(marked));
        }
    }
}

impl Endpoint for Clock {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Timer => self.run(cx),
            Input::Packet(packet) => match packet.header {
                Header::Data(data) => {
                    let payload = Bytes::new(u64::from(data.payload_bytes));
                    self.take(data.name, payload, packet.ecn == Ecn::Marked, cx);
                }
                Header::Nack(_) => cx.count(Count::Refusals, 1),
                _ => {}
            },
            Input::Start if self.config.rate != Rate::ZERO => {
                self.next = cx.now();
                self.run(cx);
            }
            Input::Stop => self.next = Time::NEVER,
            Input::Start | Input::App(_) | Input::Mode(_) => {}
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next
    }
}

/// No two Interests leave at the same instant, whatever the rate.
const SHORTEST_GAP: Duration = Duration::from_nanos(1);

#[cfg(test)]
mod tests {
    use contract::{Data, NameId, Packet};

    use super::*;
    use crate::testing::{Bench, FLOW, ME, OTHER};

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// 1000 bytes of Data each 10 ms.
    fn clock() -> Clock {
        let rate = Rate::from_kbps(800);
        Clock::new(&ConsumerConfig {
            data: Bytes::new(1000),
            ..ConsumerConfig::new(NameId(2), Bytes::new(900), rate)
        })
    }

    fn data(segment: u64) -> Packet {
        let name = Name { prefix: NameId(2), segment };
        Packet {
            flow: FLOW,
            size_bytes: 1000,
            source: OTHER,
            to: ME.into(),
            sent_at: Time::ZERO,
            label: Label::default(),
            header: Header::Data(Data { name, payload_bytes: 900 }),
            ecn: Ecn::NotCapable,
            hops: 3,
        }
    }

    #[test]
    fn interests_leave_at_the_rate_of_their_data_each_for_the_next_segment() {
        let (mut bench, mut clock) = (Bench::new(1), clock());
        bench.give(&mut clock, Input::Start);
        let sent = bench.run(&mut clock, at(35));
        let told: Vec<(u64, Time)> = sent
            .iter()
            .map(|packet| match packet.header {
                Header::Interest(interest) => (interest.name.segment, packet.sent_at),
                _ => panic!("{packet:?}"),
            })
            .collect();
        assert_eq!(told, [(0, at(0)), (1, at(10)), (2, at(20)), (3, at(30))]);
        let nonces: Vec<Header> = sent.iter().map(|packet| packet.header).collect();
        let nonce =
            |header: &Header| if let Header::Interest(interest) = header { interest.nonce } else { 0 };
        assert!(nonces.windows(2).all(|pair| nonce(&pair[0]) != nonce(&pair[1])));
        assert!(sent.iter().all(|packet| packet.to.is_own_node() && packet.size_bytes == 50));
    }

    #[test]
    fn data_counts_once_and_what_never_comes_is_missing_after_its_lifetime() {
        let (mut bench, mut clock) = (Bench::new(1), clock());
        bench.give(&mut clock, Input::Start);
        bench.run(&mut clock, at(25));
        for segment in [1, 1, 0, 9] {
            bench.give(&mut clock, Input::Packet(&data(segment)));
        }
        assert_eq!((bench.meter.goodput_bytes, bench.meter.rtt_count), (1800, 2));
        // asked for at 0 and 10 ms, both come at 25 ms
        assert_eq!(
            (bench.meter.delay_min, bench.meter.delay_max),
            (Duration::from_millis(15), Duration::from_millis(25))
        );
        bench.run(&mut clock, at(2025));
        assert_eq!(bench.meter.count(Count::Missing), 1, "segment 2, asked for at 20 ms");
        bench.give(&mut clock, Input::Packet(&data(2)));
        assert_eq!(bench.meter.goodput_bytes, 1800, "too late");
    }
}
