use std::sync::Arc;

use super::*;
use crate::datagram::DurationDistribution;
use units::Rate;

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn app(config: &Config, connections: usize) -> App {
    App::new(config, connections, Random::new(1, "app", ""))
}

fn requests(app: &mut App) -> Vec<(usize, u64)> {
    app.take_requests().map(|request| (request.connection, request.total)).collect()
}

fn rounds(size: u64, think: Option<DurationDistribution>, count: u32) -> Config {
    Config::Rounds(Rounds { sizes: Sizes::Fixed(Bytes::new(size)), think, count })
}

#[test]
fn a_round_ends_with_the_last_answer_and_the_next_one_follows_after_the_think_time() {
    let mut app = app(&rounds(1000, Some(DurationDistribution::Constant(Duration::from_millis(50))), 2), 2);
    app.start(at(0));
    assert_eq!(requests(&mut app), [(0, 1000), (1, 1000)]);
    assert_eq!(app.next_event_at(0), 1, "the first byte");
    app.on_delivered(0, 1, at(10));
    assert_eq!(app.next_event_at(0), 1000);
    app.on_delivered(0, 1000, at(20));
    assert_eq!(
        (requests(&mut app), app.next_event_at(0)),
        (vec![], u64::MAX),
        "the barrier holds the first one"
    );
    app.on_delivered(1, 1000, at(30));
    assert_eq!(app.wake(), at(80));
    app.on_timer(|_| 1000, at(80));
    assert_eq!(requests(&mut app), [(0, 2000), (1, 2000)], "requests are cumulative");
    for connection in 0..2 {
        app.on_delivered(connection, 2000, at(95));
    }
    assert_eq!((requests(&mut app), app.wake()), (vec![], at(145)));
    app.on_timer(|_| 2000, at(145));
    assert_eq!(requests(&mut app), [], "two rounds are all");
    let spans: Vec<_> =
        app.exchanges().iter().map(|one| (one.started_at, one.completed_at, one.bytes)).collect();
    assert_eq!(spans, [(at(0), at(30), 2000), (at(80), at(95), 2000)]);
}

#[test]
fn a_request_is_repeated_after_a_second_then_two_until_something_arrives() {
    let mut app = app(&rounds(5000, None, 1), 1);
    app.start(at(0));
    requests(&mut app);
    assert_eq!(app.wake(), at(1000));
    app.on_timer(|_| 0, at(999));
    assert_eq!(requests(&mut app), []);
    app.on_timer(|_| 0, at(1000));
    assert_eq!((requests(&mut app), app.wake()), (vec![(0, 5000)], at(3000)));
    app.on_timer(|_| 0, at(3000));
    assert_eq!((requests(&mut app), app.wake()), (vec![(0, 5000)], at(7000)));
    app.on_delivered(0, 1, at(3100));
    assert_eq!(app.wake(), Time::NEVER);
}

#[test]
fn a_stopped_client_completes_what_is_under_way() {
    let mut app = app(&rounds(10, None, u32::MAX), 1);
    app.start(at(0));
    app.stop();
    requests(&mut app);
    app.on_delivered(0, 10, at(5));
    assert_eq!((requests(&mut app), app.exchanges()[0].completed_at), (vec![], at(5)));
}

fn object(size: u64, after: &[u32], delay_ms: u64) -> Object {
    Object { size: Bytes::new(size), after: after.to_vec(), delay: Duration::from_millis(delay_ms) }
}

fn page(multiplex: bool) -> Config {
    // a document, a script and a picture that it names, and a picture that the script asks for after 5 ms
    let objects = [object(100, &[], 0), object(50, &[0], 0), object(70, &[0], 0), object(30, &[1], 5)];
    Config::Page(Page { objects: Arc::new(objects), multiplex, think: None, count: 1 })
}

#[test]
fn objects_of_a_page_are_asked_for_when_those_before_them_have_arrived() {
    let mut app = app(&page(false), 2);
    app.start(at(0));
    assert_eq!(requests(&mut app), [(0, 100)]);
    app.on_delivered(0, 100, at(10));
    assert_eq!(requests(&mut app), [(0, 150), (1, 70)]);
    app.on_delivered(0, 150, at(20));
    assert_eq!((requests(&mut app), app.wake()), (vec![], at(25)));
    app.on_timer(|_| 0, at(25));
    assert_eq!(requests(&mut app), [(0, 180)]);
    app.on_delivered(0, 180, at(30));
    app.on_delivered(1, 70, at(42));
    let load = app.exchanges()[0];
    assert_eq!((load.completed_at, load.bytes), (at(42), 250));
}

#[test]
fn with_one_connection_objects_wait_or_are_asked_for_together() {
    let mut plain = app(&page(false), 1);
    let mut multiplexed = app(&page(true), 1);
    for app in [&mut plain, &mut multiplexed] {
        app.start(at(0));
        requests(app);
        app.on_delivered(0, 100, at(10));
    }
    assert_eq!(requests(&mut plain), [(0, 150)]);
    assert_eq!(requests(&mut multiplexed), [(0, 150), (0, 220)]);
    plain.on_delivered(0, 150, at(20));
    assert_eq!(requests(&mut plain), [(0, 220)]);
    // the object that is ready at 25 ms waits for the connection
    plain.on_timer(|_| 150, at(25));
    assert_eq!((requests(&mut plain), plain.wake()), (vec![], at(1020)), "only the timer of the request");
    plain.on_delivered(0, 220, at(30));
    assert_eq!(requests(&mut plain), [(0, 250)]);
}

