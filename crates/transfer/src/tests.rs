//! Tests of files and streams over a network that loses, duplicates and reorders.

use std::io::{Cursor, Read};
use std::sync::Arc;

use contract::EndpointId;
use units::{Duration, Time};

use super::messages::{Message, MissingSymbols, Report};
use super::testing::{
    ALWAYS, AN_HOUR, CALM, End, Folder, GAP, PathModel, ROUGH, Taken, TransferRun, carry, content,
};
use super::*;
use crate::{MAX_MESSAGE_BYTES, Payload, Sink, Status};

const ROOM: usize = 208;
const SYMBOL: u16 = 200;

fn secs(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

/// A fountain of a file with these bytes, for this many receivers.
fn fountain(folder: &Folder, bytes: &[u8], min: usize) -> (Fountain, Arc<Tally>) {
    let (path, tally) = (folder.file("source.bin", bytes), Arc::new(Tally::default()));
    let (store, manifest) = FileStore::open(&path, "film.bin", SYMBOL, &tally, &|| true)
        .expect("the file is there")
        .expect("nobody said stop");
    (Fountain::new(manifest, Box::new(store), Receivers { min }, Arc::clone(&tally)), tally)
}

fn collector(folder: &Folder) -> (Collector, Arc<Tally>) {
    into(Destination::Folder { path: folder.0.clone(), name: None, replace: false, me: None })
}

fn into(into: Destination) -> (Collector, Arc<Tally>) {
    let tally = Arc::new(Tally::default());
    (Collector::new(into, Arc::clone(&tally)), tally)
}

fn one(payload: &mut dyn Payload, sink: &mut dyn Sink, model: PathModel) -> TransferRun {
    carry(payload, &mut [End { sink, model, present: ALWAYS }], ROOM, AN_HOUR)
}

/// What arrived under the name that the sender proposed.
fn arrived(folder: &Folder) -> Vec<u8> {
    std::fs::read(folder.0.join("film.bin")).expect("it has arrived")
}

#[test]
fn over_a_calm_network_every_symbol_is_sent_once_and_none_is_coded_before_the_end() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(300_001));
    let ((mut fountain, sent), (mut collector, got)) = (fountain(&from, &bytes, 1), collector(&to));
    let run = one(&mut fountain, &mut collector, CALM);
    assert_eq!((run.status, collector.status()), (Status::Complete, Status::Complete));
    assert_eq!(arrived(&to), bytes);
    assert_eq!(to.names(), ["film.bin"], "nothing of the work is left");
    let (sent, got) = (sent.snapshot(), got.snapshot());
    // one of them has the hashes of the blocks
    assert_eq!((sent.sent[0], sent.sent[2]), (1502, 0));
    // 1501 symbols at one in 100 µs; what is coded leaves while the last report is under way: a twentieth, and one in
    // 50 ms
    assert!(sent.sent[1] <= 75 + 10, "{:?}", sent.sent);
    assert_eq!((got.received[0], got.done, got.total), (1502, 300_001, 300_001));
    assert_eq!((sent.receivers, sent.complete_receivers, sent.done), (1, 1, 300_001));
}

/// A file of 4 MB with data at both ends: what is between them takes no room at the receiver.
#[test]
fn a_sparse_file_stays_sparse() {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = content(100_000);
    bytes.resize(3_900_000, 0);
    bytes.extend(content(100_000));
    let (from, to) = (Folder::new(), Folder::new());
    let ((mut fountain, _), (mut collector, _)) = (fountain(&from, &bytes, 1), collector(&to));
    assert_eq!(one(&mut fountain, &mut collector, ROUGH).status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
    let stored = |folder: &Folder| {
        512 * std::fs::metadata(folder.0.join("film.bin")).expect("it has arrived").blocks()
    };
    assert!(stored(&to) < 1_000_000, "{}", stored(&to));
}

#[test]
fn a_file_arrives_whole_whatever_is_lost_doubled_and_reordered() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(400_000));
    let ((mut fountain, sent), (mut collector, got)) = (fountain(&from, &bytes, 1), collector(&to));
    let run = one(&mut fountain, &mut collector, ROUGH);
    assert_eq!(run.status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
    // a tenth is lost: about a ninth more must be sent, and what leaves while the last reports are under way
    let observed = sent.snapshot();
    assert!(observed.sent[1] + observed.sent[2] < observed.sent[0] / 2, "{:?}", observed.sent);
    assert!(got.snapshot().received[0] >= 2000);
}

