use contract::{Count, SenderAlgorithm};

use super::*;
use crate::cvihis::endpoints::Sender;
use crate::cvihis::{Smoothed, Unit};
use crate::shared::stream_testing::near;
use units::Rate;

/// A source at 800 kbit/s that has measured `rtt_ms`; its first step comes √RTT after the start.
fn source(params: &Params, rtt_ms: u64) -> (StreamBench, Sender) {
    let params = Params {
        initial_rate: Rate::from_kbps(800),
        initial_rtt: Duration::from_millis(rtt_ms),
        ..params.clone()
    };
    let (mut end, mut algorithm) = (StreamBench::new(SOURCE), Sender::new(&params, PACKET));
    end.cx(|cx| algorithm.on_start(cx));
    (end, algorithm)
}

/// Answers with `command`, about a packet of a round-trip time ago.
fn answer(end: &mut StreamBench, algorithm: &mut Sender, command: u64, rtt_ms: u64) {
    let echo = end.now - Duration::from_millis(rtt_ms);
    end.send_feedback(
        algorithm,
        RECEIVER,
        end.now,
        label([0x4356_4943 << 32 | command, echo.as_nanos(), 0, 0]),
    );
}

fn rate(algorithm: &Sender) -> f64 {
    algorithm.allowance().rate.as_bps_f64()
}

fn plain() -> Params {
    // a step without history
    Params { smoothing: 1.0, ..Params::default() }
}

/// S002-01 [CVIHIS Table 1]: ± 1.0, 0.7, 0.5, 0.2 packets for each √RTT.
#[test]
fn each_command_is_a_step_of_its_size_for_each_root_of_the_round_trip_time() {
    // RTT 250 ms: T = 0.5 s, so a packet of 8000 bits for each T is 16 kbit/s
    for (command, packets) in [(0, 0.0), (1, -1.0), (2, -0.7), (3, 0.5), (4, 1.0), (6, -0.2), (7, 0.2)] {
        let (mut end, mut algorithm) = source(&plain(), 250);
        end.now = ms(400);
        answer(&mut end, &mut algorithm, command, 250);
        end.run(&mut algorithm, ms(499));
        assert_eq!(rate(&algorithm), 800e3, "not before √RTT has passed");
        end.run(&mut algorithm, ms(500));
        assert!(
            (rate(&algorithm) - (800e3 + packets * 16e3)).abs() < 1.0,
            "command {command}: {}",
            rate(&algorithm)
        );
        end.run(&mut algorithm, ms(1000));
        assert!(
            (rate(&algorithm) - (800e3 + 2.0 * packets * 16e3)).abs() < 1.0,
            "command {command}: {}",
            rate(&algorithm)
        );
    }
}

/// The square root is that of a number of seconds.
#[test]
fn the_time_of_a_step_is_the_root_of_seconds() {
    for (rtt_ms, step_ms) in [(10, 100), (40, 200), (250, 500), (1000, 1000)] {
        let (_, algorithm) = source(&plain(), rtt_ms);
        assert_eq!(algorithm.step_time(), Duration::from_millis(step_ms), "{rtt_ms} ms");
    }
}

/// S002-03 [CVIHIS Table 1]: half of the newest, half of history.
#[test]
fn steps_are_smoothed_half_and_half() {
    let (mut end, mut algorithm) = source(&Params::default(), 250);
    end.now = ms(400);
    answer(&mut end, &mut algorithm, 4, 250);
    // u = 1/2, 3/4, 7/8 packets
    for (at, expected) in [(500, 808e3), (1000, 820e3), (1500, 834e3)] {
        end.run(&mut algorithm, ms(at));
        assert!((rate(&algorithm) - expected).abs() < 1.0, "{} at {at} ms", rate(&algorithm));
        answer(&mut end, &mut algorithm, 4, 250);
    }
    // hold: what is smoothed fades, 7/16 and 7/32
    answer(&mut end, &mut algorithm, 0, 250);
    for (at, expected) in [(2000, 841e3), (2500, 844.5e3)] {
        answer(&mut end, &mut algorithm, 0, 250);
        end.run(&mut algorithm, ms(at));
        assert!((rate(&algorithm) - expected).abs() < 1.0, "{} at {at} ms", rate(&algorithm));
    }
}

