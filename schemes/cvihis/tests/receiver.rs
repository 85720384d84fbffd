use contract::{Count, OutgoingPacket, ParamTable, ReceiverAlgorithm, SenderAlgorithm};
use proptest::prelude::*;

use super::*;
use crate::cvihis::endpoints::{Area, Delays, Sender};
use crate::cvihis::{Cadence, Outer};
use crate::shared::stream_testing::near;

/// The paper's rules: the delay space has no minimum width.
fn background() -> Params {
    Params { min_space: 0.0, noise: 0.0, ..Params::default() }
}

fn real_time() -> Params {
    Params { mode: Mode::RealTime, ..background() }
}

// ---- minDelay and maxDelay

/// S002-04 [CVIHIS §3.2]: the shortest delay of the connection, and the delay of the last packet before a drop.
#[test]
fn min_delay_is_the_minimum_ever_and_max_delay_that_before_a_loss() {
    let mut path = Path::new(&background());
    assert_eq!(
        [30.0, 20.0, 25.0].map(|delay| path.packet(delay)),
        [4, 4, 4],
        "no scale before the first loss"
    );
    near(path.probed("min_delay"), 0.020);
    assert_eq!(path.packet(70.0), 4);
    assert_eq!(path.after_loss(60.0), 5);
    near(path.probed("max_delay"), 0.070);
    near(path.probed("position"), 0.8);
    // a lower delay, and another loss: both are replaced, the maximum by a smaller one
    path.packet(15.0);
    near(path.probed("min_delay"), 0.015);
    path.packet(40.0);
    assert_eq!(path.after_loss(65.0), 5);
    near(path.probed("max_delay"), 0.040);
    near(path.probed("min_delay"), 0.015);
}

/// S002-06 [CVIHIS §3.2, Fig. 1]: seven areas, each with a delay that grows, one that falls and one that stays.
#[test]
fn each_area_has_its_command_and_the_gradient_wins_in_four() {
    // place in per cent, and the commands after a lower, an equal and a higher delay
    for (at, grows, stays, falls) in [
        (5.0, 4, 4, 4),
        (17.0, 6, 3, 3),
        (30.0, 6, 3, 3),
        (40.0, 0, 0, 0),
        (50.0, 2, 2, 7),
        (70.0, 2, 2, 7),
        (90.0, 1, 1, 1),
    ] {
        for (before, command) in [(at - 0.5, grows), (at, stays), (at + 0.5, falls)] {
            let mut path = space(&background(), before);
            assert_eq!(path.packet(10.0 + at), command, "at {at} % after {before} %");
        }
    }
}

/// Our choice for the outer two: with `outer = "strong"` they command as the extremes do where nothing disagrees.
#[test]
fn the_outer_areas_can_be_as_strong_as_the_extremes() {
    let params = Params { outer: Outer::Strong, ..background() };
    for (at, grows, stays, falls) in [(17.0, 6, 4, 4), (30.0, 6, 3, 3), (50.0, 2, 2, 7), (70.0, 1, 1, 7)] {
        for (before, command) in [(at - 0.5, grows), (at, stays), (at + 0.5, falls)] {
            assert_eq!(space(&params, before).packet(10.0 + at), command, "at {at} % after {before} %");
        }
    }
}

#[test]
fn an_area_begins_at_its_lower_edge() {
    use Area::{Highest, InnerAbove, InnerBelow, Lowest, OuterAbove, OuterBelow, Target};
    let delays = Delays::new(&background());
    let places = [-1.0, 0.0, 0.0999, 0.1, 0.25, 0.35, 0.4499, 0.45, 0.6, 0.7999, 0.8, 1.0, 7.0];
    let areas = [
        Lowest, Lowest, Lowest, OuterBelow, InnerBelow, Target, Target, InnerAbove, OuterAbove, OuterAbove,
        Highest, Highest, Highest,
    ];
    assert_eq!(places.map(|x| delays.area(x)), areas);
}