#[test]
fn half_of_all_packets_lost_both_ways_is_still_enough() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(50_000));
    let ((mut fountain, _), (mut collector, _)) = (fountain(&from, &bytes, 1), collector(&to));
    let run = one(&mut fountain, &mut collector, PathModel { loss: 0.5, ..CALM });
    assert_eq!(run.status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
}

#[test]
fn empty_and_tiny_files_arrive() {
    for length in [0, 1, 199, 200, 201, 51_200, 51_201] {
        let (from, to, bytes) = (Folder::new(), Folder::new(), content(length));
        let ((mut fountain, _), (mut collector, _)) = (fountain(&from, &bytes, 1), collector(&to));
        assert_eq!(one(&mut fountain, &mut collector, ROUGH).status, Status::Complete, "{length} bytes");
        assert_eq!(arrived(&to), bytes);
    }
}

#[test]
fn twenty_receivers_with_losses_of_their_own_all_get_the_whole() {
    let (from, bytes) = (Folder::new(), content(300_000));
    let (mut fountain, sent) = fountain(&from, &bytes, 20);
    let folders: Vec<Folder> = (0..20).map(|_| Folder::new()).collect();
    let mut collectors: Vec<Collector> = folders.iter().map(|folder| collector(folder).0).collect();
    let mut ends: Vec<End<'_>> = collectors
        .iter_mut()
        .enumerate()
        .map(|(n, sink)| End {
            sink,
            model: PathModel { loss: 0.01 * n as f64, ..ROUGH },
            // they come one after the other, the last two when half is sent
            present: Time::ZERO + GAP * (5 * n as u64 + if n >= 18 { 400 } else { 0 })..Time::NEVER,
        })
        .collect();
    let run = carry(&mut fountain, &mut ends, ROOM, secs(60));
    assert_eq!(run.status, Status::Complete);
    assert!(folders.iter().all(|folder| arrived(folder) == bytes));
    let observed = sent.snapshot();
    assert_eq!((observed.receivers, observed.complete_receivers), (20, 20));
    // together they lost about 2850 of 1500 symbols, each others; coded symbols serve all, so the worst decides and not
    // the sum
    assert!(observed.sent[1] < observed.sent[0], "{:?}", observed.sent);
}

#[test]
fn a_receiver_that_comes_when_all_was_sent_gets_the_whole() {
    let (from, first, second) = (Folder::new(), Folder::new(), Folder::new());
    let bytes = content(200_000);
    let (mut fountain, _) = fountain(&from, &bytes, 2);
    let ((mut early, _), (mut late, _)) = (collector(&first), collector(&second));
    let mut ends = [
        End { sink: &mut early, model: CALM, present: ALWAYS },
        End { sink: &mut late, model: ROUGH, present: secs(1)..Time::NEVER },
    ];
    // it waits for two
    assert_eq!(carry(&mut fountain, &mut ends, ROOM, secs(60)).status, Status::Complete);
    assert_eq!((arrived(&first), arrived(&second)), (bytes.clone(), bytes));
}

#[test]
fn a_receiver_that_was_killed_goes_on_where_it_was() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(600_000));
    let (mut fountain, sent) = fountain(&from, &bytes, 1);
    let (mut killed, _) = collector(&to);
    let half = Time::ZERO + GAP * 2400;
    carry(&mut fountain, &mut [End { sink: &mut killed, model: ROUGH, present: ALWAYS }], ROOM, half);
    assert_eq!(killed.status(), Status::InProgress);
    drop(killed);
    assert_eq!(to.names(), ["film.bin.thalweg-part", "film.bin.thalweg-state"]);

    let (mut retransmit, got) = collector(&to);
    let run = one(&mut fountain, &mut retransmit, ROUGH);
    assert_eq!(run.status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
    assert_eq!(to.names(), ["film.bin"]);
    let resumed = got.snapshot().resumed;
    assert!(resumed >= 51_200, "{resumed} bytes were there");
    assert!(got.snapshot().received[0] < 3000 - resumed / 200 + 200, "only what was missing was taken again");
    assert!(sent.snapshot().sent[2] > 0, "blocks of which nothing was left came again as they are");
}

/// A fountain of the bytes that a program wrote, all of which have been read.
fn fountain_of_a_program(bytes: &[u8]) -> (Fountain, Arc<Tally>) {
    let tally = Arc::new(Tally::default());
    let from = Box::new(std::io::Cursor::new(bytes.to_vec()));
    let (mut store, manifest) = PipeStore::new(from, "film.bin", 5, SYMBOL, &tally);
    while store.end().is_none() {
        std::thread::yield_now();
    }
    (Fountain::new(manifest, Box::new(store), Receivers { min: 1 }, Arc::clone(&tally)), tally)
}

