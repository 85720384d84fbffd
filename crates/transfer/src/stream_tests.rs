//! Tests of byte streams in order.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use contract::{EndpointId, Random};
use units::{Duration, Time};

use super::messages::{Message, MissingSymbols, Report};
use super::testing::{Folder, Taken, content};
use super::*;
use crate::{ByteSink, ByteSource, MAX_MESSAGE_BYTES, Pause, Status};

/// Carries a byte stream as a windowed machine does: up to a window of segments at a time, each lost, doubled or
/// reordered, again and again until it has arrived. Ends when the source is done, or after this many rounds of a
/// millisecond, the first of which is `from`.
fn flow(source: &mut dyn ByteSource, sink: &mut dyn ByteSink, from: u64, rounds: u64) {
    const SEGMENT: u64 = 1000;
    let mut random = Random::new(from, "transfer", "segments");
    let (mut there, mut acknowledged) = (BTreeMap::<u64, u64>::new(), 0);
    let mut now = Time::ZERO + Duration::from_millis(from);
    let mut message = [0; MAX_MESSAGE_BYTES];
    source.on_join(EndpointId(1));
    sink.on_open();
    for _ in 0..rounds {
        for _ in 0..4 {
            let length = sink.write_message(now, &mut message);
            if length > 0 && random.uniform(0.0, 1.0) < 0.7 {
                source.on_message(EndpointId(1), now, &message[..length]);
            }
        }
        let ready = source.ready(now);
        let mut segments: Vec<u64> = (acknowledged..ready).step_by(SEGMENT as usize).take(40).collect();
        for at in 0..segments.len() {
            let other = (random.uniform(0.0, segments.len() as f64) as usize).min(segments.len() - 1);
            segments.swap(at, other);
        }
        for seq in segments {
            let mut bytes = vec![0; (ready - seq).min(SEGMENT) as usize];
            source.read(seq, &mut bytes);
            for _ in 0..2 {
                if random.uniform(0.0, 1.0) < 0.5 && sink.write(seq, &bytes) {
                    there.insert(seq, seq + bytes.len() as u64);
                }
            }
        }
        while let Some((_, end)) =
            there.range(..=acknowledged).next_back().filter(|(_, end)| **end > acknowledged)
        {
            acknowledged = *end;
        }
        sink.on_contiguous(acknowledged, now);
        source.on_accepted(acknowledged);
        now += Duration::from_millis(1);
        if source.status() != Status::InProgress {
            return;
        }
    }
}

fn file_bytes(folder: &Folder, bytes: &[u8]) -> (BlockSource, Manifest) {
    let (path, tally) = (folder.file("source.bin", bytes), Arc::new(Tally::default()));
    let (store, manifest) = FileStore::open(&path, "film.bin", 1000, &tally, &|| true)
        .expect("the file is there")
        .expect("nobody said stop");
    (BlockSource::new(store, &manifest, tally), manifest)
}

/// A receiver of a file.
fn blocks(manifest: &Manifest, into: Destination) -> (BlockSink, Arc<Tally>) {
    let tally = Arc::new(Tally::default());
    (BlockSink::new(manifest.clone(), into, 1 << 20, Arc::clone(&tally)), tally)
}

fn folder_of(to: &Folder) -> Destination {
    Destination::Folder { path: to.0.clone(), name: None, replace: false, me: None }
}

fn open(manifest: &Manifest, into: Destination) -> (Reassembly, Arc<Tally>) {
    let tally = Arc::new(Tally::default());
    let reassembly = Reassembly::open(manifest.clone(), into, 1 << 20, Arc::clone(&tally));
    (reassembly.expect("there is room"), tally)
}