fn player(count: u32) -> Config {
    // segments of 1 s at 8 and 16 kbit/s: 1000 and 2000 bytes
    let seconds = Duration::from_secs;
    Config::Player(Player {
        rates: vec![Rate::from_kbps(8), Rate::from_kbps(16)],
        segment: seconds(1),
        count,
        rule: Rule::Throughput,
        start: Rate::from_kbps(8),
        buffer: seconds(3),
        buffer_at_top: seconds(3),
        startup: seconds(2),
        ..Player::default()
    })
}

/// Segments of 1000 B, each with its first byte after 0.1 s. Complete at 0.6 s and 1.2 s: playback starts at 1.2 s with
/// 2 s in the buffer. The third arrives at 5.2 s: the buffer was empty at 3.2 s, and 1 s is not enough to resume; the
/// fourth arrives at 6.2 s. Stalled: 3 s.
#[test]
fn a_player_starts_stalls_and_resumes_by_its_buffer() {
    let mut app = app(&player(4), 1);
    app.start(at(0));
    let mut total = 0;
    for (begun_ms, done_ms) in [(100, 600), (700, 1200), (1300, 5200), (5300, 6200)] {
        assert_eq!(requests(&mut app), [(0, total + 1000)], "below 0.9 of 16 kbit/s the lower quality");
        app.on_delivered(0, total + 1, at(begun_ms));
        total += 1000;
        if done_ms == 5200 {
            let playback = app.playback(at(4200)).expect("a player");
            assert_eq!((playback.stalls, playback.stalled), (1, Duration::from_secs(1)));
        }
        app.on_delivered(0, total, at(done_ms));
    }
    let playback = app.playback(at(60_000)).expect("a player");
    assert_eq!(playback.startup, Some(Duration::from_millis(1200)));
    assert_eq!((playback.stalls, playback.stalled), (1, Duration::from_secs(3)));
    assert_eq!((playback.segments, playback.switches), (4, 0));
    // 8 kbit/s − 16 kbit/s² · (3 + 1.2) s / 4
    let qoe = playback.qoe_bps(16_000.0).expect("segments");
    assert!((qoe - (8000.0 - 16_000.0 * 4.2 / 4.0)).abs() < 1e-6, "{qoe}");
}

/// 1000 B in 0.1 s are 80 kbit/s: the second segment has the higher quality, which is the only switch, of 8 kbit/s.
/// Three segments fill the buffer: the next request is 3 s − 3 s + the time since then later.
#[test]
fn a_player_rises_and_pauses_at_a_full_buffer() {
    let mut app = app(&player(u32::MAX), 1);
    app.start(at(0));
    assert_eq!(requests(&mut app), [(0, 1000)]);
    app.on_delivered(0, 1, at(100));
    app.on_delivered(0, 1000, at(200));
    assert_eq!(requests(&mut app), [(0, 3000)]);
    app.on_delivered(0, 1001, at(250));
    app.on_delivered(0, 3000, at(300));
    // 2 s, and it plays
    assert_eq!(requests(&mut app), [(0, 5000)]);
    app.on_delivered(0, 3001, at(350));
    app.on_delivered(0, 5000, at(400));
    // 2.9 s
    assert_eq!(requests(&mut app), [(0, 7000)]);
    app.on_delivered(0, 5001, at(450));
    app.on_delivered(0, 7000, at(500));
    // 3.8 s: it pauses until 3 s are left
    assert_eq!(requests(&mut app), []);
    let wake = app.wake();
    assert_eq!(wake, at(1300) + Duration::from_nanos(1));
    app.on_timer(|_| 7000, wake);
    assert_eq!(requests(&mut app), [(0, 9000)]);
    let playback = app.playback(at(500)).expect("a player");
    assert_eq!((playback.switches, playback.change_sum_bps), (1, 8000.0));
}