/// The sender keeps only what the receiver had not said that it has; the rest is in its folder.
#[test]
fn a_receiver_of_a_stream_that_was_killed_goes_on_where_its_folder_ends() {
    let (to, bytes) = (Folder::new(), content(600_000));
    let (mut fountain, sent) = fountain_of_a_program(&bytes);
    let (mut killed, _) = collector(&to);
    let half = Time::ZERO + GAP * 1800;
    carry(&mut fountain, &mut [End { sink: &mut killed, model: ROUGH, present: ALWAYS }], ROOM, half);
    assert_eq!(killed.status(), Status::InProgress);
    assert!(sent.snapshot().done > 0, "the beginning was let go");
    drop(killed);
    // what it had not said that it has is kept while nobody is there
    fountain.on_leave(EndpointId(0));
    let (mut retransmit, got) = collector(&to);
    assert_eq!(one(&mut fountain, &mut retransmit, ROUGH).status, Status::Complete);
    assert_eq!((arrived(&to), to.names()), (bytes, vec!["film.bin".to_owned()]));
    let resumed = got.snapshot().resumed;
    assert!(resumed > 0 && resumed.is_multiple_of(12_800), "whole blocks: {resumed}");
}

/// Where the beginning went into a pipe that is gone, or another stream has its name, nobody has it.
#[test]
fn a_receiver_that_needs_the_beginning_of_a_stream_is_told_that_it_is_gone() {
    let (to, bytes) = (Folder::new(), content(600_000));
    let (mut fountain, sent) = fountain_of_a_program(&bytes);
    let (mut killed, _) = into(Destination::Pipe(Box::new(Taken::default())));
    let half = Time::ZERO + GAP * 1800;
    carry(&mut fountain, &mut [End { sink: &mut killed, model: CALM, present: ALWAYS }], ROOM, half);
    assert_eq!(killed.status(), Status::InProgress);
    assert!(sent.snapshot().done > 0, "the beginning was let go");
    drop(killed);
    fountain.on_leave(EndpointId(0));
    let (mut retransmit, got) = collector(&to);
    let Status::Failed(why) = one(&mut fountain, &mut retransmit, CALM).status else {
        panic!("it is not whole")
    };
    assert!(why.contains("the beginning of the stream was gone, 0."), "{why}");
    assert_eq!(fountain.reason(), wire::stream::Reason::Gone);
    assert_eq!(got.snapshot().resumed, 0);
}

/// A sender knows a receiver again by what is left in its folder, as long as no other program has that.
#[test]
fn a_receiver_that_is_started_again_calls_itself_what_it_did() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(600_000));
    let mut random = contract::Random::new(1, "test", "identities");
    let sender = std::net::SocketAddr::from(([10, 0, 0, 1], 7));
    let mut who = |sender, name| {
        Identity::of(&to.0, name, sender, |bytes| {
            bytes.iter_mut().for_each(|byte| *byte = random.bits() as u8)
        })
    };
    let me = who(sender, None);
    let (mut fountain, _) = fountain(&from, &bytes, 1);
    let folder = Destination::Folder { path: to.0.clone(), name: None, replace: false, me: Some(me) };
    let (mut killed, _) = into(folder);
    let half = Time::ZERO + GAP * 1000;
    carry(&mut fountain, &mut [End { sink: &mut killed, model: CALM, present: ALWAYS }], ROOM, half);
    assert_ne!(who(sender, None).secret, me.secret, "while it runs, another program is another receiver");
    drop(killed);
    assert_eq!(who(sender, None), me);
    assert_eq!(who(sender, Some("film.bin")), me);
    assert_ne!(who(sender, Some("another")).secret, me.secret);
    let elsewhere = std::net::SocketAddr::from(([10, 0, 0, 1], 8));
    assert_ne!(who(elsewhere, None).secret, me.secret);
}

#[test]
fn what_is_left_of_another_file_is_not_taken_for_this_one() {
    let (from, to) = (Folder::new(), Folder::new());
    let (mut before, _) = fountain(&from, &content(300_000), 1);
    let (mut killed, _) = collector(&to);
    let half = Time::ZERO + GAP * 1000;
    carry(&mut before, &mut [End { sink: &mut killed, model: CALM, present: ALWAYS }], ROOM, half);
    let mut bytes = content(300_000);
    bytes[17] ^= 1;
    let (mut fountain, _) = fountain(&from, &bytes, 1);
    let (mut retransmit, got) = collector(&to);
    assert_eq!(one(&mut fountain, &mut retransmit, CALM).status, Status::Complete);
    assert_eq!((arrived(&to), got.snapshot().resumed), (bytes, 0));
}