/// The other reading of the smoothing factor: the rate is smoothed, and each step is half as long.
#[test]
fn the_rate_can_be_smoothed_instead() {
    let (mut end, mut algorithm) = source(&Params { smoothed: Smoothed::Rate, ..Params::default() }, 250);
    end.now = ms(400);
    answer(&mut end, &mut algorithm, 4, 250);
    for (at, expected) in [(500, 808e3), (1000, 816e3)] {
        end.run(&mut algorithm, ms(at));
        assert!((rate(&algorithm) - expected).abs() < 1.0, "{} at {at} ms", rate(&algorithm));
    }
}

/// S002-02 [CVIHIS Table 1, §3.2]: a loss makes the gap longer by a tenth, once in a round-trip time, and at once.
#[test]
fn a_loss_stretches_the_gap_by_a_tenth_once_in_a_round_trip_time() {
    let (mut end, mut algorithm) = source(&Params::default(), 250);
    end.now = ms(300);
    answer(&mut end, &mut algorithm, 5, 250);
    near(rate(&algorithm), (800e3f64 / 1.1 + 0.5).floor());
    end.now = ms(549);
    answer(&mut end, &mut algorithm, 5, 250);
    near(rate(&algorithm), (800e3f64 / 1.1 + 0.5).floor());
    end.now = ms(550);
    answer(&mut end, &mut algorithm, 5, 250);
    assert!((rate(&algorithm) - 800e3 / 1.21).abs() <= 1.0, "{}", rate(&algorithm));
    assert_eq!(end.meter.count(Count::Episodes), 2);
}

/// The command before a loss stays the one that makes steps.
#[test]
fn a_loss_does_not_take_the_place_of_the_last_command() {
    let (mut end, mut algorithm) = source(&plain(), 250);
    end.now = ms(300);
    answer(&mut end, &mut algorithm, 4, 250);
    answer(&mut end, &mut algorithm, 5, 250);
    end.run(&mut algorithm, ms(500));
    assert!((rate(&algorithm) - (800e3 / 1.1 + 16e3)).abs() <= 1.0, "{}", rate(&algorithm));
}

#[test]
fn the_round_trip_time_is_smoothed_and_steps_follow_it() {
    let (mut end, mut algorithm) = source(&plain(), 100);
    end.now = ms(250);
    answer(&mut end, &mut algorithm, 4, 250);
    assert_eq!(
        algorithm.step_time(),
        Duration::from_millis(500),
        "the first sample takes the place of the initial value"
    );
    // 7/8 · 250 + 1/8 · 90 = 230 ms
    answer(&mut end, &mut algorithm, 4, 90);
    assert!((algorithm.step_time().as_secs_f64() - 0.23f64.sqrt()).abs() < 1e-9);
    assert_eq!(end.meter.rtt_count, 2);
}

#[test]
fn the_rate_stays_within_its_limits() {
    let (mut end, mut algorithm) = source(&plain(), 250);
    end.now = ms(300);
    answer(&mut end, &mut algorithm, 1, 250);
    for at in (1..60).map(|half| ms(500 * half)) {
        end.now = at;
        answer(&mut end, &mut algorithm, 1, 250);
        end.run(&mut algorithm, at);
    }
    // one packet per second
    near(rate(&algorithm), 8000.0);
    let (mut end, mut algorithm) = source(&Params { max_rate: Rate::from_kbps(810), ..plain() }, 250);
    end.now = ms(300);
    answer(&mut end, &mut algorithm, 4, 250);
    end.run(&mut algorithm, ms(1000));
    near(rate(&algorithm), 810e3);
}

/// Ours: the paper has no timeout.
#[test]
fn silence_doubles_the_gap() {
    let (mut end, mut algorithm) = source(&plain(), 250);
    // 4 · 250 ms = 1 s without a word
    end.run(&mut algorithm, ms(999));
    near(rate(&algorithm), 800e3);
    end.run(&mut algorithm, ms(1000));
    near(rate(&algorithm), 400e3);
    end.run(&mut algorithm, ms(2000));
    near(rate(&algorithm), 200e3);
    // one packet per second: its answer is not late before the second packet
    let slow = Params { max_rate: Rate::from_bps(8 * PACKET.as_u64()), ..plain() };
    let (mut end, mut algorithm) = source(&slow, 10);
    end.now = ms(500);
    answer(&mut end, &mut algorithm, 0, 10);
    end.run(&mut algorithm, ms(2499));
    assert_eq!(end.meter.count(contract::Count::Episodes), 0);
    end.run(&mut algorithm, ms(2500));
    assert_eq!(end.meter.count(contract::Count::Episodes), 1);
    // with short round trips a second all the same, and from the last word on
    let (mut end, mut algorithm) = source(&plain(), 10);
    end.now = ms(500);
    answer(&mut end, &mut algorithm, 0, 10);
    end.run(&mut algorithm, ms(1499));
    near(rate(&algorithm), 800e3);
    end.run(&mut algorithm, ms(1500));
    near(rate(&algorithm), 400e3);
}

