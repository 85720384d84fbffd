//! How fast a session over QUIC is over loopback, and what that costs: a sender and a receiver in two threads, real
//! sockets.
//!
//! usage: live [SCHEME [MBPS [SECONDS [BYTES]]]]
//!
//! BYTES is the length of a datagram, without headers of IP and UDP. MBPS is the rate of a paced scheme, where it has
//! `initial_rate`, `min_rate` and `max_rate` (MCA: then it does not move); windowed schemes take what they get. Prints
//! one JSON line. Rates are of datagrams, headers of IP and UDP left out; `goodput` is content that arrived. Processor
//! time is the sum of the two threads, system calls included; on loopback the sender's calls do the receiver's part of
//! the kernel's work too.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use contract::{EndpointId, ParamValue};
use driver::{Platform, Udp};
use nix::time::{ClockId, clock_gettime};
use quic_net::{
    Control, Credentials, Handshake, Limits, Object, Outcome, Proposal, Scheme, Settings, objects, receive,
    send,
};
use transfer::{ByteSink, ByteSource, Incoming, MAX_MESSAGE_BYTES, Outgoing, Payload, Sink, Status};
use units::{Duration, Time};

/// Bytes of the headers of IPv4 and UDP.
const OUTER: u16 = 28;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: u64| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(usual);
    let name = words.first().map_or("mca", String::as_str);
    let (mbps, seconds, bytes) = (number(1, 2500), number(2, 5), number(3, 1400));
    let mut scheme = Scheme { packet: bytes as u16 + OUTER, ..Scheme::new(name) };
    let paced = schemes::find(name).is_some_and(|entry| matches!(entry.build, schemes::Build::Stream { .. }));
    let knobs = ["initial_rate", "min_rate", "max_rate"];
    let known = schemes::find(name).map_or(Vec::new(), |entry| (entry.params)());
    for knob in knobs.into_iter().filter(|knob| paced && known.iter().any(|param| param.name == *knob)) {
        scheme.params.push((knob.to_owned(), ParamValue::Text(format!("{mbps} Mbit/s"))));
    }
    let mut there = Udp::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a socket");
    let address = there.address().expect("an address");
    let offloads = there.offloads();
    let settings = |handshake| Settings {
        handshake,
        credentials: Credentials::insecure([1; 32]),
        limits: Limits::default(),
        client_secret: None,
        logs: None,
    };
    let over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&over);
    let receiving = thread::spawn(move || {
        let mut accept = |proposal: &Proposal| {
            Ok(match proposal.offer.transport {
                wire::stream::Transport::Paced => Incoming::Paced(Box::new(Nothing(Arc::clone(&ends)))),
                wire::stream::Transport::Windowed => Incoming::Windowed(Box::new(Nothing(Arc::clone(&ends)))),
            })
        };
        let outcome = receive(&settings(Handshake::Listen), &mut accept, &mut there, &Control::new());
        (outcome, cpu_s())
    });
    let sending = thread::spawn(move || {
        driver::exact_timers();
        let mut here = Udp::for_calling(address).expect("a socket");
        let until = here.now() + Duration::from_secs(seconds);
        let zeros = Zeros { until, over };
        let outgoing =
            if paced { Outgoing::Paced(Box::new(zeros)) } else { Outgoing::Windowed(Box::new(zeros)) };
        let control = Control::new();
        let all = objects(vec![Object {
            folders: Vec::new(),
            outgoing,
            about: Vec::new(),
            more: false,
            omitted: 0,
        }]);
        let outcome = send(&settings(Handshake::Connect(address)), &scheme, all, &mut here, &control);
        (outcome, cpu_s())
    });
    let (sent, sender_s) = sending.join().expect("the sender runs");
    let (got, receiver_s) = receiving.join().expect("the receiver runs");
    let span = sent.stats.span().as_secs_f64();
    let gbits = |outcome: &Outcome| outcome.stats.packets as f64 * bytes as f64 * 8e-9;
    let late = |share| sent.stats.lateness.percentile(share).unwrap_or_default().as_secs_f64() * 1e6;
    println!(
        "{{\"scheme\": \"{name}\", \"end\": \"{:?}\", \"bytes\": {bytes}, \"gso\": {}, \"gro\": {}, \"seconds\": {span:.3}, \
         \"sent_gbps\": {:.3}, \"received_gbps\": {:.3}, \"goodput_gbps\": {:.3}, \"arrived\": {:.4}, \
         \"sender_cpu_s_per_gbit\": {:.4}, \"receiver_cpu_s_per_gbit\": {:.4}, \
         \"late_p50_us\": {:.0}, \"late_p99_us\": {:.0}, \"refused\": {}}}",
        sent.end,
        offloads.0,
        offloads.1,
        gbits(&sent) / span,
        gbits(&got) / span,
        got.stats.content as f64 * 8e-9 / span,
        got.stats.packets as f64 / sent.stats.packets.max(1) as f64,
        sender_s / gbits(&sent),
        receiver_s / gbits(&got),
        late(0.5),
        late(0.99),
        got.stats.discarded.total(),
    );
}

/// Processor time of this thread, user and system.
fn cpu_s() -> f64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(0.0, |spent| spent.tv_sec() as f64 + spent.tv_nsec() as f64 * 1e-9)
}

/// Sends zeros for a while.
struct Zeros {
    until: Time,
    over: Arc<AtomicBool>,
}

impl Payload for Zeros {
    fn fill(&mut self, _seq: u64, now: Time, room: &mut [u8]) -> usize {
        self.look(now);
        room.len()
    }
    fn on_message(&mut self, _from: EndpointId, _now: Time, _word: &[u8]) {}
    fn status(&self) -> Status {
        status(&self.over)
    }
}

impl ByteSource for Zeros {
    fn ready(&mut self, now: Time) -> u64 {
        self.look(now);
        1 << 50
    }
    fn end(&self) -> Option<u64> {
        None
    }
    fn read(&mut self, _offset: u64, _room: &mut [u8]) {}
    fn on_accepted(&mut self, _offset: u64) {}
    fn on_message(&mut self, _from: EndpointId, _now: Time, _word: &[u8]) {}
    fn status(&self) -> Status {
        status(&self.over)
    }
}

impl Zeros {
    /// Whether the time is over, which the receiver learns at once.
    fn look(&self, now: Time) {
        if now >= self.until {
            self.over.store(true, Ordering::Relaxed);
        }
    }
}

/// Keeps nothing, until the time is over.
struct Nothing(Arc<AtomicBool>);

/// The state of both ends.
fn status(over: &AtomicBool) -> Status {
    if over.load(Ordering::Relaxed) { Status::Complete } else { Status::InProgress }
}

impl Sink for Nothing {
    fn take(&mut self, _seq: u64, _now: Time, _content: &[u8]) {}
    fn write_message(&mut self, _now: Time, _word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        0
    }
    fn status(&self) -> Status {
        status(&self.0)
    }
}

impl ByteSink for Nothing {
    fn write(&mut self, _offset: u64, _bytes: &[u8]) -> bool {
        true
    }
    fn on_contiguous(&mut self, _offset: u64, _now: Time) {}
    fn write_message(&mut self, _now: Time, _word: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        0
    }
    fn status(&self) -> Status {
        status(&self.0)
    }
}
