//! Live streams over simulated networks.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use contract::EndpointId;
use units::{Duration, Time};

use super::testing::{ALWAYS, AN_HOUR, CALM, End, Folder, GAP, PathModel, ROUGH, Taken, carry};
use super::*;
use crate::{MAX_MESSAGE_BYTES, Status};

/// A program whose pieces come through a channel.
struct Program(Receiver<Vec<u8>>);

impl Read for Program {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let Ok(piece) = self.0.recv() else { return Ok(0) };
        into[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

/// Numbers as a program's pieces, and the result as numbers again.
fn pieces(count: u64) -> Vec<Vec<u8>> {
    (0..count).map(|number| number.to_be_bytes().to_vec()).collect()
}

fn numbers(taken: &Taken) -> Vec<u64> {
    let bytes = taken.bytes();
    bytes.as_chunks::<8>().0.iter().map(|piece| u64::from_be_bytes(*piece)).collect()
}

/// A live stream of this many pieces, read without a thread, so that no scheduler decides what is sent when.
fn stream(count: u64, deadline: Duration, tally: &Arc<Tally>) -> LiveStream {
    let (to_source, read) = channel();
    for piece in pieces(count) {
        to_source.send(piece).expect("the source is there");
    }
    LiveStream::of_pieces(read, "live", 1, 200, deadline, Arc::clone(tally))
}

/// A live stream of this many pieces over such a network.
fn live(count: u64, model: PathModel, deadline: Duration) -> (Vec<u64>, Snapshot, Snapshot, Status) {
    let (sent, got, taken) = (Arc::new(Tally::default()), Arc::new(Tally::default()), Taken::default());
    let mut source = stream(count, deadline, &sent);
    let mut sink = Playout::new(Box::new(taken.clone()), Arc::clone(&got));
    let ends = &mut [End { sink: &mut sink, model, present: ALWAYS }];
    let status = carry(&mut source, ends, 200, AN_HOUR).status;
    (numbers(&taken), sent.snapshot(), got.snapshot(), status)
}

#[test]
fn over_a_calm_network_a_live_stream_comes_out_as_it_went_in() {
    let (numbers, sent, got, status) = live(200, CALM, Duration::from_secs(1));
    assert_eq!(status, Status::Complete);
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
    assert_eq!((sent.sent[0], sent.sent[2], got.late, got.dropped), (200, 0, 0, 0));
}

#[test]
fn what_is_lost_is_asked_for_again_while_there_is_time() {
    let (numbers, sent, got, status) = live(200, ROUGH, Duration::from_secs(2));
    assert_eq!(status, Status::Complete);
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
    assert!(sent.sent[2] >= 10, "a tenth came again: {:?}", sent.sent);
    assert_eq!((got.late, got.dropped), (0, 0));
}

#[test]
fn where_there_is_no_time_the_order_is_kept_and_gaps_are_counted() {
    // a way there takes 10 ms, so nothing can come again within 15
    let model = PathModel { loss: 0.2, ..CALM };
    let (numbers, sent, got, status) = live(140, model, Duration::from_millis(15));
    assert_eq!(status, Status::Complete);
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert!((98..=126).contains(&numbers.len()), "a fifth is lost: {}", numbers.len());
    assert_eq!(numbers.len() as u64 + got.late, 140);
    assert_eq!((sent.sent[0], got.dropped), (140, 0));
}

#[test]
fn what_became_too_old_at_the_source_is_not_sent() {
    let (to_thread, from_program) = channel();
    let tally = Arc::new(Tally::default());
    let deadline = Duration::from_millis(100);
    let mut source =
        LiveStream::new(Box::new(Program(from_program)), "live", 1, 200, deadline, Arc::clone(&tally));
    for piece in pieces(50) {
        to_thread.send(piece).expect("the thread is there");
    }
    drop(to_thread);
    use crate::Payload;
    source.on_join(EndpointId(1));
    // all is read at the beginning, however long that takes the thread
    while !source_has_read(&mut source) {
        std::thread::yield_now();
    }
    let (mut room, mut now, mut last) = ([0; 200], Time::ZERO, 0);
    // one packet in 10 ms: a tenth of them is in time
    for seq in 0..100 {
        let length = source.fill(seq, now, &mut room);
        if let Some(messages::Content::Chunk { last: true, bytes, .. }) =
            messages::read_content(&room[..length])
        {
            last = u64::from_be_bytes(*bytes.first_chunk().expect("eight bytes"));
        }
        now += GAP * 100;
    }
    let observed = tally.snapshot();
    assert!((9..=11).contains(&observed.sent[0]), "{:?}", observed.sent);
    assert_eq!(observed.sent[0] + observed.dropped, 50);
    assert_eq!(last, observed.dropped, "the receiver is told how many");
}

/// A film of this many pieces per second over a path on which a packet may leave every 10 ms, and takes 20 ms and up to
/// `peak` more, growing and shrinking in this period. Returns the tallies of both ends.
fn slow_path(
    pieces_per_s: u64,
    deadline: Duration,
    peak: Duration,
    period: Duration,
) -> (Snapshot, Snapshot) {
    use crate::{Payload, Sink};
    const WAY: Duration = Duration::from_millis(20);
    let (film, read) = channel();
    let (sent, got, taken) = (Arc::new(Tally::default()), Arc::new(Tally::default()), Taken::default());
    let mut source = LiveStream::of_pieces(read, "live", 1, 200, deadline, Arc::clone(&sent));
    let mut sink = Playout::new(Box::new(taken), Arc::clone(&got));
    source.on_join(EndpointId(1));
    let (mut film, mut written) = (Some(film), 0);
    let (mut forward, mut back) = (VecDeque::new(), VecDeque::new());
    let (mut room, mut message, mut last) = ([0; 200], [0; MAX_MESSAGE_BYTES], Time::ZERO);
    for ms in 0u64.. {
        let now = Time::ZERO + Duration::from_millis(ms);
        if let Some(to_source) = &film {
            while written * 1000 < pieces_per_s * ms {
                written += 1;
                to_source.send(vec![0; 100]).expect("the source is there");
            }
        }
        if ms == 20_000 {
            film = None;
        }
        if ms % 10 == 0 && source.ready(now) <= now {
            let length = source.fill(ms / 10, now, &mut room);
            let phase = (ms % (period.as_nanos() / 1_000_000)) as f64 * 1e6 / period.as_nanos() as f64;
            last = last.max(now + WAY + peak.scaled(1.0 - (2.0 * phase - 1.0).abs()));
            forward.push_back((last, room[..length].to_vec()));
        }
        let due = |queue: &mut VecDeque<(Time, Vec<u8>)>| {
            queue.front().is_some_and(|(at, _)| *at <= now).then(|| queue.pop_front()).flatten()
        };
        while let Some((_, bytes)) = due(&mut forward) {
            sink.take(0, now, &bytes);
        }
        loop {
            let length = sink.write_message(now, &mut message);
            if length == 0 {
                break;
            }
            back.push_back((now + WAY, message[..length].to_vec()));
        }
        while let Some((_, bytes)) = due(&mut back) {
            source.on_message(EndpointId(1), now, &bytes);
        }
        if source.status() != Status::InProgress {
            break;
        }
        assert!(ms < 60_000, "it ends");
        // the thread that writes has no simulated time
        while sink.is_writing() {
            std::thread::yield_now();
        }
    }
    (sent.snapshot(), got.snapshot())
}

#[test]
fn what_cannot_be_in_time_is_dropped_at_the_source_and_what_is_late_is_said_there() {
    let ms = Duration::from_millis;
    for (rate, peak, period) in [(200, 100, 2000), (200, 250, 3000), (120, 200, 1000), (400, 0, 1000)] {
        let (sent, got) = slow_path(rate, ms(500), ms(peak), ms(period));
        assert_eq!(sent.late, got.late, "both ends say it");
        assert_eq!(sent.sent[0] + sent.dropped, 20 * rate);
        assert!(got.late * 50 <= sent.sent[0], "{} of {} were late", got.late, sent.sent[0]);
        assert!(sent.sent[0] >= 1800, "the path is used: {}", sent.sent[0]);
    }
}

#[test]
fn a_film_that_fits_loses_nothing_for_the_delay_of_its_path() {
    let ms = Duration::from_millis;
    let (sent, got) = slow_path(80, ms(500), ms(200), ms(2000));
    assert_eq!((sent.dropped, sent.late, got.late), (0, 0, 0));
}

#[test]
fn a_path_slower_than_the_deadline_is_noticed_at_both_ends() {
    let ms = Duration::from_millis;
    let (sent, got) = slow_path(80, ms(500), ms(900), ms(2000));
    assert!(got.late > 0);
    assert_eq!((sent.late, sent.dropped), (got.late, got.dropped));
}

/// The second of two receivers is not there when the first pieces leave. It says how many it lacks.
#[test]
fn a_receiver_that_comes_when_a_live_stream_is_under_way_gets_it_from_now_on() {
    let mut source = stream(2000, Duration::from_secs(3600), &Arc::default());
    let tallies = [Arc::new(Tally::default()), Arc::new(Tally::default())];
    let taken = [Taken::default(), Taken::default()];
    let mut sinks = [0, 1].map(|n| Playout::new(Box::new(taken[n].clone()), Arc::clone(&tallies[n])));
    let [first, second] = &mut sinks;
    let late = Time::ZERO + Duration::from_millis(50);
    let mut ends = [
        End { sink: first, model: CALM, present: ALWAYS },
        End { sink: second, model: CALM, present: late..Time::NEVER },
    ];
    let run = carry(&mut source, &mut ends, 200, AN_HOUR);
    assert_eq!(run.status, Status::Complete);
    let [whole, rest] = [0, 1].map(|n| (numbers(&taken[n]), tallies[n].snapshot()));
    assert_eq!((whole.0.len(), whole.1.missed), (2000, 0));
    // one in 100 µs, some of them announcements, and those that were under way
    assert!((350..=500).contains(&rest.1.missed), "{}", rest.1.missed);
    assert_eq!(rest.0, (rest.1.missed..2000).collect::<Vec<_>>());
    assert_eq!((rest.1.late, rest.1.dropped), (0, 0));
}

fn source_has_read(source: &mut LiveStream) -> bool {
    use crate::Payload;
    source.ready(Time::ZERO);
    source.has_ended()
}

#[test]
fn a_live_stream_is_not_taken_for_a_file() {
    let (to, (to_thread, from_program)) = (Folder::new(), channel());
    to_thread.send(vec![1]).expect("the program is there");
    let mut source = LiveStream::new(
        Box::new(Program(from_program)),
        "live",
        1,
        200,
        Duration::from_secs(1),
        Arc::default(),
    );
    let into = Destination::Folder { path: to.0.clone(), name: None, replace: false, me: None };
    let mut sink = Collector::new(into, Arc::default());
    let ends = &mut [End { sink: &mut sink, model: CALM, present: ALWAYS }];
    let run = carry(&mut source, ends, 200, Time::ZERO + Duration::from_secs(2));
    assert!(matches!(run.status, Status::Failed(why) if why.contains("a live stream, not a file")));
}
