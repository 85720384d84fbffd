//! Tests of frames from the source's encoder to the receiver's player.

use std::sync::Arc;

use contract::{
    Allowance, Arrival, Count, Cx, Ecn, Feedback, Fragment, Header, Input, Label, Packet, ReceiverAlgorithm,
    ReceiverCx, SenderAlgorithm, StreamHeader,
};
use units::{Duration, Rate, Time};

use super::*;
use crate::testing::{Bench, FLOW, ME, OTHER};

/// An algorithm with a constant rate, which is told when its application has no more data.
struct Steady {
    rate: Rate,
    idle: u32,
}

impl SenderAlgorithm for Steady {
    fn on_feedback(&mut self, _feedback: &Feedback, _cx: &mut Cx<'_>) {}
    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate)
    }
    fn on_idle(&mut self, _cx: &mut Cx<'_>) {
        self.idle += 1;
    }
}

/// An algorithm that receives modes.
#[derive(Default)]
struct Modal(Vec<String>);

impl ReceiverAlgorithm for Modal {
    fn on_data(&mut self, _data: &Arrival, _cx: &mut ReceiverCx<'_, '_>) {}
    fn on_mode(&mut self, mode: &str, _cx: &mut ReceiverCx<'_, '_>) {
        self.0.push(mode.to_owned());
    }
}

/// An algorithm at the source that receives modes.
struct ModeRecorder {
    modes: Vec<String>,
    rate: Rate,
}