#[test]
fn a_list_of_blocks_that_was_cut_off_is_read_as_far_as_it_goes() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(300_000));
    let (mut fountain, _) = fountain(&from, &bytes, 1);
    let (mut killed, _) = collector(&to);
    let half = Time::ZERO + GAP * 1200;
    carry(&mut fountain, &mut [End { sink: &mut killed, model: CALM, present: ALWAYS }], ROOM, half);
    drop(killed);
    let state = to.0.join("film.bin.thalweg-state");
    let list = std::fs::read(&state).expect("it is there");
    std::fs::write(&state, &list[..list.len() - 3]).expect("it is cut");
    let (mut retransmit, got) = collector(&to);
    assert_eq!(one(&mut fountain, &mut retransmit, CALM).status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
    assert!(got.snapshot().resumed > 0);
}

/// Changes a byte of some packets.
struct Changed<'a, F>(&'a mut Collector, F);

impl<F: FnMut(u64) -> bool + Send> Sink for Changed<'_, F> {
    fn take(&mut self, seq: u64, now: Time, content: &[u8]) {
        let mut content = content.to_vec();
        if (self.1)(seq)
            && let Some(byte) = content.get_mut(100)
        {
            *byte ^= 4;
        }
        self.0.take(seq, now, &content);
    }
    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.0.write_message(now, message)
    }
    fn status(&self) -> Status {
        self.0.status()
    }
}

/// One wrong symbol costs its block, which is asked for again: one of the file, one of its hashes, own ones and coded
/// ones.
#[test]
fn a_wrong_symbol_spoils_nothing() {
    for (model, wrong) in [(CALM, [3, 9]), (CALM, [9, 700]), (ROUGH, [20, 450]), (ROUGH, [3, 600])] {
        for to_pipe in [false, true] {
            let (from, to, bytes) = (Folder::new(), Folder::new(), content(200_000));
            let (mut fountain, sent) = fountain(&from, &bytes, 1);
            let taken = Taken::default();
            let (mut collector, got) =
                if to_pipe { into(Destination::Pipe(Box::new(taken.clone()))) } else { collector(&to) };
            let mut changed = Changed(&mut collector, |seq| wrong.contains(&seq));
            let run = one(&mut fountain, &mut changed, model);
            assert_eq!((run.status, collector.status()), (Status::Complete, Status::Complete));
            assert_eq!(if to_pipe { taken.bytes() } else { arrived(&to) }, bytes, "{wrong:?}");
            // a changed packet may have been lost, or of no use
            assert!(model.loss > 0.0 || got.snapshot().spoilt > 0, "{wrong:?}");
            assert_eq!(sent.snapshot().complete_receivers, 1);
        }
    }
}

/// The list of blocks is not believed: what is wrong on disk is asked for again, and nothing else.
#[test]
fn a_part_that_was_spoilt_on_disk_is_found_and_made_good() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(600_000));
    let (mut fountain, _) = fountain(&from, &bytes, 1);
    let (mut killed, _) = collector(&to);
    let max = Time::ZERO + GAP * 2700;
    carry(&mut fountain, &mut [End { sink: &mut killed, model: CALM, present: ALWAYS }], ROOM, max);
    assert_eq!(killed.status(), Status::InProgress);
    drop(killed);
    // a byte of the second block of 51 200 bytes, and all of the list says that the fifth is there, which is zeros
    let (part, state) = (to.0.join("film.bin.thalweg-part"), to.0.join("film.bin.thalweg-state"));
    let mut left = std::fs::read(&part).expect("it is there");
    left[60_000] ^= 1;
    left[4 * 51_200..5 * 51_200].fill(0);
    std::fs::write(&part, left).expect("it is changed");
    assert!(std::fs::metadata(&state).is_ok());
    let (mut fountain, sent) = self::fountain(&from, &bytes, 1);
    let (mut retransmit, got) = collector(&to);
    assert_eq!(one(&mut fountain, &mut retransmit, CALM).status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
    let (observed, sent) = (got.snapshot(), sent.snapshot());
    assert_eq!(observed.spoilt, 2, "both were found");
    assert!(observed.resumed >= 300_000, "{}", observed.resumed);
    let lacking = (600_000 - observed.resumed).div_ceil(200);
    let symbols: u64 = sent.sent.iter().sum();
    assert!(symbols < lacking + 400, "{symbols} symbols for {lacking}: {:?}", sent.sent);
}

