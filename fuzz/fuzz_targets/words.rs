//! What the two ends of a transfer say to each other: any words, one after the other, to every kind of end.
//!
//! The input is a byte that chooses the end, and words, each after a byte with its length.
#![no_main]

use std::io::{Cursor, sink};
use std::sync::Arc;

use contract::PeerId;
use libfuzzer_sys::fuzz_target;
use live::content::{ByteSource, LONGEST_WORD, Payload, Sink};
use live::transfer::{
    Bytes, Collector, Fountain, Into, Manifest, PipeStore, Playout, Receivers, Tally, Timely,
};
use units::{Duration, Time};

fuzz_target!(|bytes: &[u8]| {
    let Some((end, bytes)) = bytes.split_first() else { return };
    let _ = Manifest::read(bytes);
    let tally = Arc::new(Tally::default());
    match end % 5 {
        0 => hear(&mut Collector::new(Into::Pipe(Box::new(sink())), tally), bytes),
        1 => hear(&mut Playout::new(Box::new(sink()), tally), bytes),
        2 => {
            let (store, manifest) = PipeStore::new(Box::new(content()), "file", 1, 64, &tally);
            pay(&mut Fountain::new(manifest, Box::new(store), Receivers { least: 1 }, tally), bytes);
        }
        3 => {
            let second = Duration::from_secs(1);
            pay(&mut Timely::new(Box::new(content()), "live", 1, 200, second, tally), bytes);
        }
        _ => {
            let (mut source, _) = Bytes::of_pipe(Box::new(content()), "file", 1, tally);
            source.on_join(PeerId(1));
            each(bytes, |_, now, word| {
                source.on_word(PeerId(1), now, word);
                source.ready(now);
                let _ = (source.end(), source.standing());
            });
        }
    }
});

fn content() -> Cursor<Vec<u8>> {
    Cursor::new((0..=255).cycle().take(20_000).collect())
}

/// The words, with a number and an instant each.
fn each(mut bytes: &[u8], mut act: impl FnMut(u64, Time, &[u8])) {
    let mut number = 0;
    while let Some((length, rest)) = bytes.split_first() {
        let (word, behind) = rest.split_at(usize::from(*length).min(rest.len()));
        bytes = behind;
        act(number, Time::ZERO + Duration::from_millis(5) * number, word);
        number += 1;
    }
}

/// A receiver hears packets, and speaks.
fn hear(sink: &mut dyn Sink, bytes: &[u8]) {
    let mut said = [0; LONGEST_WORD];
    each(bytes, |number, now, content| {
        sink.take(number, now, content);
        assert!(sink.speak(now, &mut said) <= LONGEST_WORD);
        let _ = (sink.wake(), sink.standing());
    });
    sink.on_end(Time::ZERO + Duration::from_secs(10));
}

/// A sender hears words, and fills packets.
fn pay(payload: &mut dyn Payload, bytes: &[u8]) {
    let mut room = [0; 200];
    payload.on_join(PeerId(1));
    each(bytes, |number, now, word| {
        payload.on_word(PeerId(1), now, word);
        assert!(payload.fill(number, now, &mut room) <= room.len());
        let _ = payload.standing();
    });
    payload.on_leave(PeerId(1));
}