/// A loss is told by the packet that shows it, and that packet's delay still counts.
#[test]
fn a_loss_is_command_five_once() {
    let mut path = Path::new(&background());
    path.packet(20.0);
    path.packet(120.0);
    assert_eq!(path.after_loss(10.0), 5);
    near(path.probed("min_delay"), 0.010);
    assert_eq!(path.packet(120.0), 1, "the next one is as any other");
}

// ---- pushing

/// S002-03, S002-05 [CVIHIS §3.3, Table 1]: minDelay grows by 5 %, and a lower delay takes its place.
#[test]
fn the_real_time_mode_pushes_by_five_per_cent() {
    // the round trip takes 40 ms at least, so d of the minimum delay is 20 ms, whatever the raw one is
    let mut path = space(&real_time(), 50.0);
    path.packet(60.0);
    // 50 of 100: command 2. It was 2 for the packet before as well, so there have been two pushes: 20 → 21 → 22.05 ms
    assert_eq!(path.packet(60.0), 2);
    near(path.probed("min_delay"), 0.010 + 0.00205);
    // three: 23.1525 ms
    assert_eq!(path.packet(60.0), 2);
    near(path.probed("min_delay"), 0.010 + 0.0031525);
    // d < minDelay: minDelay = d
    assert_eq!(path.packet(11.0), 4);
    near(path.probed("min_delay"), 0.011);
    // pushed from where it is now: 21 → 22.05
    path.packet(70.0);
    path.packet(70.0);
    near(path.probed("min_delay"), 0.010 + 0.00205);
}

#[test]
fn only_commands_that_slow_down_push() {
    let pushed = |last: f64, at: f64| {
        let mut path = space(&real_time(), last);
        let command = path.packet(10.0 + at);
        path.packet(11.0 + at);
        (command, path.probed("min_delay") > 0.010)
    };
    // the first delay is chosen so that the packet before it does not push
    assert_eq!(pushed(0.0, 90.0), (1, true));
    assert_eq!(pushed(40.0, 50.0), (2, true));
    assert_eq!(pushed(20.0, 30.0), (6, true));
    assert_eq!(pushed(40.0, 5.0), (4, false));
    assert_eq!(pushed(40.0, 39.0), (0, false));
    // a loss: command 5
    let mut path = space(&real_time(), 40.0);
    assert_eq!(path.after_loss(100.0), 5);
    path.packet(50.0);
    near(path.probed("min_delay"), 0.010);
    // before the first loss nothing is pushed
    let mut path = Path::new(&real_time());
    let messages = [10.0, 90.0, 95.0, 99.0].map(|delay| path.packet(delay));
    assert_eq!(messages, [4; 4]);
    near(path.probed("min_delay"), 0.010);
}

#[test]
fn min_delay_is_pushed_no_further_than_the_delay_and_may_pass_max_delay() {
    let mut path = space(&real_time(), 50.0);
    // the maximum delay was 110 ms; now it is 300 and stays there
    let mut commands: Vec<u64> = (0..80).map(|_| path.packet(300.0)).collect();
    near(path.probed("min_delay"), 0.300);
    // above maxDelay the areas have no width: 1 while above minDelay, 4 at it
    assert_eq!(path.packet(299.0), 4);
    commands.dedup();
    assert_eq!(commands, [1, 4]);
    // maxDelay is that before the next loss
    path.after_loss(299.0);
    near(path.probed("max_delay"), 0.299);
}

/// S002-51 [CVIHIS §4.4]: both modes have the same parameters, except the push.
#[test]
fn the_background_mode_does_not_push_unless_asked_to() {
    let pushed = |params: &Params| {
        let mut path = space(params, 50.0);
        (0..10).for_each(|_| {
            path.packet(60.0);
        });
        path.probed("min_delay") - 0.010
    };
    near(pushed(&background()), 0.0);
    // 20 ms · 1.001¹⁰ − 20 ms: the packet of `space` pushes, and the last one after it is recorded
    let slow = Params { background_push: 1.001, ..background() };
    assert!((pushed(&slow) - 0.000_200_902_4).abs() < 1e-8, "{}", pushed(&slow));
}