/// What is there is said before the first block leaves: a new sender passes over it.
#[test]
fn a_resume_sends_about_what_is_lacking() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(2_000_000));
    let (mut before, _) = fountain(&from, &bytes, 1);
    let (mut killed, _) = collector(&to);
    let max = Time::ZERO + GAP * 6500;
    carry(&mut before, &mut [End { sink: &mut killed, model: ROUGH, present: ALWAYS }], ROOM, max);
    drop(killed);
    // and a hole: the list without its third block
    let state = to.0.join("film.bin.thalweg-state");
    let mut list = std::fs::read(&state).expect("it is there");
    let head = list.len() - list.len().saturating_sub(136 + "film.bin".len());
    list.drain(head + 8..head + 12);
    std::fs::write(&state, list).expect("it is changed");
    for announced in [false, true] {
        let copy = Folder::new();
        for name in to.names() {
            std::fs::copy(to.0.join(&name), copy.0.join(&name)).expect("it is copied");
        }
        let (mut fountain, sent) = fountain(&from, &bytes, 1);
        let (mut retransmit, got) = if announced {
            let tally = Arc::new(Tally::default());
            let into = Destination::Folder { path: copy.0.clone(), name: None, replace: false, me: None };
            (Collector::of(fountain.manifest().clone(), into, Arc::clone(&tally)), tally)
        } else {
            collector(&copy)
        };
        assert_eq!(one(&mut fountain, &mut retransmit, CALM).status, Status::Complete);
        assert_eq!(arrived(&copy), bytes);
        let (resumed, sent) = (got.snapshot().resumed, sent.snapshot());
        assert!(resumed > 800_000, "{resumed}");
        let lacking = (2_000_000 - resumed).div_ceil(200);
        // hashes, and what is coded while the last report is under way
        assert!(sent.sent[0] <= lacking + 10, "{} own symbols for {lacking}", sent.sent[0]);
        assert!(sent.sent[1] + sent.sent[2] < 400, "{:?}", sent.sent);
    }
}

/// A receiver that says what it lacks before anything has come has not been delivered anything.
#[test]
fn the_first_report_is_no_progress() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(180_001));
    let (mut fountain, _) = fountain(&from, &bytes, 1);
    let into = Destination::Folder { path: to.0.clone(), name: None, replace: false, me: None };
    let mut collector = Collector::of(fountain.manifest().clone(), into, Arc::new(Tally::default()));
    fountain.on_join(EndpointId(0));
    let mut message = [0; MAX_MESSAGE_BYTES];
    let length = collector.write_message(Time::ZERO, &mut message);
    fountain.on_message(EndpointId(0), Time::ZERO, &message[..length]);
    assert!(length > 0 && fountain.ready(Time::ZERO) <= Time::ZERO, "it can begin");
    assert_eq!(fountain.progress(), Some(0));
}

/// Who says that it has the whole is believed where it shows that it knows what only who has the whole knows, in its
/// own session.
#[test]
fn a_sender_does_not_believe_a_receiver_that_cannot_show_that_it_has_the_whole() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(100_000));
    let (mut fountain, sent) = fountain(&from, &bytes, 1);
    fountain.bind(EndpointId(0), &[7; 32]);
    fountain.on_join(EndpointId(0));
    let report = Report {
        proof: Some([0x66; tree::PROOF]),
        base: 1,
        until: 1,
        limit: 1,
        complete: 1,
        ..Default::default()
    };
    let mut message = [0; MAX_MESSAGE_BYTES];
    let length = Message::Report(report).write(&mut message);
    fountain.on_message(EndpointId(0), Time::ZERO, &message[..length]);
    assert_eq!((fountain.status(), sent.snapshot().complete_receivers), (Status::InProgress, 0));
    // one that has it, and says so in another session
    let (mut collector, _) = collector(&to);
    collector.bind(&[8; 32]);
    let run = carry(
        &mut fountain,
        &mut [End { sink: &mut collector, model: CALM, present: ALWAYS }],
        ROOM,
        secs(2),
    );
    assert_eq!((run.status, collector.status()), (Status::InProgress, Status::Complete));
    collector.bind(&[7; 32]);
    assert_eq!(one(&mut fountain, &mut collector, CALM).status, Status::Complete);
}