#[test]
fn a_file_arrives_in_order_whatever_its_length() {
    for length in [0, 1, 999, 1000, 1001, 700_000] {
        let (from, to, bytes) = (Folder::new(), Folder::new(), content(length));
        let (mut source, manifest) = file_bytes(&from, &bytes);
        let (mut sink, tally) = blocks(&manifest, folder_of(&to));
        flow(&mut source, &mut sink, 0, 5000);
        assert_eq!((source.status(), sink.status()), (Status::Complete, Status::Complete), "{length} bytes");
        assert_eq!(std::fs::read(to.0.join("film.bin")).expect("it arrived"), bytes);
        assert_eq!(to.names(), ["film.bin"]);
        assert_eq!(tally.snapshot().done, length as u64);
    }
}

#[test]
fn a_receiver_that_was_killed_and_one_that_was_only_lost_go_on() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(2_000_000));
    let (mut source, manifest) = file_bytes(&from, &bytes);
    let (mut killed, _) = blocks(&manifest, folder_of(&to));
    flow(&mut source, &mut killed, 0, 100);
    assert_eq!(killed.status(), Status::InProgress);
    drop(killed);
    let (mut retransmit, tally) = blocks(&manifest, folder_of(&to));
    // the same receiver, in two sessions
    flow(&mut source, &mut retransmit, 0, 60);
    assert_eq!(retransmit.status(), Status::InProgress);
    flow(&mut source, &mut retransmit, 60, 5000);
    assert_eq!((source.status(), retransmit.status()), (Status::Complete, Status::Complete));
    let resumed = tally.snapshot().resumed;
    assert!(resumed > 0 && resumed % 256_000 == 0, "whole blocks: {resumed}");
    assert_eq!(std::fs::read(to.0.join("film.bin")).expect("it arrived"), bytes);
}

