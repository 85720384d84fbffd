//! NDN producer: answers every Interest under its prefix with Data.

use std::collections::VecDeque;

use contract::{Cx, Data, Destination, Ecn, Endpoint, FlowId, Header, Input, Label, Name};
use units::Time;

use super::ProducerConfig;

/// A producer of a prefix.
///
/// # How it is driven
///
/// It is an [`Endpoint`] beside a forwarder. [`Input::Packet`] is an Interest. Its Data is in the outbox when `handle`
/// returns. With a processing delay, [`Input::Timer`] at [`Endpoint::wake`] sends all Data that are due. The driver
/// hands Data to the forwarder of the node.
#[derive(Clone, Debug)]
pub struct Producer {
    config: ProducerConfig,
    /// Delayed answers in order; the delay is constant.
    waiting: VecDeque<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    due: Time,
    name: Name,
    flow: FlowId,
    ecn: Ecn,
}

impl Producer {
    /// A producer with these settings.
    pub fn new(config: &ProducerConfig) -> Self {
        Self { config: config.clone(), waiting: VecDeque::new() }
    }

    #[inline]
    fn answer(&self, name: Name, flow: FlowId, ecn: Ecn, cx: &mut Cx<'_>) {
        let payload_bytes = self.config.payload.as_u64() as u32;
        let header = Header::Data(Data { name, payload_bytes });
        cx.send_as(flow, Destination::own_node(), self.config.data, ecn, header, Label::default());
    }
}

impl Endpoint for Producer {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Packet(packet) => {
                let Header::Interest(interest) = packet.header else { return };
                // Data are ECN-capable if the consumer is
                let ecn = if packet.ecn == Ecn::NotCapable { Ecn::NotCapable } else { Ecn::Capable };
                if self.config.delay == units::Duration::ZERO {
                    self.answer(interest.name, packet.flow, ecn, cx);
                } else {
                    let due = cx.now() + self.config.delay;
                    self.waiting.push_back(Waiting { due, name: interest.name, flow: packet.flow, ecn });
                }
            }
            Input::Timer => {
                while let Some(first) = self.waiting.front().copied().filter(|first| first.due <= cx.now()) {
                    self.waiting.pop_front();
                    self.answer(first.name, first.flow, first.ecn, cx);
                }
            }
            Input::Stop => self.waiting.clear(),
            Input::Start | Input::App(_) | Input::Mode(_) => {}
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |first| first.due)
    }
}

#[cfg(test)]
mod tests {
    use contract::{Interest, NameId, Packet};
    use units::{Bytes, Duration};

    use super::*;
    use crate::testing::{Bench, ME, OTHER};

    fn request(segment: u64, ecn: Ecn) -> Packet {
        let name = Name { prefix: NameId(3), segment };
        Packet {
            flow: FlowId(8),
            size_bytes: 50,
            source: OTHER,
            to: ME.into(),
            sent_at: Time::ZERO,
            label: Label([1; 4]),
            header: Header::Interest(Interest { name, nonce: 1, lifetime_ms: 2000 }),
            ecn,
            hops: 3,
            waited: Default::default(),
        }
    }

    fn producer(delay: Duration) -> Producer {
        let (payload, data) = (Bytes::new(1000), Bytes::new(1076));
        Producer::new(&ProducerConfig { prefix: NameId(3), payload, data, delay })
    }

    #[test]
    fn an_interest_is_answered_at_once_with_data_of_its_name_in_its_flow() {
        let (mut bench, mut producer) = (Bench::new(1), producer(Duration::ZERO));
        bench.input(&mut producer, Input::Packet(&request(7, Ecn::Capable)));
        let sent = bench.sent();
        let [data] = sent.as_slice() else { panic!("one answer, not {sent:?}") };
        let Header::Data(header) = data.header else { panic!("{data:?}") };
        assert_eq!((header.name.segment, header.payload_bytes, data.size_bytes), (7, 1000, 1076));
        assert_eq!((data.flow, data.ecn, data.label), (FlowId(8), Ecn::Capable, Label::default()));
        assert!(data.to.is_own_node());
    }

    #[test]
    fn with_a_delay_answers_come_in_order_each_after_it() {
        let (mut bench, mut producer) = (Bench::new(1), producer(Duration::from_millis(5)));
        for segment in 0..3 {
            bench.now = Time::ZERO + Duration::from_millis(segment);
            bench.input(&mut producer, Input::Packet(&request(segment, Ecn::NotCapable)));
        }
        assert!(bench.sent().is_empty());
        let sent = bench.run(&mut producer, Time::ZERO + Duration::from_millis(6));
        let observed: Vec<(u64, u64)> = sent
            .iter()
            .map(|data| match data.header {
                Header::Data(header) => (header.name.segment, data.sent_at.as_nanos() / 1_000_000),
                _ => panic!("{data:?}"),
            })
            .collect();
        assert_eq!(observed, [(0, 5), (1, 6)]);
        assert_eq!(producer.wake(), Time::ZERO + Duration::from_millis(7));
    }
}