/// A report may list blocks up to the maximum number there is, and more than that.
#[test]
fn a_report_of_blocks_beyond_all_numbers_is_survived() {
    let (from, bytes, mut room) = (Folder::new(), content(1000), [0; ROOM]);
    let (mut fountain, _) = fountain(&from, &bytes, 1);
    fountain.on_join(EndpointId(1));
    let missing = vec![
        MissingSymbols { first: 0, blocks: 1, symbols: 5 },
        MissingSymbols { first: u32::MAX - 1, blocks: 5, symbols: 1 },
    ];
    let report = Message::Report(Report { until: 1, limit: u32::MAX, missing, ..Report::default() });
    let mut message = [0; MAX_MESSAGE_BYTES];
    let length = report.write(&mut message);
    fountain.on_message(EndpointId(1), Time::ZERO, &message[..length]);
    // more packets than it has symbols: then it looks for blocks that a receiver may lack
    let filled = (0..30).filter(|seq| fountain.fill(*seq, Time::ZERO, &mut room) > 0).count();
    assert!(filled >= 5, "{filled}");
    assert_eq!(fountain.status(), Status::InProgress);
}

#[test]
fn garbage_in_every_packet_never_makes_a_file() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(20_000));
    let ((mut fountain, _), (mut collector, _)) = (fountain(&from, &bytes, 1), collector(&to));
    let ends =
        &mut [End { sink: &mut collector, model: PathModel { damage: 0.02, ..ROUGH }, present: ALWAYS }];
    let run = carry(&mut fountain, ends, ROOM, secs(3));
    assert_ne!(run.status, Status::Complete);
    assert_ne!(collector.status(), Status::Complete);
    assert!(!to.0.join("film.bin").exists());
}

#[test]
fn a_file_that_is_there_is_not_replaced_unless_that_was_asked_for() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(50_000));
    to.file("film.bin", b"precious");
    let ((mut fountain, _), (mut careful, _)) = (fountain(&from, &bytes, 1), collector(&to));
    let run = one(&mut fountain, &mut careful, CALM);
    assert!(matches!(careful.status(), Status::Failed(why) if why.ends_with("film.bin is there already")));
    assert!(matches!(run.status, Status::Failed(why) if why.contains("is there already")));
    assert_eq!(arrived(&to), b"precious");

    let (mut fountain, _) = self::fountain(&from, &bytes, 1);
    let (mut bold, _) = into(Destination::Folder { path: to.0.clone(), name: None, replace: true, me: None });
    assert_eq!(one(&mut fountain, &mut bold, CALM).status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
}

#[test]
fn the_same_file_that_is_there_already_is_as_good_as_received() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(500_000));
    to.file("film.bin", &bytes);
    let ((mut fountain, sent), (mut collector, got)) = (fountain(&from, &bytes, 1), collector(&to));
    assert_eq!(one(&mut fountain, &mut collector, CALM).status, Status::Complete);
    assert!(sent.snapshot().sent[0] < 2500, "it was not sent to the end");
    assert!(got.snapshot().notes[0].contains("was there already"), "{:?}", got.snapshot().notes);

    let mut other = bytes.clone();
    other[400_000] ^= 1;
    to.file("film.bin", &other);
    let ((mut fountain, _), (mut collector, _)) = (self::fountain(&from, &bytes, 1), self::collector(&to));
    one(&mut fountain, &mut collector, CALM);
    assert!(
        matches!(collector.status(), Status::Failed(why) if why.ends_with("is there already, and is another"))
    );
    assert_eq!(arrived(&to), other);
}

#[test]
fn a_name_that_leads_elsewhere_is_refused_on_both_sides() {
    let (from, to) = (Folder::new(), Folder::new());
    let path = from.file("source.bin", b"abc");
    let tally = Tally::default();
    let refused = FileStore::open(&path, "../evil", SYMBOL, &tally, &|| true).expect_err("a path is no name");
    assert!(refused.to_string().contains("separate the parts of a path"), "{refused}");

    let (store, good) = FileStore::open(&path, "good", SYMBOL, &tally, &|| true)
        .expect("the file is there")
        .expect("nobody said stop");
    let evil = Manifest { name: "../evil".to_owned(), ..good };
    let mut fountain = Fountain::new(evil, Box::new(store), Receivers { min: 1 }, Arc::new(tally));
    let (mut collector, _) = collector(&to);
    let run = one(&mut fountain, &mut collector, CALM);
    assert!(matches!(run.status, Status::Failed(why) if why.contains("separate the parts of a path")));
    assert!(to.names().is_empty());
}