impl SenderAlgorithm for ModeRecorder {
    fn on_feedback(&mut self, _feedback: &Feedback, _cx: &mut Cx<'_>) {}
    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate)
    }
    fn on_mode(&mut self, mode: &str, _cx: &mut Cx<'_>) {
        self.modes.push(mode.to_owned());
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(millis: u64) -> Time {
    Time::ZERO + ms(millis)
}

/// 5000 bytes each 40 ms.
fn video() -> Video {
    let frames = Frames::Equal { rate: Rate::from_mbps(1) };
    Video { frames, frame_rate: 25.0, live: true, drop_after: Duration::MAX }
}

/// Departures until `end`: time, size, frame.
fn sent(video: Video, kbps: u64, end: u64) -> (Vec<(u64, u64, u32)>, Bench, u32) {
    let config = Config { jitter: 0.0, video: Some(video), ..Config::default() };
    let mut bench = Bench::new(1);
    let mut sender = Sender::new(&config, Steady { rate: Rate::from_kbps(kbps), idle: 0 }, OTHER.into());
    bench.input(&mut sender, Input::Start);
    let packets = bench.run(&mut sender, at(end));
    let row = |packet: &Packet| {
        let Header::Stream(header) = packet.header else { panic!("{:?}", packet.header) };
        (packet.sent_at.as_nanos() / 1_000_000, packet.size().as_u64(), header.fragment.frame)
    };
    (packets.iter().map(row).collect(), bench, sender.algorithm().idle)
}

#[test]
fn available_frames_are_sent_at_the_controllers_rate() {
    let (packets, _, idle) = sent(video(), 8000, 79);
    let times: Vec<u64> = packets.iter().map(|packet| packet.0).collect();
    assert_eq!(times, [0, 1, 2, 3, 4, 40, 41, 42, 43, 44]);
    assert!(packets.iter().all(|packet| packet.1 == 1000));
    assert_eq!(packets.iter().map(|packet| packet.2).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    // times at which the last piece of each frame left
    assert_eq!(idle, 2);
}

/// 2500 bytes per frame: packets of 1000, 1000 and 500 bytes; the gap after each follows its size.
#[test]
fn the_last_packet_of_a_frame_is_as_small_as_what_is_left() {
    let half = Video { frames: Frames::Equal { rate: Rate::from_kbps(500) }, live: false, ..video() };
    let (packets, _, idle) = sent(half, 1000, 40);
    assert_eq!(
        packets,
        [(0, 1000, 0), (8, 1000, 0), (16, 500, 0), (20, 1000, 1), (28, 1000, 1), (36, 500, 1), (40, 1000, 2)]
    );
    // all frames exist from the start
    assert_eq!(idle, 0);
}

#[test]
fn a_slow_stream_queues_frames_and_drops_them_only_if_configured() {
    let frames = |video: Video| {
        let (packets, bench, _) = sent(video, 400, 499);
        let mut frames: Vec<u32> = packets.iter().map(|packet| packet.2).collect();
        frames.dedup();
        (frames, bench.meter.count(Count::FramesDropped), bench.values("waiting"))
    };
    // a frame takes 100 ms, and one is made each 40 ms: the fifth to leave exists at 160 ms
    let (all, dropped, waiting) = frames(video());
    assert_eq!((all, dropped), (vec![0, 1, 2, 3, 4], 0));
    // after its last packet but one, at 460 ms, it has waited for 300 ms; after its last, at 480, the next one waits
    // since 200
    assert!((waiting[23] - 0.3).abs() < 1e-9 && (waiting[24] - 0.28).abs() < 1e-9, "{waiting:?}");
    // at 100 ms frame 1 has waited 60 ms; at 200 ms frame 2 for 120 ms, frame 3 for 80; at 300 ms frame 4 for 140 ms,
    // frame 5 for 100; at 400 ms frames 6 and 7 for 160 and 120 ms
    let (left, dropped, _) = frames(Video { drop_after: ms(100), ..video() });
    assert_eq!((left, dropped), (vec![0, 1, 3, 5, 8], 4));
}

#[test]
fn every_scheme_carries_the_same_video() {
    let pattern = "IBBP".chars().filter_map(FrameType::of).collect();
    let rate = Rate::from_mbps(1);
    let groups = Frames::Groups { rate, pattern, sizes: [5.0, 3.0, 1.0], variation: 0.4 };
    let sizes = |kbps| {
        let (packets, _, _) = sent(Video { frames: groups.clone(), live: false, ..video() }, kbps, 2000);
        let mut sizes = vec![0; 20];
        for (_, size, frame) in packets {
            if let Some(sum) = sizes.get_mut(frame as usize) {
                *sum += size;
            }
        }
        sizes
    };
    assert_eq!(sizes(4000), sizes(3000));
}

#[test]
fn a_video_ends_with_its_last_frame() {
    let frames = Frames::Trace {
        file: String::new(),
        sizes: Arc::from([700, 1200]),
        types: Arc::from([]),
        rate: None,
        repeat: false,
    };
    let (packets, _, idle) = sent(Video { frames, ..video() }, 8000, 1000);
    assert_eq!(packets, [(0, 700, 0), (40, 1000, 1), (41, 200, 1)]);
    assert_eq!(idle, 2);
}

// ---- player ----

/// A receiver that plays frames of 1000 bytes at 25 a second.
struct Screen {
    bench: Bench,
    receiver: Receiver<Modal, Playing>,
    seq: u64,
    /// Messages that it sent.
    sent: Vec<Packet>,
}

impl Screen {
    fn new(player: Player) -> Self {
        Self::of(player, Frames::Equal { rate: Rate::from_kbps(200) })
    }

    fn of(player: Player, frames: Frames) -> Self {
        let config =
            Config { video: Some(Video { frames, ..video() }), player: Some(player), ..Config::default() };
        let mut bench = Bench::new(1);
        let player = Playing::of(&config).expect("a player and a video");
        let mut receiver = Receiver::new(&config, Modal::default(), OTHER).playing(player);
        bench.input(&mut receiver, Input::Start);
        Self { bench, receiver, seq: 0, sent: Vec::new() }
    }

    fn count(&self, what: Count) -> u64 {
        self.bench.meter.count(what)
    }

    /// Time advances to `millis`, and then a packet with `bytes` of a frame of `frame_bytes` arrives.
    fn fragment(&mut self, millis: u64, frame: u32, bytes: u32, frame_bytes: u32) {
        self.until(millis);
        let fragment = Fragment { frame, frame_bytes };
        let header = StreamHeader { seq: self.seq, bytes_before: self.seq * 1000, fragment };
        self.seq += 1;
        let packet = Packet {
            flow: FLOW,
            size_bytes: bytes,
            source: OTHER,
            to: ME.into(),
            sent_at: Time::ZERO,
            label: Label::default(),
            header: Header::Stream(header),
            ecn: Ecn::NotCapable,
            hops: 0,
            waited: Default::default(),
        };
        self.bench.input(&mut self.receiver, Input::Packet(&packet));
        // frames due at this instant are played
        self.until(millis);
    }

    fn frame(&mut self, millis: u64, frame: u32) {
        self.fragment(millis, frame, 1000, 1000);
    }

    fn until(&mut self, millis: u64) {
        let sent = self.bench.run(&mut self.receiver, at(millis));
        self.sent.extend(sent);
    }

    fn spoiled(&self) -> u64 {
        self.count(Count::FramesUndecodable)
    }

    /// Played, missed, late, stalls, milliseconds of stalls.
    fn counts(&self) -> [u64; 5] {
        let of = |what| self.count(what);
        let stalled = of(Count::StallNanos) / 1_000_000;
        [of(Count::FramesPlayed), of(Count::FramesMissed), of(Count::FramesLate), of(Count::Stalls), stalled]
    }
}

fn player(startup: u64, resume: u64) -> Player {
    Player { startup: ms(startup), resume: ms(resume), ..Player::default() }
}

/// Three frames are 120 ms. The first is played with the third's arrival, at 80 ms, and frame k at 80 + 40·k.
#[test]
fn playing_begins_when_the_buffer_holds_enough_and_stalls_when_it_is_empty() {
    let mut screen = Screen::new(player(120, 80));
    screen.frame(0, 0);
    screen.frame(40, 1);
    assert_eq!(screen.bench.meter.media().played_at, Time::NEVER);
    for frame in 2..10 {
        screen.frame(40 * u64::from(frame), frame);
    }
    assert_eq!(screen.bench.meter.media().played_at, at(80));
    // at 360 ms frame 7 was played as frame 9 came
    assert_eq!(screen.counts(), [8, 0, 0, 0, 0]);
    // frame 10 is due at 480 ms and missing; the time of the stall is counted while it lasts
    screen.until(1000);
    assert_eq!(screen.counts(), [10, 0, 0, 1, 520]);
    // two frames more
    screen.frame(1010, 10);
    screen.frame(1040, 11);
    assert_eq!(screen.counts(), [11, 0, 0, 1, 560]);
    screen.until(1090);
    assert_eq!(screen.counts(), [12, 0, 0, 1, 560]);
}

/// Frames 2 to 6 are lost in an outage; playback has stalled at 120 ms.
#[test]
fn after_a_stall_playing_goes_on_behind_the_gap() {
    let mut screen = Screen::new(player(80, 80));
    screen.frame(0, 0);
    screen.frame(40, 1);
    screen.frame(300, 7);
    assert_eq!(screen.counts(), [2, 0, 0, 1, 160]);
    screen.frame(320, 8);
    assert_eq!(screen.counts(), [3, 5, 0, 1, 200]);
    screen.until(370);
    assert_eq!(screen.counts(), [4, 5, 0, 1, 200]);
}

#[test]
fn a_frame_that_is_lost_is_passed_over_without_a_stall() {
    let mut screen = Screen::new(player(120, 80));
    for frame in (0..10).filter(|frame| *frame != 5) {
        screen.frame(40 * u64::from(frame), frame);
    }
    // frame 0 at 80 ms, frame 5 due at 280, frame 7 at 360
    assert_eq!(screen.counts(), [7, 1, 0, 0, 0]);
    // of a frame of three packets the second is lost
    screen.fragment(400, 10, 1000, 2500);
    screen.fragment(401, 10, 500, 2500);
    for frame in 11..14 {
        screen.frame(40 * u64::from(frame), frame);
    }
    // frame 11 at 520 ms
    assert_eq!(screen.counts(), [10, 2, 0, 0, 0]);
}

#[test]
fn a_frame_completed_after_its_deadline_is_late() {
    let mut screen = Screen::new(player(80, 80));
    for (millis, frame) in [(0, 0), (40, 1), (110, 3), (150, 4)] {
        screen.frame(millis, frame);
    }
    // frame 2 was due at 120 ms
    screen.frame(170, 2);
    assert_eq!(screen.counts(), [3, 1, 1, 0, 0]);
}

#[test]
fn a_player_without_stalls_skips_missing_frames() {
    let mut screen = Screen::new(Player { stall_on_missing: false, ..player(80, 80) });
    screen.frame(0, 0);
    screen.frame(40, 1);
    screen.until(200);
    // frames 2, 3 and 4 were due at 120, 160 and 200 ms
    assert_eq!(screen.counts(), [2, 3, 0, 0, 0]);
    screen.frame(210, 3);
    screen.frame(220, 5);
    screen.until(240);
    assert_eq!(screen.counts(), [3, 3, 1, 0, 0]);
}

/// Frames of 40 ms, of types in a repeated pattern; those listed are lost, the others complete in time. Played, missed,
/// spoiled of twelve.
fn twelve(pattern: &str, depends: Depends, lost: &[u32]) -> [u64; 3] {
    let pattern = pattern.chars().filter_map(FrameType::of).collect();
    let rate = Rate::from_kbps(200);
    let frames = Frames::Groups { rate, pattern, sizes: [1.0; 3], variation: 0.0 };
    let mut screen = Screen::of(Player { depends, ..player(80, 80) }, frames);
    for frame in (0..20).filter(|frame| !lost.contains(frame)) {
        screen.frame(40 * u64::from(frame), frame);
        if screen.count(Count::FramesPlayed) + screen.count(Count::FramesMissed) + screen.spoiled() == 12 {
            break;
        }
    }
    [screen.count(Count::FramesPlayed), screen.count(Count::FramesMissed), screen.spoiled()]
}

/// Groups of four: of the second one the I frame, number 4, is lost, and 5, 6 and 7 cannot be shown.
#[test]
fn without_its_i_frame_a_group_is_undecodable() {
    assert_eq!(twelve("IBBP", Depends::Intra, &[4]), [8, 1, 3]);
    assert_eq!(twelve("IBBP", Depends::References, &[4]), [8, 1, 3]);
    assert_eq!(twelve("IBBP", Depends::Nothing, &[4]), [11, 1, 0]);
    // a frame that is lost itself counts as lost, not as spoiled
    assert_eq!(twelve("IBBP", Depends::Intra, &[4, 6]), [8, 2, 2]);
}

/// In IPBPBP the P frame 1 is lost: 2 to 5 depend on it. No frame depends on a B frame.
#[test]
fn frames_predicted_from_a_lost_p_frame_are_undecodable() {
    assert_eq!(twelve("IPBPBP", Depends::References, &[1]), [7, 1, 4]);
    assert_eq!(twelve("IPBPBP", Depends::References, &[2]), [11, 1, 0]);
    assert_eq!(twelve("IPBPBP", Depends::Intra, &[1]), [11, 1, 0]);
}

/// A receiver that joins in the middle of a group of pictures can show none of it: frames 2 and 3.
#[test]
fn nothing_is_shown_before_the_first_i_frame() {
    assert_eq!(twelve("IBBP", Depends::Intra, &[0, 1]), [10, 0, 2]);
    assert_eq!(twelve("IBBP", Depends::Nothing, &[0, 1]), [12, 0, 0]);
}

/// An outage from frame 2 to 9 has stalled playback; the I frame 8 is lost, so that 10 and 11 are spoiled as well, and
/// 12 is an I frame.
#[test]
fn a_skipped_gap_makes_frames_undecodable_as_losses_do() {
    let pattern = "IBBP".chars().filter_map(FrameType::of).collect();
    let rate = Rate::from_kbps(200);
    let frames = Frames::Groups { rate, pattern, sizes: [1.0; 3], variation: 0.0 };
    let mut screen = Screen::of(player(80, 80), frames);
    for frame in (0..20).filter(|frame| !(2..10).contains(frame)) {
        screen.frame(40 * u64::from(frame), frame);
    }
    screen.until(800);
    // 0 and 1, and from 12 on; the time of the gap was a stall
    let played = screen.count(Count::FramesPlayed);
    assert_eq!((screen.count(Count::FramesMissed), screen.spoiled(), screen.count(Count::Stalls)), (8, 2, 1));
    assert_eq!(played + 8 + 2, 20);
}

#[test]
fn at_the_end_of_the_video_playing_ends_without_a_stall() {
    let trace = |n: usize| Frames::Trace {
        file: String::new(),
        sizes: vec![1000; n].into(),
        types: Arc::from([]),
        rate: None,
        repeat: false,
    };
    let mut screen = Screen::of(player(80, 80), trace(3));
    (0..3).for_each(|frame| screen.frame(10 * u64::from(frame), frame));
    screen.until(1000);
    assert_eq!(screen.counts(), [3, 0, 0, 0, 0]);
    // less than the start-up threshold in total
    let mut screen = Screen::of(player(500, 80), trace(2));
    (0..2).for_each(|frame| screen.frame(10 * u64::from(frame), frame));
    screen.until(1000);
    assert_eq!(screen.counts(), [2, 0, 0, 0, 0]);
    // the last frame stays incomplete
    let mut screen = Screen::of(player(80, 80), trace(4));
    (0..3).for_each(|frame| screen.frame(10 * u64::from(frame), frame));
    screen.until(1000);
    assert_eq!(screen.counts(), [3, 1, 0, 0, 0]);
}

/// Full with five frames, filling again below two.
#[test]
fn modes_follow_the_buffer_with_two_thresholds() {
    let modes = Modes { filling: "fast".to_owned(), full: "calm".to_owned(), low: ms(80), high: ms(200) };
    let mut screen = Screen::new(Player { modes: Some(modes), ..player(80, 80) });
    assert_eq!(screen.receiver.algorithm().0, ["fast"]);
    for frame in 0..6 {
        screen.frame(u64::from(frame), frame);
    }
    // frame 0 was played at 1 ms, so five are there with frame 5
    assert_eq!(screen.receiver.algorithm().0, ["fast", "calm"]);
    // frames 1, 2, 3 at 41, 81 and 121 ms leave two; frame 4 leaves one
    screen.until(160);
    assert_eq!(screen.receiver.algorithm().0.len(), 2);
    screen.until(161);
    assert_eq!(screen.receiver.algorithm().0, ["fast", "calm", "fast"]);
    // four are not enough to be full
    (6..9).for_each(|frame| screen.frame(162, frame));
    assert_eq!(screen.receiver.algorithm().0.len(), 3);
    screen.frame(163, 9);
    assert_eq!(screen.receiver.algorithm().0, ["fast", "calm", "fast", "calm"]);
    assert_eq!(screen.bench.values("full"), [0.2, 0.2]);
}

#[test]
fn buffer_reports_reach_the_source_repeatedly_and_the_controller_once() {
    let modes = Modes { filling: "fast".to_owned(), full: "calm".to_owned(), low: ms(80), high: ms(200) };
    let player = Player { modes: Some(modes), ..player(80, 80) };
    let mut screen = Screen::new(player.clone());
    for frame in 0..60 {
        screen.frame(if frame < 6 { u64::from(frame) } else { 40 * u64::from(frame) - 200 }, frame);
    }
    // at the first piece, when the buffer is full at 5 ms, and each second from then on
    let messages: Vec<(u64, bool)> = screen
        .sent
        .iter()
        .filter_map(|packet| match packet.header {
            Header::Player { full } => Some((packet.sent_at.as_nanos() / 1_000_000, full)),
            _ => None,
        })
        .collect();
    assert_eq!(messages[..2], [(0, false), (5, true)]);
    assert!(messages.len() == 4 && messages[2..].iter().all(|word| word.1), "{messages:?}");

    let config = Config { jitter: 0.0, video: Some(video()), player: Some(player), ..Config::default() };
    let mut bench = Bench::new(1);
    let algorithm = ModeRecorder { modes: Vec::new(), rate: Rate::from_mbps(1) };
    let mut sender = Sender::new(&config, algorithm, OTHER.into());
    bench.input(&mut sender, Input::Start);
    for mut word in screen.sent {
        (word.source, word.to) = (OTHER, ME.into());
        bench.input(&mut sender, Input::Packet(&word));
    }
    assert_eq!(sender.algorithm().modes, ["fast", "calm"]);
}

#[test]
fn the_buffer_is_a_series() {
    let mut screen = Screen::new(player(80, 80));
    screen.frame(0, 0);
    screen.frame(40, 1);
    screen.frame(60, 2);
    screen.until(100);
    // the first frame is played as the second comes
    assert_eq!(screen.bench.values("buffer"), [0.04, 0.04, 0.08, 0.04]);
}