/// Our choice: once a packet. The other readings push more rarely.
#[test]
fn the_push_can_be_made_rarer() {
    for (push_every, pushes) in [(Cadence::Packet, 8), (Cadence::Step, 4), (Cadence::Rtt, 2)] {
        let mut path = space(&Params { push_every, ..real_time() }, 40.0);
        // packets are a second apart: T = √4 s = 2 s, RTT = 4 s
        path.srtt = Duration::from_secs(4);
        (0..9).for_each(|_| {
            path.packet(60.0);
        });
        let pushed = (0..pushes).fold(0.020, |d, _| d * 1.05);
        assert!((path.probed("min_delay") - 0.010 + 0.020 - pushed).abs() < 1e-8, "{pushes}");
    }
}

/// Before the source knows a round-trip time half of the initial one is taken.
#[test]
fn without_a_round_trip_time_the_initial_one_is_taken() {
    let mut path = Path::new(&real_time());
    path.rtt_min = None;
    path.packet(10.0);
    path.packet(110.0);
    path.after_loss(60.0);
    path.packet(60.0);
    path.packet(60.0);
    // 50 ms · 1.05
    near(path.probed("min_delay"), 0.010 + 0.0025);
}

// ---- modes

#[test]
fn the_mode_is_what_data_say_and_the_way_back_forgets_the_push() {
    let mut path = space(&background(), 50.0);
    path.packet(60.0);
    near(path.probed("min_delay"), 0.010);
    path.mode = Mode::RealTime;
    path.packet(60.0);
    path.packet(60.0);
    near(path.probed("min_delay"), 0.011);
    path.mode = Mode::Background;
    assert_eq!(path.packet(60.0), 2);
    // minDelay is the minimum ever again, maxDelay stays
    near(path.probed("min_delay"), 0.010);
    near(path.probed("max_delay"), 0.110);
    let modes: Vec<f64> =
        path.end.out.notes.pending.iter().filter(|note| note.name == "mode").map(|note| note.value).collect();
    assert_eq!(modes, [1.0, 0.0]);
}

#[test]
fn a_receiver_that_joins_again_begins_anew() {
    let mut path = space(&real_time(), 50.0);
    let algorithm = &mut path.algorithm;
    path.end.listen(|cx| algorithm.on_start(cx));
    assert_eq!(path.packet(80.0), 4, "no scale");
    near(path.probed("min_delay"), 0.080);
}

// ---- words

#[test]
fn what_is_not_of_a_source_is_not_answered() {
    let mut path = Path::new(&background());
    let mut data = path.data();
    data.label = label([1, 2, 3, 4]);
    let algorithm = &mut path.algorithm;
    assert!(path.end.listen(|cx| algorithm.on_data(&data, cx)).is_empty());
    assert_eq!(path.end.meter.count(Count::Ignored), 1);
}

/// What a source stamps is what a receiver reads.
#[test]
fn a_source_says_its_mode_and_its_round_trip_times() {
    let mut end = StreamBench::new(SOURCE);
    let mut algorithm = Sender::new(&real_time(), PACKET);
    let sending = OutgoingPacket { seq: 0, size: PACKET, bytes_before: 0 };
    let read = |end: &mut StreamBench, algorithm: &mut Sender| {
        DataHeader::decode(end.cx(|cx| algorithm.stamp(&sending, cx))).expect("a header")
    };
    let first = read(&mut end, &mut algorithm);
    assert_eq!(first, DataHeader { mode: Mode::RealTime, rtt_min: None, srtt: Duration::from_millis(100) });
    end.cx(|cx| algorithm.on_start(cx));
    for (sent, now) in [(0, 80), (20, 60)] {
        end.now = ms(now);
        end.send_feedback(
            &mut algorithm,
            RECEIVER,
            ms(now - 20),
            label([0x4356_4943 << 32, ms(sent).as_nanos(), 0, 0]),
        );
    }
    let header = read(&mut end, &mut algorithm);
    assert_eq!(header.rtt_min, Some(Duration::from_millis(40)));
    // 80 + (40 − 80)/8
    assert_eq!(header.srtt, Duration::from_millis(75));
}