/// A segment of 4 s at 4 Mbit/s, 2 MB, comes with 600 kbit/s, 3750 B each 50 ms: 26.7 s, longer than 1.8 · 4 s. After
/// 500 ms it is abandoned for 1 Mbit/s, 500 kB, because 1.96 MB are left. The sender has sent 100 kB and skips the
/// rest. For 10 s the quality does not rise, though the next segments come at 40 Mbit/s; then it does.
#[test]
fn a_player_abandons_a_request_that_takes_too_long() {
    let config = Player {
        rates: [1, 4].map(Rate::from_mbps).into(),
        start: Rate::from_mbps(4),
        buffer: Duration::from_secs(100),
        ..Player::default()
    };
    let mut app = app(&Config::Player(config), 1);
    app.start(at(0));
    assert_eq!(requests(&mut app), [(0, 2_000_000)]);
    for event in 0..11 {
        app.on_delivered(0, 1000 + 3750 * event, at(100 + 50 * event));
        assert_eq!((requests(&mut app), app.next_event_at(0)), (vec![], 0), "{event}");
    }
    app.on_delivered(0, 1000 + 3750 * 11, at(650));
    let asked: Vec<_> = app.take_requests().collect();
    assert_eq!(asked, [Request { connection: 0, total: 2_500_000, abandoned: 2_000_000 }]);
    // what is under way of it comes, and is worth nothing; a request that got lost is repeated nevertheless
    app.on_delivered(0, 50_000, at(800));
    assert_eq!(app.wake(), at(1650));
    app.on_timer(|_| 80_000, at(1650));
    assert_eq!(requests(&mut app), [(0, 2_500_000)]);
    assert_eq!(app.next_event_at(0), 0);
    app.on_delivered(0, 2_000_000, at(1700));
    assert_eq!(app.exchanges()[0].completed_at, Time::NEVER);
    assert_eq!(app.next_event_at(0), 2_000_001, "the lowest quality is not abandoned");
    let (mut total, mut now) = (2_000_000, 1800);
    for segment in 0..9 {
        app.on_delivered(0, total + 1, at(now));
        app.on_delivered(0, total + 500_000, at(now + 100));
        total += 500_000;
        now += 1000;
        // from 650 ms to 10 650 ms
        assert_eq!(requests(&mut app), [(0, total + 500_000)], "{segment}");
    }
    app.on_delivered(0, total + 1, at(now));
    app.on_delivered(0, total + 500_000, at(now + 100));
    assert_eq!(requests(&mut app), [(0, total + 500_000 + 2_000_000)], "at {} ms", now + 100);
    let first = app.exchanges()[0];
    assert_eq!((first.started_at, first.completed_at, first.bytes), (at(0), at(1900), 500_000));
    assert_eq!((first.abandoned, first.segment.map(|it| it.0)), (1, Some(0)));
    assert_eq!(app.playback(at(now)).map(|it| it.abandoned), Some(1));
}

/// A slow download is not abandoned where less is left than the lower quality has, or where the player never does.
#[test]
fn a_player_completes_a_request_that_is_worth_it() {
    let slow = |abandon: bool, before: u64| {
        let rates = [1, 4].map(Rate::from_mbps).into();
        let config = Player { rates, start: Rate::from_mbps(4), abandon, ..Player::default() };
        let mut app = app(&Config::Player(config), 1);
        app.start(at(0));
        requests(&mut app);
        for event in 0..20 {
            app.on_delivered(0, before + 3750 * event, at(100 + 50 * event));
        }
        requests(&mut app).len()
    };
    assert_eq!([slow(true, 1000), slow(true, 1_470_000), slow(false, 1000)], [1, 0, 0]);
}

/// Sums of (a + b)/2 · (p(b) − p(a)) by hand: 1 711 250 B, and 12 658 198.6 B.
#[test]
fn published_distributions_have_the_means_of_their_tables() {
    let mean = |points: &[(u64, f64)]| Sizes::Table(points.into()).mean();
    assert!((mean(WEB_SEARCH) - 1_711_250.0).abs() < 1e-3, "{}", mean(WEB_SEARCH));
    assert!((mean(DATA_MINING) - 12_658_198.6).abs() < 1e-3, "{}", mean(DATA_MINING));
}

#[test]
fn drawn_sizes_follow_the_table() {
    let sizes = Sizes::Table(WEB_SEARCH.into());
    let mut random = Random::new(1, "sizes", "");
    let drawn: Vec<u64> = (0..100_000).map(|_| sizes.draw(&mut random).as_u64()).collect();
    for &(size, p) in WEB_SEARCH {
        let share = drawn.iter().filter(|one| **one <= size).count() as f64 / 1e5;
        // three standard deviations of a share of 100 000
        assert!((share - p).abs() <= 3.0 * (p * (1.0 - p) / 1e5).sqrt() + 1e-12, "{share} for {p} at {size}");
    }
    // a mass at one point: half of all sizes are exactly 7
    let step = Sizes::Table([(7, 0.5), (7, 0.5), (9, 1.0)].as_slice().into());
    let sevens = (0..1000).filter(|_| step.draw(&mut random).as_u64() == 7).count();
    assert!((700..800).contains(&sevens), "half, and half of those between 7 and 9: {sevens}");
}

#[test]
fn sizes_by_formula_have_their_mean() {
    let mut random = Random::new(1, "sizes", "");
    let mean = Bytes::new(100_000);
    for sizes in [Sizes::Pareto { mean, shape: 3.0 }, Sizes::LogNormal { mean, variation: 1.0 }] {
        let sum: f64 = (0..100_000).map(|_| sizes.draw(&mut random).as_f64()).sum();
        assert!((sum / 1e5 / 100_000.0 - 1.0).abs() < 0.02, "{sizes:?}: {}", sum / 1e5);
        assert_eq!(sizes.mean(), 100_000.0);
    }
}