#[test]
fn what_a_program_writes_arrives_as_it_was_written() {
    for length in [0, 1, 16_384, 16_385, 300_000] {
        for to_file in [false, true] {
            let (to, bytes, taken) = (Folder::new(), content(length), Taken::default());
            let from = Box::new(Cursor::new(bytes.clone()));
            let (mut source, manifest) = Bytes::of_pipe(from, "film.bin", 5, Arc::default());
            let into = if to_file { folder_of(&to) } else { Destination::Pipe(Box::new(taken.clone())) };
            let (mut sink, tally) = open(&manifest, into);
            // the reading and the writing thread run by themselves
            for turn in 0..10_000 {
                flow(&mut source, &mut sink, 500 * turn, 500);
                if source.status() != Status::InProgress {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            assert_eq!((source.status(), sink.status()), (Status::Complete, Status::Complete), "{length}");
            let got = if to_file {
                std::fs::read(to.0.join("film.bin")).expect("it arrived")
            } else {
                taken.bytes()
            };
            assert_eq!(got, bytes);
            assert_eq!(tally.snapshot().total, length as u64);
        }
    }
}

#[test]
fn a_receiver_that_begins_anew_when_the_beginning_is_gone_is_told_so() {
    let (bytes, sent) = (content(5_000_000), Arc::new(Tally::default()));
    let (mut source, manifest) = Bytes::of_memory(&bytes, "film.bin", 5, Arc::clone(&sent));
    let (mut first, _) = open(&manifest, Destination::Pipe(Box::new(Taken::default())));
    source.on_join(EndpointId(1));
    source.on_message(EndpointId(1), Time::ZERO, &nothing_yet(&mut first));
    // too few rounds for all of it
    flow(&mut source, &mut first, 1, 100);
    assert_eq!(source.status(), Status::InProgress);
    assert!(sent.snapshot().done > 0, "the transport accepted the beginning, and it is not kept");
    drop(first);
    let (mut second, _) = open(&manifest, Destination::Pipe(Box::new(Taken::default())));
    flow(&mut source, &mut second, 0, 1000);
    assert!(
        matches!(source.status(), Status::Failed(why) if why.contains("beginning of the stream was gone"))
    );
}

/// A program that writes this much and then pauses for ever.
struct Pauses(Cursor<Vec<u8>>, Receiver<()>);

impl Read for Pauses {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let length = self.0.read(room)?;
        if length == 0 {
            // until the test is over
            let _ = self.1.recv();
        }
        Ok(length)
    }
}

/// What the transport accepted is not what the receiver has: until it reports everything, the pause is not the
/// program's.
#[test]
fn a_pause_is_that_of_the_program_when_the_receiver_has_everything() {
    let (finished, paused) = channel();
    let program = Pauses(Cursor::new(content(50_000)), paused);
    let (mut source, manifest) = Bytes::of_pipe(Box::new(program), "film.bin", 5, Arc::default());
    let (mut sink, _) = open(&manifest, Destination::Pipe(Box::new(Taken::default())));
    source.on_join(EndpointId(1));
    source.on_message(EndpointId(1), Time::ZERO, &nothing_yet(&mut sink));
    // the reading thread runs by itself; four records
    let total = 50_000 + 4 * 2;
    while source.ready(Time::ZERO) < total {
        std::thread::yield_now();
    }
    let mut bytes = vec![0; total as usize];
    source.read(0, &mut bytes);
    source.on_accepted(total);
    assert_eq!(source.pause(), Pause::Remote);
    let before = source.progress();
    assert!(sink.write(0, &bytes));
    sink.on_contiguous(total, Time::ZERO);
    let mut message = [0; MAX_MESSAGE_BYTES];
    let mut now = Time::ZERO;
    // the writing thread runs by itself
    while source.pause() != Pause::Local {
        now += Duration::from_secs(1);
        let length = sink.write_message(now, &mut message);
        source.on_message(EndpointId(1), now, &message[..length]);
        std::thread::yield_now();
    }
    assert_eq!(source.progress(), before.map(|progress| progress + total));
    drop(finished);
}

/// A receiver's first message.
fn nothing_yet(sink: &mut Reassembly) -> Vec<u8> {
    let mut message = [0; MAX_MESSAGE_BYTES];
    sink.on_open();
    let length = sink.write_message(Time::ZERO, &mut message);
    message[..length].to_vec()
}

/// Changes a byte of the stream when it is read for the first time.
struct Spoils(BlockSource, Vec<u64>);

impl ByteSource for Spoils {
    fn ready(&mut self, now: Time) -> u64 {
        self.0.ready(now)
    }
    fn end(&self) -> Option<u64> {
        self.0.end()
    }
    fn read(&mut self, offset: u64, room: &mut [u8]) {
        self.0.read(offset, room);
        for at in &self.1 {
            if let Some(byte) = at.checked_sub(offset).and_then(|at| room.get_mut(at as usize)) {
                *byte ^= 1;
            }
        }
    }
    fn on_accepted(&mut self, offset: u64) {
        self.0.on_accepted(offset);
    }
    fn on_join(&mut self, peer: EndpointId) {
        self.0.on_join(peer);
    }
    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]) {
        self.0.on_message(from, now, message);
    }
    fn status(&self) -> Status {
        self.0.status()
    }
}