proptest! {
    /// S002-08 [CVIHIS §4.6]: only differences of delays count.
    #[test]
    fn an_offset_of_the_clocks_changes_no_command(
        delays in prop::collection::vec((0.0f64..200.0, prop::bool::weighted(0.1)), 1..200),
        real in any::<bool>(),
    ) {
        let params = if real { real_time() } else { background() };
        let commands = |ahead: u64, behind: u64| -> Vec<u64> {
            let mut path = Path::new(&params);
            path.ahead = Duration::from_secs(ahead);
            path.sent_at = Time::ZERO + Duration::from_secs(1 + behind);
            let take = |&(delay, lost): &(f64, bool)| if lost { path.after_loss(delay) } else { path.packet(delay) };
            delays.iter().map(take).collect()
        };
        let right = commands(0, 0);
        prop_assert_eq!(&commands(3600, 0), &right);
        prop_assert_eq!(&commands(1_000_000, 0), &right);
        prop_assert_eq!(&commands(0, 3600), &right);
        // the numbers are those of the paper
        prop_assert!(right.iter().all(|command| *command <= 7));
    }

    /// The clock of the source may be ahead, so that raw delays are negative.
    #[test]
    fn negative_delays_are_as_good_as_others(raw in prop::collection::vec(-1_000_000_000i64..1_000_000_000, 2..50), offset in -1_000_000_000_000i64..1_000_000_000_000) {
        let params = real_time();
        let commands = |offset: i64| -> Vec<(u64, i64)> {
            let mut delays = Delays::new(&params);
            let take = |(index, delay): (usize, &i64)| {
                if index % 7 == 3 {
                    delays.on_loss();
                }
                let command = delays.on_packet(index as u64, delay + offset);
                delays.push(1.05, Duration::from_millis(40));
                (command.number(), delays.min() - offset)
            };
            raw.iter().enumerate().map(take).collect()
        };
        prop_assert_eq!(commands(offset), commands(0));
    }

    #[test]
    fn words_are_read_as_they_were_written(real in any::<bool>(), rtt_min in 0..1_000_000_000_000u64, srtt in 0..1_000_000_000_000u64, number in 0u64..8, echo in any::<u64>()) {
        let mode = if real { Mode::RealTime } else { Mode::Background };
        for rtt_min in [None, Some(Duration::from_nanos(rtt_min))] {
            let header = DataHeader { mode, rtt_min, srtt: Duration::from_nanos(srtt) };
            prop_assert_eq!(DataHeader::decode(header.encode()), Some(header));
        }
        let answer = Answer::decode(label([0x4356_4943 << 32 | number, echo, 0, 0])).expect("a command");
        prop_assert_eq!((answer.command.number(), answer.echo.as_nanos()), (number, echo));
        prop_assert_eq!(Answer::decode(answer.encode()), Some(answer));
    }

    #[test]
    fn reading_is_total(words in any::<[u64; 4]>()) {
        if let Some(header) = DataHeader::decode(label(words)) {
            prop_assert_eq!(header.encode(), label(words));
        }
        if let Some(answer) = Answer::decode(label(words)) {
            prop_assert_eq!(answer.encode(), label(words));
        }
    }

    /// Whatever comes, a receiver goes on.
    #[test]
    fn strange_times_break_nothing(times in prop::collection::vec((any::<u64>(), any::<u64>(), any::<bool>()), 1..40)) {
        let (mut end, mut algorithm) = (StreamBench::new(RECEIVER), Receiver::new(&real_time()));
        let path = Path::new(&real_time());
        for (sent, now, lost) in times {
            end.now = Time::from_nanos(now);
            let data = Arrival { sent_at: Time::from_nanos(sent), ..path.data() };
            if lost {
                let gap = Gap { first_missing: 0, packets: 1, before: data };
                end.listen(|cx| algorithm.on_loss(&gap, cx));
            }
            prop_assert_eq!(end.listen(|cx| algorithm.on_data(&data, cx)).len(), 1);
        }
    }
}

