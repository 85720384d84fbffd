//! Link packets of named data, and their reassembly from fragments: arbitrary frames in sequence over one link.
//!
//! The input is frames, each after two bytes: its length, and by how many of 16 ms the clock goes on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use units::{Duration, Time};
use wire::ndn::{LinkPacket, Packet, Reassembly};

fuzz_target!(|bytes: &[u8]| {
    let (mut link, mut now, mut rest) = (Reassembly::new(), Time::ZERO, bytes);
    while let [length, later, frames @ ..] = rest {
        let (frame, behind) = frames.split_at(usize::from(*length).min(frames.len()));
        (rest, now) = (behind, now + Duration::from_millis(16) * u64::from(*later));
        look(frame, &mut link, now);
    }
    // longer ones too
    look(bytes, &mut link, now);
});

fn look(frame: &[u8], link: &mut Reassembly, now: Time) {
    let Ok(piece) = LinkPacket::read(frame) else { return };
    // a packet without fragmentation and link fields is written without a link packet around it, so it has to be one
    if piece.count > 1 || Packet::read(piece.fragment).is_ok() {
        let mut written = Vec::new();
        piece.write(&mut written);
        assert_eq!(LinkPacket::read(&written), Ok(piece), "it is read as it was written");
    }
    if let Ok(Some((_, packet))) = link.take(&piece, now) {
        read(packet);
    }
}

fn read(packet: &[u8]) {
    match Packet::read(packet) {
        Ok(Packet::Interest(interest)) => {
            let mut written = Vec::new();
            interest.write(&mut written);
            let _ = (interest.intact(), interest.name.to_name().to_string());
        }
        Ok(Packet::Data(data)) => {
            let _ = (data.intact(), data.implicit_digest(), data.name.to_name().to_string());
        }
        Err(_) => {}
    }
}
