//! End-to-end tests of live streams with a simulated clock.

use std::sync::mpsc::{Sender, channel};

use transfer::{LiveStream, Pace, Playout, Snapshot, Tally};

use super::*;
use crate::End;

/// A program that writes a piece at equal intervals, the first of them at once: earlier ones waited in a pipe.
struct Camera {
    inner: LiveStream,
    to: Option<Sender<Vec<u8>>>,
    began: Option<Time>,
    every: Duration,
    waiting: u64,
    made: u64,
    all: u64,
}

impl Camera {
    fn feed(&mut self, now: Time) {
        let began = *self.began.get_or_insert(now);
        let due = self.waiting + now.saturating_since(began).as_nanos() / self.every.as_nanos();
        while self.made < due.min(self.all) {
            if let Some(to) = &self.to {
                to.send(vec![self.made as u8; PIECE]).expect("the stream is there");
            }
            self.made += 1;
        }
        if self.made == self.all {
            self.to = None;
        }
    }
}

impl Payload for Camera {
    fn fill(&mut self, seq: u64, now: Time, room: &mut [u8]) -> usize {
        self.feed(now);
        self.inner.fill(seq, now, room)
    }
    fn ready(&mut self, now: Time) -> Time {
        self.feed(now);
        self.inner.ready(now)
    }
    fn pace(&mut self, now: Time) -> Pace {
        self.feed(now);
        self.inner.pace(now)
    }
    fn on_join(&mut self, peer: EndpointId) {
        self.inner.on_join(peer);
    }
    fn on_message(&mut self, from: EndpointId, now: Time, frame: &[u8]) {
        self.inner.on_message(from, now, frame);
    }
    fn status(&self) -> Status {
        self.inner.status()
    }
}

const PIECE: usize = 1200;
const DEADLINE: Duration = Duration::from_millis(500);

/// Four seconds of a stream of 3 Mbit/s; returns the reports of both ends.
fn three_mbps(scheme: Scheme, delay: Duration) -> (Snapshot, Snapshot) {
    let net = VirtualNetwork::plain(delay);
    let (a, b) = addresses();
    let (mut here, mut there) = (net.host(a, ms(1)), net.host(b, ms(0)));
    let tallies = [Arc::new(Tally::default()), Arc::new(Tally::default())];
    let (to, from) = channel();
    let room = 1428 - 48 - wire::stream::DATA;
    let inner = LiveStream::of_pieces(from, "live", 1, room, DEADLINE, Arc::clone(&tallies[0]));
    let mut about = Vec::new();
    inner.manifest().write(&mut about);
    let every = Duration::from_nanos(PIECE as u64 * 8 * 1_000_000_000 / 3_000_000);
    let camera = Camera { inner, to: Some(to), began: None, every, waiting: 50, made: 0, all: 1250 };
    let sending = thread::spawn(move || {
        send(
            &settings(Handshake::Connect(b)),
            &scheme,
            Outgoing::Paced(Box::new(camera)),
            about,
            &mut here,
            &Control::new(),
        )
    });
    let tally = Arc::clone(&tallies[1]);
    let receiving = thread::spawn(move || {
        let mut accept = |offer: &wire::stream::Offer| {
            assert!(transfer::offered(offer).is_some());
            let sink = Playout::new(Box::new(std::io::sink()), Arc::clone(&tally));
            Ok(Incoming::Paced(Box::new(sink)))
        };
        receive(&settings(Handshake::Listen), &mut accept, &mut there, &Control::new())
    });
    let sent = sending.join().expect("the sender does not panic");
    let got = receiving.join().expect("the receiver does not panic");
    assert_eq!((sent.end, got.end), (End::Complete, End::Complete));
    (tallies[0].snapshot(), tallies[1].snapshot())
}

#[test]
fn a_live_stream_loses_nothing_at_its_start() {
    for mode in ["background", "real_time"] {
        for delay in [Duration::from_micros(50), ms(5), ms(15)] {
            let scheme = Scheme { mode: Some(mode.to_owned()), ..Scheme::new("cvihis") };
            let (sent, got) = three_mbps(scheme, delay);
            assert_eq!((sent.dropped, got.dropped, got.late, got.missed), (0, 0, 0, 0), "{mode}, {delay}");
            assert_eq!(sent.sent[0], 1250);
        }
    }
}

/// The test can fail: with the scheme's own initial rate it does.
#[test]
fn from_an_initial_rate_below_its_own_a_live_stream_loses_its_beginning() {
    let params = vec![("initial_rate".to_owned(), "500 kbit/s".into())];
    let (sent, _) = three_mbps(Scheme { params, ..Scheme::new("cvihis") }, ms(15));
    assert!(sent.dropped > 20, "{}", sent.dropped);
}