#[test]
fn parameters_read_back_as_they_are() {
    let list = real_time().list();
    assert_eq!(<Params as ParamTable>::with(&list).expect("they are right"), real_time());
}

// ---- packets that overtake, and losses without a queue

/// A delay space of 10 to 110 ms, a packet at 15 ms; then one overtakes the next by 8 ms. Its delay of 7 ms is not one
/// of the path: the command stays that of the packet before, and minDelay as well. The overtaken packet is judged by
/// its own delay.
#[test]
fn a_packet_that_overtakes_says_nothing_of_the_path() {
    let mut path = space(&background(), 5.0);
    let command = path.packet(15.0);
    assert_eq!(command, 4);
    path.seq += 1;
    assert_eq!(path.packet(7.0), command);
    near(path.probed("min_delay"), 0.010);
    path.seq -= 2;
    // the overtaken one follows the packet of 15 ms: the queue grows
    assert_eq!(path.packet(35.0), 6);
    near(path.probed("min_delay"), 0.010);
}

/// The packet that was declared lost arrives: the delay space is that before the loss, and the packet after the gap did
/// not lower minDelay.
#[test]
fn a_loss_that_was_none_leaves_the_delay_space_as_it_was() {
    let mut path = space(&background(), 5.0);
    near(path.probed("max_delay"), 0.110);
    assert_eq!(path.after_loss(7.0), 5);
    near(path.probed("max_delay"), 0.015);
    near(path.probed("min_delay"), 0.007);
    path.packet(12.0);
    let (data, algorithm) = (path.data(), &mut path.algorithm);
    path.end.listen(|cx| contract::ReceiverAlgorithm::on_late(algorithm, &data, cx));
    path.packet(12.0);
    near(path.probed("max_delay"), 0.110);
    near(path.probed("min_delay"), 0.010);
}

/// Random loss on a path without a queue, whose delays vary by 5 ms: the paper's space is as wide as that, and most
/// packets are in its upper part. With the minimum of four packets, here of a second, all are in the lowest area.
#[test]
fn a_loss_without_a_queue_does_not_stop_the_stream() {
    let commands = |params: &Params| -> Vec<u64> {
        let mut path = Path::new(params);
        path.packet(10.0);
        path.packet(12.0);
        path.after_loss(11.0);
        [15.0, 13.0, 14.0, 12.0].map(|delay| path.packet(delay)).to_vec()
    };
    assert_eq!(commands(&background()), [1, 1, 1, 1]);
    assert_eq!(commands(&Params::default()), [4, 4, 4, 4]);
}

// ---- a longer route

/// [CVIHIS §4.6]: the smallest delay of some packets is above minDelay by more than the threshold, several times in a
/// row.
#[test]
fn min_delay_follows_a_longer_route_where_it_is_watched() {
    let params = Params { window: 5, window_times: 2, ..background() };
    // the delay space is 10 to 110 ms; the four packets that made it are in the first window
    let mut path = space(&params, 0.0);
    path.packet(10.0);
    for _ in 0..9 {
        path.packet(90.0);
        near(path.probed("min_delay"), 0.010);
    }
    path.packet(95.0);
    near(path.probed("min_delay"), 0.090);
    near(path.probed("max_delay"), 0.190);
}

#[test]
fn a_queue_that_drains_in_between_is_no_longer_route() {
    let params = Params { window: 5, window_times: 2, ..background() };
    let mut path = space(&params, 0.0);
    path.packet(10.0);
    for _ in 0..10 {
        // within 60 % of the delay space once in every other window
        for delay in [90.0, 90.0, 90.0, 90.0, 90.0, 90.0, 69.0, 90.0, 90.0, 90.0] {
            path.packet(delay);
        }
    }
    near(path.probed("min_delay"), 0.010);
    // and nothing happens where it is not watched
    let mut path = space(&background(), 0.0);
    for _ in 0..100 {
        path.packet(90.0);
    }
    near(path.probed("min_delay"), 0.010);
}
