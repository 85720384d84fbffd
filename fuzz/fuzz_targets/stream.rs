//! Datagrams of emulated flows, and offers: arbitrary bytes are decoded or refused, and decoded messages are encoded
//! and decoded again to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::stream::{Datagram, Offer};

fuzz_target!(|bytes: &[u8]| {
    let _ = Offer::decode(bytes);
    if let Some((body, _)) = Datagram::split(bytes) {
        let _ = Datagram::read(body);
    }
    let Ok(datagram) = Datagram::read(bytes) else { return };
    let mut written = Vec::new();
    datagram.write(&mut written);
    let mut rewritten = Vec::new();
    // bytes are compared, since parameters may be no numbers, which equal nothing
    Datagram::read(&written).expect("what was written is read").write(&mut rewritten);
    assert_eq!(written, rewritten);
});
