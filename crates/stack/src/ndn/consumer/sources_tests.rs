//! A consumer whose controller has two sources: 0 is near, 1 is far. Times are in milliseconds.

use std::collections::BTreeMap;

use contract::{Allowance, Data, Endpoint, Header, Input, Name, NameId};

use super::*;
use crate::ndn::ConsumerConfig;
use crate::testing::{Bench, FLOW, ME, OTHER};

const PREFIX: NameId = NameId(3);
const DATA: u64 = 1100;

/// Windows that do not change, in Data packets, and what the controller was told.
#[derive(Clone, Debug)]
struct Places {
    windows: [u64; 2],
    /// Where a segment is expected from.
    expected: fn(u64) -> u32,
    /// Source, flight, and whether the window was not filled.
    acks: Vec<(u32, u64, bool)>,
    congestion: Vec<(u32, Cause, bool)>,
}

impl Places {
    fn new(windows: [u64; 2], expected: fn(u64) -> u32) -> Self {
        Self { windows, expected, acks: Vec::new(), congestion: Vec::new() }
    }
}

impl CongestionControl for Places {
    fn on_ack(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {
        panic!("a controller with sources is told of a source");
    }

    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {
        panic!("a controller with sources is told of a source");
    }

    fn allowance(&self) -> Allowance {
        Allowance::window(Bytes::new(self.windows.iter().sum::<u64>() * DATA))
    }

    fn by_source(&mut self) -> Option<&mut dyn SourceWindows> {
        Some(self)
    }
}

impl SourceWindows for Places {
    fn expect(&mut self, segment: u64) -> u32 {
        (self.expected)(segment)
    }

    fn identify(&mut self, _segment: u64, label: &Label) -> u32 {
        label.0[0] as u32
    }

    fn label(&self, segment: u64) -> Label {
        Label([100 + segment, 0, 0, 0])
    }

    fn window(&self, source: u32) -> Bytes {
        Bytes::new(self.windows[source as usize] * DATA)
    }

    fn on_ack(&mut self, source: u32, ack: &Ack, _cx: &mut Cx<'_>) {
        self.acks.push((source, ack.in_flight.as_u64() / DATA, ack.app_limited));
    }

