//! Messages of the two ends of a transfer: arbitrary sequences for every kind of end.
//!
//! The input is a byte that chooses the end, and messages, each after a byte with its length.
#![no_main]

use std::io::sink;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, LazyLock};

use contract::EndpointId;
use libfuzzer_sys::fuzz_target;
use transfer::{
    BlockSink, BlockSource, ByteSink, ByteSource, Bytes, Collector, Destination, FileStore, Fountain, Kind,
    Layout, LiveStream, MAX_MESSAGE_BYTES, Manifest, Payload, Playout, Receivers, Sink, Tally,
};
use units::{Duration, Time};

fuzz_target!(|bytes: &[u8]| {
    let Some((end, bytes)) = bytes.split_first() else { return };
    let _ = Manifest::read(bytes);
    let tally = Arc::new(Tally::default());
    match end % 8 {
        0 => receive(&mut Collector::new(Destination::Pipe(Box::new(sink())), tally), bytes),
        // of a file, with hashes of blocks, whose manifest was in the offer
        5 => receive(&mut Collector::of(manifest(), Destination::Pipe(Box::new(sink())), tally), bytes),
        6 => {
            let mut sink = BlockSink::new(manifest(), Destination::Pipe(Box::new(sink())), 1 << 16, tally);
            let (mut at, mut output) = (0, [0; MAX_MESSAGE_BYTES]);
            sink.on_open();
            each(bytes, |_, now, content| {
                sink.write(at, content);
                at += content.len() as u64;
                sink.on_contiguous(at, now);
                assert!(sink.write_message(now, &mut output) <= MAX_MESSAGE_BYTES);
                let _ = (sink.wake(), sink.status());
            });
        }
        7 => {
            let (store, manifest) = opened(&tally);
            let mut source = BlockSource::new(store, &manifest, tally);
            let mut room = [0; 90];
            source.on_join(EndpointId(1));
            each(bytes, |_, now, message| {
                source.on_message(EndpointId(1), now, message);
                let ready = source.ready(now);
                source.read(ready.saturating_sub(90), &mut room);
                let _ = (source.end(), source.status());
            });
        }
        1 => receive(&mut Playout::new(Box::new(sink()), tally), bytes),
        2 => {
            let (store, manifest) = opened(&tally);
            send(&mut Fountain::new(manifest, Box::new(store), Receivers { min: 1 }, tally), bytes);
        }
        3 => {
            let (program, pieces) = sync_channel(16);
            CONTENT
                .chunks(180)
                .take(16)
                .for_each(|piece| program.try_send(piece.to_vec()).expect("there is room"));
            drop(program);
            let second = Duration::from_secs(1);
            send(&mut LiveStream::of_pieces(pieces, "live", 1, 200, second, tally), bytes);
        }
        _ => {
            let (mut source, _) = Bytes::of_memory(&CONTENT, "file", 1, tally);
            source.on_join(EndpointId(1));
            each(bytes, |_, now, message| {
                source.on_message(EndpointId(1), now, message);
                source.ready(now);
                let _ = (source.end(), source.status());
            });
        }
    }
});

/// The sent objects, created once, without threads and small, so that a case takes microseconds.
static CONTENT: LazyLock<Vec<u8>> = LazyLock::new(|| (0..=255).cycle().take(3000).collect());
/// The sent objects as a file.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("thalweg-fuzz-{}", std::process::id()));
    std::fs::write(&path, &*CONTENT).expect("a file for the cases");
    path
});
/// Blocks are short, since coding one takes time by the square of its symbols.
const LAYOUT: Layout = Layout { length: Some(3000), symbol_bytes: 64, block_symbols: 10 };

/// The file, as a sender opens it.
fn opened(tally: &Arc<Tally>) -> (FileStore, Manifest) {
    let opened = FileStore::open(&FILE, "file", 64, tally, &|| true);
    let Ok(Some(opened)) = opened else { panic!("the file is there") };
    opened
}

fn manifest() -> Manifest {
    let (name, report_every) = ("file".to_owned(), Duration::from_millis(50));
    Manifest { kind: Kind::File, id: 1, name, layout: LAYOUT, hash: Some([7; 32]), report_every }
}

/// The messages, with a number and an instant each.
fn each(mut bytes: &[u8], mut act: impl FnMut(u64, Time, &[u8])) {
    let mut number = 0;
    while let Some((length, rest)) = bytes.split_first() {
        let (message, behind) = rest.split_at(usize::from(*length).min(rest.len()));
        bytes = behind;
        act(number, Time::ZERO + Duration::from_millis(5) * number, message);
        number += 1;
    }
}

/// A receiver hears packets, and speaks.
fn receive(sink: &mut dyn Sink, bytes: &[u8]) {
    let mut output = [0; MAX_MESSAGE_BYTES];
    each(bytes, |number, now, content| {
        sink.take(number, now, content);
        assert!(sink.write_message(now, &mut output) <= MAX_MESSAGE_BYTES);
        let _ = (sink.wake(), sink.status());
    });
    sink.on_end(Time::ZERO + Duration::from_secs(10));
}

/// A sender hears messages, and fills packets.
fn send(payload: &mut dyn Payload, bytes: &[u8]) {
    let mut room = [0; 200];
    payload.on_join(EndpointId(1));
    each(bytes, |number, now, message| {
        payload.on_message(EndpointId(1), now, message);
        assert!(payload.fill(number, now, &mut room) <= room.len());
        let _ = payload.status();
    });
    payload.on_leave(EndpointId(1));
}
