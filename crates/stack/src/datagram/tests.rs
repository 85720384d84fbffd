use contract::Packet;
use proptest::prelude::*;

use super::*;
use crate::testing::{Bench, OTHER};

const PACKET: Bytes = Bytes::new(1500);

fn send(pattern: Pattern, seed: u64, end: Time) -> Vec<Packet> {
    let mut bench = Bench::new(seed);
    let mut source = Source::new(&Config { packet: PACKET, pattern }, OTHER.into());
    bench.input(&mut source, Input::Start);
    bench.run(&mut source, end)
}

fn secs(n: u64) -> Time {
    Time::ZERO + Duration::from_secs(n)
}

#[test]
fn a_constant_source_is_exact_in_the_long_run() {
    // 7 Mbit/s / 12 000 bit = 583.33… datagrams per second, and the one at the start
    let sent = send(Pattern::Constant { rate: Rate::from_mbps(7) }, 1, secs(60));
    assert_eq!(sent.len(), 35_001);
    assert_eq!(sent[0].sent_at, Time::ZERO);
    // number 35 000 leaves at 35 000 · 12 000 / 7e6 s = 60 s
    assert_eq!(sent[35_000].sent_at, secs(60));
    assert!(
        sent.iter().enumerate().all(|(i, p)| matches!(p.header, Header::Datagram { seq } if seq == i as u64))
    );
}

#[test]
fn a_late_driver_does_not_lower_the_rate() {
    let mut bench = Bench::new(1);
    let config = Config { packet: Bytes::new(1000), pattern: Pattern::Constant { rate: Rate::from_mbps(8) } };
    let mut source = Source::new(&config, OTHER.into());
    bench.input(&mut source, Input::Start);
    bench.now = Time::from_nanos(1_400_000);
    bench.input(&mut source, Input::Timer);
    assert_eq!(source.wake(), Time::from_nanos(2_000_000));
}

#[test]
fn a_poisson_source_has_its_mean_rate_and_the_spread_of_exponential_gaps() {
    let sent = send(Pattern::Poisson { rate: Rate::from_mbps(12) }, 3, secs(200));
    // 1000 datagrams per second; the standard deviation of the count is √200 000 ≈ 447
    assert!((sent.len() as f64 - 200_000.0).abs() < 4.0 * 447.0, "{}", sent.len());
    let gaps: Vec<f64> = sent.windows(2).map(|w| (w[1].sent_at - w[0].sent_at).as_secs_f64() * 1e3).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / gaps.len() as f64;
    assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
}

#[test]
fn an_on_off_source_keeps_its_rate_over_on_times() {
    let spell = |ms| DurationDistribution::Constant(Duration::from_millis(ms));
    let pattern = Pattern::OnOff { rate: Rate::from_mbps(12), on: spell(10), off: spell(20) };
    let sent = send(pattern, 1, Time::from_nanos(3_000_000_000 - 1));
    // one per millisecond in the first ten of every thirty
    assert_eq!(sent.len(), 1000);
    assert!(sent.iter().all(|p| p.sent_at.as_nanos() % 30_000_000 < 10_000_000));

    // a gap of 1.5 ms does not fit into 10 ms: the rest of it passes in the next on-time
    let pattern = Pattern::OnOff { rate: Rate::from_mbps(8), on: spell(10), off: spell(20) };
    let sent = send(pattern, 1, Time::from_nanos(3_000_000_000 - 1));
    assert_eq!(sent.len(), 667); // 100 on-times of 10 ms / 1.5 ms = 666.7, the first at 0
}

#[test]
fn random_on_and_off_times_have_their_share() {
    let (mean_on, mean_off) = (Duration::from_millis(500), Duration::from_millis(1500));
    for (on, off, tolerance) in [
        (DurationDistribution::Exponential(mean_on), DurationDistribution::Exponential(mean_off), 0.05),
        (
            DurationDistribution::Pareto { mean: mean_on, shape: 2.5 },
            DurationDistribution::Pareto { mean: mean_off, shape: 2.5 },
            0.1,
        ),
    ] {
        let sent = send(Pattern::OnOff { rate: Rate::from_kbps(1200), on, off }, 11, secs(4000));
        let share = sent.len() as f64 / 400_000.0;
        assert!((share - 0.25).abs() < 0.25 * tolerance, "{on:?}: {share}");
    }
}

#[test]
fn a_source_without_rate_sends_nothing_and_a_stopped_one_nothing_more() {
    assert!(send(Pattern::Constant { rate: Rate::ZERO }, 1, secs(10)).is_empty());
    assert!(send(Pattern::Poisson { rate: Rate::ZERO }, 1, secs(10)).is_empty());
    let mut bench = Bench::new(1);
    let config = Config { packet: PACKET, pattern: Pattern::Constant { rate: Rate::from_mbps(1) } };
    let mut source = Source::new(&config, OTHER.into());
    bench.input(&mut source, Input::Start);
    bench.input(&mut source, Input::Stop);
    assert_eq!(source.wake(), Time::NEVER);
}

#[test]
fn a_sink_counts_what_is_missing_between_what_arrives() {
    let mut bench = Bench::new(1);
    let mut sink = Sink::new();
    bench.input(&mut sink, Input::Start);
    let datagrams = send(Pattern::Constant { rate: Rate::from_mbps(12) }, 1, Time::from_nanos(20_000_000));
    // joins at 3; 5 and 6 are missing; 8 comes after 9; a copy of 9
    for seq in [3, 4, 7, 9, 8, 9, 10] {
        bench.input(&mut sink, Input::Packet(&datagrams[seq]));
    }
    assert_eq!(bench.meter.count(Count::Missing), 3);
    assert_eq!(bench.meter.goodput_bytes, 5 * 1500);
}

proptest! {
    #[test]
    fn no_source_sends_into_the_past(
        rate in prop_oneof![Just(0u64), 1u64..1_000, 1_000u64..10_000_000_000, Just(u64::MAX)],
        on_ms in 0u64..50,
        off_ms in prop_oneof![0u64..50, Just(u64::MAX / 1_000_000)],
        seed: u64,
    ) {
        let rate = Rate::from_bps(rate);
        let on = DurationDistribution::Exponential(Duration::from_millis(on_ms.max(1)));
        let off = DurationDistribution::Constant(Duration::from_millis(off_ms));
        for pattern in [Pattern::Constant { rate }, Pattern::Poisson { rate }, Pattern::OnOff { rate, on, off }] {
            let mut bench = Bench::new(seed);
            let mut source = Source::new(&Config { packet: PACKET, pattern }, OTHER.into());
            bench.input(&mut source, Input::Start);
            for _ in 0..50 {
                let due = source.wake();
                if due == Time::NEVER {
                    break;
                }
                bench.now = due;
                bench.input(&mut source, Input::Timer);
                prop_assert!(source.wake() > due);
            }
        }
    }
}