/// Of a file of three blocks: a byte of its hashes, of the first block, and of the last.
#[test]
fn wrong_blocks_are_thrown_away_and_sent_again() {
    for at in [vec![10], vec![1000], vec![110, 2000, 600_000], vec![10, 300_000]] {
        for to_pipe in [false, true] {
            let (from, to, bytes, taken) = (Folder::new(), Folder::new(), content(700_000), Taken::default());
            let (source, manifest) = file_bytes(&from, &bytes);
            let into = if to_pipe { Destination::Pipe(Box::new(taken.clone())) } else { folder_of(&to) };
            let (mut sink, tally) = blocks(&manifest, into);
            let mut source = Spoils(source, at.clone());
            for turn in 0..10_000 {
                flow(&mut source, &mut sink, 1000 * turn, 1000);
                if source.status() != Status::InProgress {
                    break;
                }
                source.1.clear();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            assert_eq!((source.status(), sink.status()), (Status::Complete, Status::Complete), "{at:?}");
            let got = if to_pipe {
                taken.bytes()
            } else {
                std::fs::read(to.0.join("film.bin")).expect("it arrived")
            };
            assert_eq!(got, bytes, "{at:?}");
            assert!(tally.snapshot().spoilt > 0, "{at:?}");
        }
    }
}

/// A receiver that has a part says so before the first block is sent, and what is wrong on disk is sent, too.
#[test]
fn a_resume_sends_about_what_is_lacking() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(3_000_000));
    let (mut source, manifest) = file_bytes(&from, &bytes);
    let (mut killed, _) = blocks(&manifest, folder_of(&to));
    flow(&mut source, &mut killed, 0, 180);
    assert_eq!(killed.status(), Status::InProgress);
    drop(killed);
    let part = to.0.join("film.bin.thalweg-part");
    let mut left = std::fs::read(&part).expect("it is there");
    left[300_000] ^= 1;
    std::fs::write(&part, left).expect("it is changed");
    let (mut source, _) = file_bytes(&from, &bytes);
    let (mut retransmit, tally) = blocks(&manifest, folder_of(&to));
    flow(&mut source, &mut retransmit, 0, 5000);
    assert_eq!((source.status(), retransmit.status()), (Status::Complete, Status::Complete));
    assert_eq!(std::fs::read(to.0.join("film.bin")).expect("it arrived"), bytes);
    let observed = tally.snapshot();
    assert!(observed.resumed >= 512_000 && observed.spoilt == 1, "{observed:?}");
    // twelve blocks with their numbers, and a block of hashes
    let sent = source.ready(Time::ZERO);
    assert!(sent <= 3_000_000 - observed.resumed + 13 * 4 + 12 * 32, "{sent} bytes of stream");
}

/// Of a receiver that lists more blocks of hashes than there are numbers.
#[test]
fn a_report_of_blocks_up_to_the_last_number_is_survived() {
    let from = Folder::new();
    let (mut source, _) = file_bytes(&from, &content(10_000));
    source.on_join(EndpointId(1));
    let missing = vec![
        MissingSymbols { first: 0, blocks: 1, symbols: 10 },
        MissingSymbols { first: u32::MAX - 2, blocks: 9, symbols: 1 },
    ];
    let report = Message::Report(Report { until: 1, limit: 1, missing, ..Report::default() });
    let mut message = [0; MAX_MESSAGE_BYTES];
    let length = report.write(&mut message);
    source.on_message(EndpointId(1), Time::ZERO, &message[..length]);
    // a block of hashes and one of the file, with their numbers
    assert_eq!(source.ready(Time::ZERO), 32 + 10_000 + 2 * 4);
    assert_eq!(source.status(), Status::InProgress);
}

#[test]
fn a_file_that_changes_after_it_was_read_is_noticed_by_the_sender() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(10_000));
    let (mut source, manifest) = file_bytes(&from, &bytes);
    let mut changed = bytes.clone();
    changed[5000] ^= 1;
    from.file("source.bin", &changed);
    let (mut sink, tally) = blocks(&manifest, folder_of(&to));
    flow(&mut source, &mut sink, 0, 1000);
    assert!(matches!(source.status(), Status::Failed(why) if why.contains("changed while it was sent")));
    assert_eq!((sink.status(), tally.snapshot().spoilt), (Status::InProgress, 1));
    assert!(!to.0.join("film.bin").exists());
}

#[test]
fn a_file_that_became_shorter_is_noticed_by_the_sender() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(100_000));
    let (mut source, manifest) = file_bytes(&from, &bytes);
    from.file("source.bin", &bytes[..50_000]);
    let (mut sink, _) = blocks(&manifest, folder_of(&to));
    flow(&mut source, &mut sink, 0, 1000);
    assert!(matches!(source.status(), Status::Failed(why) if why.contains("became shorter")));
}

#[test]
fn segments_beyond_the_ring_are_not_kept() {
    let (from, to) = (Folder::new(), Folder::new());
    let (_, manifest) = file_bytes(&from, &content(10_000_000));
    let (mut sink, _) = blocks(&manifest, folder_of(&to));
    assert!(sink.write(1 << 20, &[0; 1000]));
    assert!(!sink.write(1 << 21, &[0; 1000]));
    assert!(sink.write(0, &[0; 1000]));
}