#[test]
fn a_link_in_place_of_the_partial_file_is_not_followed() {
    for name in ["film.bin.thalweg-part", "film.bin.thalweg-state"] {
        for hard in [true, false] {
            let (from, to, bytes) = (Folder::new(), Folder::new(), content(5000));
            let (victim, link) = (from.file("victim", b"precious"), to.0.join(name));
            if hard { std::fs::hard_link(&victim, link) } else { std::os::unix::fs::symlink(&victim, link) }
                .expect("a link");
            let ((mut fountain, _), (mut collector, _)) = (fountain(&from, &bytes, 1), collector(&to));
            one(&mut fountain, &mut collector, CALM);
            let status = collector.status();
            assert!(matches!(status, Status::Failed(why) if why.contains(name) && why.contains("link")));
            assert_eq!(std::fs::read(&victim).expect("it is there"), b"precious");
        }
    }
}

#[test]
fn one_of_several_receivers_that_leaves_is_told_of() {
    let (from, first, second) = (Folder::new(), Folder::new(), Folder::new());
    let bytes = content(200_000);
    let (mut fountain, _) = fountain(&from, &bytes, 2);
    let ((mut stays, _), (mut leaves, _)) = (collector(&first), collector(&second));
    let mut ends = [
        End { sink: &mut stays, model: CALM, present: ALWAYS },
        End { sink: &mut leaves, model: CALM, present: Time::ZERO..Time::ZERO + GAP * 500 },
    ];
    let run = carry(&mut fountain, &mut ends, ROOM, secs(10));
    let output = "1 of 2 receivers left before they had the whole".to_owned();
    assert_eq!(run.status, Status::Failed(output));
    assert_eq!(arrived(&first), bytes);
}

