//! Memory is bounded for any input.

use std::alloc::System;
use std::net::SocketAddr;

use contract::{Ecn, Random};
use driver::{Batch, GsoBatch, Platform, SendOutcome};
use live::{Control, End, Handshake, Limits, Secret, Settings};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use transfer::{ByteSink, Incoming, MAX_MESSAGE_BYTES, Status};
use units::{Duration, Time};
use wire::stream::{Datagram, Frame, HELLO, Hello, KEY, Offer, Role, Transport};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The only real end: all else that it receives is garbage, and hellos from any address.
struct Storm {
    clock: Time,
    random: Random,
    /// Datagrams that are still to come.
    left: u32,
    sent: u64,
    came: u64,
    region: Region<'static, System>,
    /// Bytes in use after a tenth of the flood, and the maximum since.
    settled: Option<isize>,
    max: isize,
}

impl Storm {
    fn in_use(&self) -> isize {
        let change = self.region.change();
        change.bytes_allocated as isize - change.bytes_deallocated as isize
    }

    /// A datagram of an attacker.
    fn make(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut public = [0; KEY];
        public.iter_mut().for_each(|byte| *byte = self.random.bits() as u8);
        match self.random.below(3) {
            0 => {
                bytes.resize(self.random.below(1500) as usize, 0);
                bytes.iter_mut().for_each(|byte| *byte = self.random.bits() as u8);
            }
            1 => {
                // valid except for its tag
                let label = contract::Label([self.random.bits(); 4]);
                let word = Frame::Feedback { sent_at: Time::ZERO, label };
                Datagram { session: self.random.bits() as u32, number: 1, frame: word }.write(&mut bytes);
                bytes.resize(bytes.len() + 16, 7);
            }
            _ => {
                // a hello with a valid secret, since there is none
                let offer = Offer {
                    scheme: "reno".to_owned(),
                    params: Vec::new(),
                    transport: Transport::Windowed,
                    packet: 1428,
                    ecn: false,
                    size: None,
                    about: vec![0; 100],
                };
                let hello = Hello {
                    role: Role::Sender,
                    public,
                    caller: [self.random.bits() as u8; 32],
                    token: self.random.chance(0.5).then_some([1; 24]),
                    offer: Some(offer),
                };
                let word = Frame::Hello(Box::new(hello));
                Datagram { session: self.random.bits() as u32, number: 0, frame: word }.write(&mut bytes);
                let mut hasher = blake3::Hasher::new_derive_key("thalweg 2 opening");
                hasher.update(&0u64.to_be_bytes());
                let tag = blake3::keyed_hash(hasher.finalize().as_bytes(), &bytes);
                bytes.extend_from_slice(&tag.as_bytes()[..16]);
                assert!(bytes.len() >= HELLO);
            }
        }
        bytes
    }
}

impl Platform for Storm {
    fn now(&mut self) -> Time {
        self.clock
    }
    fn wait(&mut self, until: Time) {
        self.clock = if self.left > 0 { self.clock + Duration::from_micros(10) } else { until };
    }
    fn receive(&mut self, batch: &mut Batch) -> bool {
        batch.clear();
        if self.left == 0 {
            return false;
        }
        for _ in 0..16 {
            let bytes = self.make();
            self.came += bytes.len() as u64;
            let from = SocketAddr::from((
                self.random.bits().to_be_bytes()[..4].try_into().map_or([0; 4], |ip: [u8; 4]| ip),
                7,
            ));
            assert!(batch.push(from, Ecn::Capable, &bytes));
        }
        self.left = self.left.saturating_sub(16);
        let in_use = self.in_use();
        match self.settled {
            None if self.left < STORM * 9 / 10 => self.settled = Some(in_use),
            _ => self.max = self.max.max(in_use),
        }
        true
    }
    fn send(&mut self, train: &GsoBatch<'_>) -> SendOutcome {
        self.sent += train.bytes.len() as u64;
        SendOutcome::Accepted
    }
    fn fill_random(&mut self, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = self.random.bits() as u8);
    }
}

const STORM: u32 = 50_000;

struct Never;

impl ByteSink for Never {
    fn write(&mut self, _offset: u64, _bytes: &[u8]) -> bool {
        false
    }
    fn on_contiguous(&mut self, _offset: u64, _now: Time) {}
    fn speak(&mut self, _now: Time, _word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        0
    }
    fn status(&self) -> Status {
        Status::Going
    }
}

#[test]
fn a_storm_of_strangers_takes_no_memory_and_gets_fewer_bytes_than_it_sent() {
    let mut storm = Storm {
        clock: Time::ZERO + Duration::from_secs(1),
        random: Random::new(1, "storm", ""),
        left: STORM,
        sent: 0,
        came: 0,
        region: Region::new(GLOBAL),
        settled: None,
        max: 0,
    };
    let limits = Limits { waits: Duration::from_secs(20), ..Limits::default() };
    let settings = Settings { handshake: Handshake::Listen, secret: Secret::none(), limits, caller: None };
    let mut asked = 0;
    let mut accept = |_: &Offer| {
        asked += 1;
        Ok(Incoming::Windowed(Box::new(Never)))
    };
    let outcome = live::receive(&settings, &mut accept, &mut storm, &Control::new());
    assert_eq!((outcome.end, asked), (End::Unanswered, 0));
    let stats = outcome.stats;
    assert!(stats.received.datagrams > 10_000, "hellos are understood: {stats:?}");
    assert!(stats.discarded.malformed > 10_000 && stats.discarded.strangers > 10_000, "{stats:?}");
    assert!(storm.sent > 0 && storm.sent < storm.came / 3, "{} of {}", storm.sent, storm.came);
    let settled = storm.settled.expect("a tenth of the storm came");
    // the flood's own datagram is in use during the measurement
    assert!(storm.max <= settled + 8192, "{settled} bytes grew to {}", storm.max);
}