/// S002-48 and the paper's future work (§5): steps can count in packets of one size.
#[test]
fn steps_can_be_counted_in_bytes() {
    let params = Params { adapt_by: Unit::Bytes, step_size: bytes(1500), ..plain() };
    let (mut end, mut algorithm) = source(&params, 250);
    end.now = ms(400);
    answer(&mut end, &mut algorithm, 4, 250);
    end.run(&mut algorithm, ms(500));
    // 12 kbit for each half second, whatever the size of the stream's packets
    assert!((rate(&algorithm) - 824e3).abs() < 1.0, "{}", rate(&algorithm));
}

/// S002-07 [CVIHIS §2.2]: the change is seamless.
#[test]
fn a_change_of_mode_leaves_the_rate_alone() {
    let (mut end, mut algorithm) = source(&plain(), 250);
    end.now = ms(400);
    answer(&mut end, &mut algorithm, 4, 250);
    let before = (rate(&algorithm), algorithm.wake());
    for mode in ["real_time", "background", "real_time"] {
        end.cx(|cx| algorithm.on_mode(mode, cx));
        assert_eq!((rate(&algorithm), algorithm.wake()), before, "{mode}");
    }
    assert_eq!(end.meter.count(Count::Ignored), 0);
    end.cx(|cx| algorithm.on_mode("sideways", cx));
    assert_eq!((end.meter.count(Count::Ignored), rate(&algorithm)), (1, before.0));
}

#[test]
fn what_no_receiver_would_say_is_ignored() {
    let (mut end, mut algorithm) = source(&plain(), 250);
    end.now = ms(400);
    let tag = 0x4356_4943u64 << 32;
    for words in [
        [tag | 8, ms(300).as_nanos(), 0, 0],
        [tag | 4, ms(401).as_nanos(), 0, 0],
        [tag | 4, ms(300).as_nanos(), 1, 0],
        [4, ms(300).as_nanos(), 0, 0],
        [0; 4],
    ] {
        end.send_feedback(&mut algorithm, RECEIVER, ms(300), label(words));
    }
    assert_eq!((end.meter.count(Count::Ignored), end.meter.rtt_count), (5, 0));
    // a source that was started again is told of what it did not send
    end.cx(|cx| algorithm.on_start(cx));
    end.now = ms(500);
    answer(&mut end, &mut algorithm, 4, 101);
    assert_eq!(end.meter.count(Count::Ignored), 6);
}

/// The other reading of SF: the decrease is a step of as many packets as it takes, smoothed as all steps are. At 800
/// kbit/s and T = 0.5 s there are 50 packets in T, of which 1/11 go: half of that at once, and what is left of it with
/// the next steps.
#[test]
fn the_decrease_can_be_smoothed_as_a_step() {
    let (mut end, mut algorithm) = source(&Params { smoothed_decrease: true, ..Params::default() }, 250);
    end.now = ms(300);
    answer(&mut end, &mut algorithm, 5, 250);
    let cut = 800e3 / 11.0;
    assert!((rate(&algorithm) - (800e3 - cut / 2.0)).abs() <= 1.0, "{}", rate(&algorithm));
    // u halves while the command is to hold
    end.run(&mut algorithm, ms(500));
    assert!((rate(&algorithm) - (800e3 - cut * 0.75)).abs() <= 1.0, "{}", rate(&algorithm));
}

/// And with the rate smoothed: the gap grows by a twentieth only.
#[test]
fn the_decrease_can_be_smoothed_as_a_rate() {
    let params = Params { smoothed: Smoothed::Rate, smoothed_decrease: true, ..Params::default() };
    let (mut end, mut algorithm) = source(&params, 250);
    end.now = ms(300);
    answer(&mut end, &mut algorithm, 5, 250);
    assert!((rate(&algorithm) - 800e3 * (0.5 + 0.5 / 1.1)).abs() <= 1.0, "{}", rate(&algorithm));
    end.run(&mut algorithm, ms(500));
    assert!((rate(&algorithm) - 800e3 * (0.5 + 0.5 / 1.1)).abs() <= 1.0, "{}", rate(&algorithm));
}