#[test]
fn a_receiver_that_comes_back_is_waited_for() {
    let (from, to, bytes) = (Folder::new(), Folder::new(), content(300_000));
    let ((mut fountain, _), (mut collector, _)) = (fountain(&from, &bytes, 1), collector(&to));
    let present = Time::ZERO..Time::ZERO + GAP * 700;
    let ends = &mut [End { sink: &mut collector, model: CALM, present }];
    assert_eq!(carry(&mut fountain, ends, ROOM, secs(1)).status, Status::InProgress);
    // the session starts over, and so do the numbers of packets
    collector.on_open();
    assert_eq!(one(&mut fountain, &mut collector, CALM).status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
}

/// A program that writes this many bytes and ends.
fn pipe(bytes: &[u8]) -> Box<dyn Read + Send> {
    Box::new(Cursor::new(bytes.to_vec()))
}

#[test]
fn a_pipe_of_any_length_arrives_in_order() {
    // blocks of a stream are 12 800 bytes
    for length in [0, 1, 12_799, 12_800, 12_801, 200_000] {
        let (bytes, tally) = (content(length), Arc::new(Tally::default()));
        let (store, manifest) = PipeStore::new(pipe(&bytes), "stdin", 9, SYMBOL, &tally);
        let mut fountain = Fountain::new(manifest, Box::new(store), Receivers { min: 1 }, tally);
        let taken = Taken::default();
        let (mut collector, got) = into(Destination::Pipe(Box::new(taken.clone())));
        let run = one(&mut fountain, &mut collector, ROUGH);
        assert_eq!(run.status, Status::Complete, "{length} bytes");
        assert_eq!(taken.bytes(), bytes);
        assert_eq!(got.snapshot().total, length as u64);
    }
}

#[test]
fn a_file_may_go_to_a_pipe_and_a_pipe_into_a_folder() {
    let (from, bytes) = (Folder::new(), content(300_000));
    let (mut fountain, _) = fountain(&from, &bytes, 1);
    let taken = Taken::default();
    let (mut collector, _) = into(Destination::Pipe(Box::new(taken.clone())));
    assert_eq!(one(&mut fountain, &mut collector, ROUGH).status, Status::Complete);
    assert_eq!(taken.bytes(), bytes);

    let (to, tally) = (Folder::new(), Arc::new(Tally::default()));
    let (store, manifest) = PipeStore::new(pipe(&bytes), "film.bin", 9, SYMBOL, &tally);
    let mut fountain = Fountain::new(manifest, Box::new(store), Receivers { min: 1 }, tally);
    let (mut collector, _) = self::collector(&to);
    assert_eq!(one(&mut fountain, &mut collector, ROUGH).status, Status::Complete);
    assert_eq!(arrived(&to), bytes);
    assert_eq!(to.names(), ["film.bin"]);
}

#[test]
fn a_program_that_takes_nothing_holds_the_sender_and_costs_no_memory() {
    /// Takes its first bytes and then waits for ever.
    struct Stuck(std::sync::mpsc::Receiver<()>);
    impl std::io::Write for Stuck {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            self.0.recv().map(|()| 0).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    // 24 MB are kept: more than that is offered
    let (from, bytes) = (Folder::new(), content(40_000_000));
    let path = from.file("source.bin", &bytes);
    let tally = Arc::new(Tally::default());
    let (store, manifest) = FileStore::open(&path, "film.bin", 8000, &tally, &|| true)
        .expect("the file is there")
        .expect("nobody said stop");
    let mut fountain = Fountain::new(manifest, Box::new(store), Receivers { min: 1 }, tally);
    let (release, stuck) = std::sync::mpsc::channel();
    let (mut collector, got) = into(Destination::Pipe(Box::new(Stuck(stuck))));
    let ends = &mut [End { sink: &mut collector, model: CALM, present: ALWAYS }];
    let run = carry(&mut fountain, ends, 8008, Time::ZERO + GAP * 12_000);
    assert_eq!(run.status, Status::InProgress);
    // the window, what waits before the pipe, and what is being written
    let max = (24 << 20) + 5 * 2_048_000;
    assert!(got.snapshot().done <= max, "{}", got.snapshot().done);
    assert!(run.packets < 8000, "the sender waits: {} packets", run.packets);
    drop(release);
}

/// A member of a group that receives, and reports that it lacks everything; it also claims more complete blocks in each
/// report, if this is set.
struct Liar {
    speak_at: Time,
    seen: u64,
    claims: bool,
    complete: u32,
}

impl Sink for Liar {
    fn take(&mut self, seq: u64, _now: Time, _content: &[u8]) {
        self.seen = seq;
    }
    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        if now < self.speak_at {
            return 0;
        }
        self.speak_at = now + Duration::from_millis(20);
        let blocks = 1000;
        let missing = vec![MissingSymbols { first: 0, blocks, symbols: 256 }];
        let report = Report {
            proof: None,
            seen: self.seen,
            base: 0,
            until: u32::from(blocks),
            limit: u32::MAX,
            complete: self.complete,
            missing,
        };
        self.complete += 8 * u32::from(self.claims);
        Message::Report(report).write(message)
    }
    fn status(&self) -> Status {
        Status::InProgress
    }
}

/// 20 s of 10 000 symbols per second are there for its requests: of a file of 10 000 symbols a quarter and 64 in a
/// second are retransmitted, and twice the file more if it claims to receive.
#[test]
fn a_member_that_says_that_it_lacks_everything_costs_the_group_a_limited_part_of_the_file() {
    for (claims, limit) in [(false, 5000), (true, 25_000)] {
        let (from, to, bytes) = (Folder::new(), Folder::new(), content(2_000_000));
        let ((mut fountain, sent), (mut honest, _)) = (fountain(&from, &bytes, 2), collector(&to));
        let mut liar = Liar { speak_at: Time::ZERO, seen: 0, claims, complete: 0 };
        let mut ends = [
            End { sink: &mut honest, model: CALM, present: ALWAYS },
            End { sink: &mut liar, model: CALM, present: ALWAYS },
        ];
        carry(&mut fountain, &mut ends, ROOM, secs(20));
        assert_eq!(honest.status(), Status::Complete);
        assert_eq!(arrived(&to), bytes);
        let [first, coded, again] = sent.snapshot().sent;
        assert!(first >= 10_000 && coded + again < limit, "{claims}: {first} {coded} {again}");
    }
}

/// One member of a group loses four packets of ten, and joins when the others have everything.
#[test]
fn a_late_member_with_much_loss_gets_the_whole_file_in_a_group() {
    let (from, to, bytes) = (Folder::new(), [Folder::new(), Folder::new()], content(2_000_000));
    let (mut fountain, sent) = fountain(&from, &bytes, 1);
    let ((mut early, _), (mut late, _)) = (collector(&to[0]), collector(&to[1]));
    let lossy = PathModel { loss: 0.4, ..CALM };
    let mut ends = [
        End { sink: &mut early, model: CALM, present: ALWAYS },
        End { sink: &mut late, model: lossy, present: Time::ZERO + Duration::from_millis(900)..AN_HOUR },
    ];
    let run = carry(&mut fountain, &mut ends, ROOM, secs(20));
    assert_eq!(run.status, Status::Complete);
    assert_eq!(arrived(&to[1]), bytes);
    // all symbols, and as many as it loses again
    let sent = sent.snapshot().sent;
    assert!(sent.iter().sum::<u64>() < 33_000, "{sent:?}");
}
