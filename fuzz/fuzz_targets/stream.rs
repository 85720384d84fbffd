//! Datagrams of emulated flows, and offers: any bytes are read or refused, and what is read is written back and read again as the same.
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
    let mut again = Vec::new();
    // bytes are compared, since parameters may be no numbers, which equal nothing
    Datagram::read(&written).expect("what was written is read").write(&mut again);
    assert_eq!(written, again);
});