    fn on_congestion(&mut self, source: u32, event: &Congestion, _cx: &mut Cx<'_>) {
        self.congestion.push((source, event.cause, event.first));
    }
}

/// Even segments are near.
fn by_turns(segment: u64) -> u32 {
    (segment % 2) as u32
}

/// Segments and when they were requested, up to `end`; `answer` says for an Interest, by its number and segment, when
/// its Data come and from which source.
fn run(
    controller: Places,
    end: u64,
    answer: impl FnMut(usize, u64) -> Option<(u64, u64)>,
) -> (Consumer<Places>, Vec<(u64, u64)>) {
    run_of(Bytes::UNLIMITED, controller, end, answer)
}

/// Runs a content of this size.
fn run_of(
    size: Bytes,
    controller: Places,
    end: u64,
    mut answer: impl FnMut(usize, u64) -> Option<(u64, u64)>,
) -> (Consumer<Places>, Vec<(u64, u64)>) {
    let config = ConsumerConfig { size, ..ConsumerConfig::with_controller(PREFIX, Bytes::new(1024)) };
    let mut consumer = Consumer::new(&config, controller);
    let (mut bench, end) = (Bench::new(1), Time::ZERO + Duration::from_millis(end));
    let mut coming: BTreeMap<(Time, usize), Packet> = BTreeMap::new();
    let mut sent = Vec::new();
    bench.input(&mut consumer, Input::Start);
    loop {
        for packet in bench.sent() {
            let Header::Interest(interest) = packet.header else { panic!("{packet:?}") };
            let segment = interest.name.segment;
            assert_eq!(packet.label.0[0], 100 + segment);
            sent.push((segment, bench.now.as_nanos() / 1_000_000));
            let Some((after, source)) = answer(sent.len() - 1, segment) else { continue };
            let name = Name { prefix: PREFIX, segment };
            let data = Packet {
                flow: FLOW,
                size_bytes: DATA as u32,
                source: OTHER,
                to: ME.into(),
                sent_at: bench.now,
                label: Label([source, 0, 0, 0]),
                header: Header::Data(Data { name, payload_bytes: 1024 }),
                ecn: Ecn::Capable,
                hops: 0,
                waited: Default::default(),
            };
            coming.insert((bench.now + Duration::from_millis(after), sent.len()), data);
        }
        let arrives = coming.first_key_value().map_or(Time::NEVER, |(key, _)| key.0);
        let next = arrives.min(consumer.wake());
        if next > end {
            return (consumer, sent);
        }
        bench.now = bench.now.max(next);
        if arrives <= next {
            let (_, packet) = coming.pop_first().expect("there is one");
            bench.input(&mut consumer, Input::Packet(&packet));
        } else {
            bench.input(&mut consumer, Input::Timer);
        }
    }
}

fn near_and_far(_: usize, segment: u64) -> Option<(u64, u64)> {
    Some(if segment.is_multiple_of(2) { (10, 0) } else { (100, 1) })
}

/// One Interest in flight to each: while the far one waits for 100 ms, near segments behind the next far one are
/// requested every 10 ms. The far source is not known before its first segment is wanted, with the first Data.
#[test]
fn a_full_window_of_one_source_leaves_the_others_open() {
    let (consumer, sent) = run(Places::new([1, 1], by_turns), 115, near_and_far);
    let mut expected = vec![(0, 0), (1, 10)];
    expected.extend((1..=10).map(|n| (2 * n, 10 * n)));
    expected.extend([(3, 110), (22, 110)]);
    assert_eq!(sent, expected);
    let acks = &consumer.controller().acks;
    assert_eq!((acks.iter().filter(|ack| ack.0 == 0).count(), acks.len()), (11, 12));
    assert!(acks.iter().all(|ack| (ack.1, ack.2) == (1, false)), "{acks:?}");
}

/// The first far Interest is never answered: of the far segments 64 wait behind it, and then nothing is requested until
/// its timer.
#[test]
fn the_number_of_segments_that_wait_for_a_window_is_limited() {
    let answer = |n, segment| near_and_far(n, segment).filter(|(_, source)| *source == 0);
    let (_, sent) = run(Places::new([1, 1], by_turns), 900, answer);
    assert_eq!(sent.len() as u32, 2 + MAX_BLOCKED);
    assert_eq!(sent.last(), Some(&(2 * u64::from(MAX_BLOCKED), 10 * u64::from(MAX_BLOCKED))));
}

/// A near Interest without an answer expires after 200 ms, rounded up to the next multiple of 50 ms, while far ones
/// take 300 ms each and do not.
#[test]
fn each_source_has_a_timer_of_its_own() {
    let answer = |n, segment| match (n, segment) {
        (10, _) => None,
        (_, segment) if segment % 2 == 0 => Some((10, 0)),
        _ => Some((300, 1)),
    };
    let (consumer, sent) = run(Places::new([2, 2], by_turns), 3_000, answer);
    let (lost, left) = sent[10];
    assert_eq!(lost % 2, 0);
    let due = (left + 200).div_ceil(50) * 50;
    let retransmission: Vec<u64> =
        sent.iter().skip(11).filter(|row| row.0 == lost).map(|row| row.1).collect();
    assert_eq!(retransmission, [due]);
    assert_eq!(consumer.controller().congestion, [(0, Cause::Loss, true)]);
    assert!(consumer.controller().acks.iter().filter(|ack| ack.0 == 1).count() > 10);
}

/// All are expected from the near source and come from the far one: its flight is over, and neither window hears of
/// them.
#[test]
fn data_of_another_source_than_expected_change_no_window() {
    let (consumer, sent) = run(Places::new([2, 1], |_| 0), 45, |_, _| Some((10, 1)));
    let expected: Vec<(u64, u64)> = (0..10).map(|n| (n, n / 2 * 10)).collect();
    assert_eq!(sent, expected);
    assert!(consumer.controller().acks.is_empty() && consumer.controller().congestion.is_empty());
}

/// A content of two segments does not fill a window of three.
#[test]
fn an_unfilled_window_is_reported_as_app_limited() {
    let size = Bytes::new(2 * 1024);
    let (consumer, sent) = run_of(size, Places::new([3, 1], |_| 0), 100, |_, _| Some((10, 0)));
    assert_eq!(sent, [(0, 0), (1, 0)]);
    assert_eq!(consumer.controller().acks, [(0, 2, true), (0, 1, true)]);
}
