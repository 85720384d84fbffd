//! How long the emulator holds packets up: datagrams at a constant rate from one namespace to another, through one bottleneck.
//!
//! usage: emulator [PACKETS_PER_SECOND [SECONDS [urgent]]]
//!
//! The emulation starts this program again as its sender and as its receiver. The sender writes the time into each datagram. The
//! kernel stamps each when it reaches the receiver's socket, so that how busy the machine keeps the receiver does not count; what
//! the link itself takes is taken off, and the rest was added. Prints one JSON line. Needs root.
#![expect(
    clippy::disallowed_methods,
    reason = "sender and receiver are processes that share the clock of the system"
)]

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration as Span, SystemTime, UNIX_EPOCH};

use emulate::{Lateness, Settings};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use sim::{Blueprint, Control, FlowKind, Outside, PortSpec};
use stack::datagram::{self, Pattern};
use units::{Bytes, Duration, Rate};

const PORT: u16 = 9000;
/// Length of a packet, headers of 28 bytes included.
const PACKET: u64 = 128;
const RATE: Rate = Rate::from_mbps(1000);
const DELAY: Duration = Duration::from_millis(1);
/// At the end of the run, for the receiver to count.
const REST_S: u64 = 4;
/// Room for datagrams that the receiver had no time for yet.
const ROOM: usize = 256 << 20;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    match words.first().map(String::as_str) {
        Some("send") => send(&words[1], number(2).unwrap_or(1), number(3).unwrap_or(1)),
        Some("receive") => receive(&words[1]),
        _ => bench(
            number(0).unwrap_or(100_000),
            number(1).unwrap_or(10),
            words.iter().any(|word| word == "urgent"),
        ),
    }
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

fn send(to: &str, rate: u64, seconds: u64) {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    socket.connect((to, PORT)).expect("an address");
    let (began, total) = (now_ns(), rate * seconds);
    let mut sent = 0u64;
    let mut payload = [0u8; PACKET as usize - 28];
    while sent < total {
        let due = (u128::from(now_ns() - began) * u128::from(rate) / 1_000_000_000) as u64;
        // when the system let it wait, what is more than a millisecond old is left out: a burst would measure itself
        sent = sent.max(due.min(total).saturating_sub(rate.div_ceil(1000)));
        while sent < due.min(total) {
            payload[..8].copy_from_slice(&now_ns().to_le_bytes());
            let _ = socket.send(&payload);
            sent += 1;
        }
        std::hint::spin_loop();
    }
}

fn receive(at: &str) {
    let socket = UdpSocket::bind((at, PORT)).expect("a socket");
    socket.set_read_timeout(Some(Span::from_millis(700))).expect("a timeout");
    setsockopt(&socket, sockopt::RcvBufForce, &ROOM).expect("room");
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true).expect("stamps");
    let taken_ns = DELAY.as_nanos() + PACKET * 8_000_000_000 / RATE.as_bps();
    let mut added = Lateness::default();
    let mut buffer = [0u8; 2048];
    let mut stamps = nix::cmsg_space!(nix::sys::time::TimeSpec);
    loop {
        let mut pieces = [IoSliceMut::new(&mut buffer)];
        let got = recvmsg::<()>(socket.as_raw_fd(), &mut pieces, Some(&mut stamps), MsgFlags::empty());
        let stamped = got.ok().and_then(|message| {
            let stamp = message.cmsgs().ok()?.find_map(|stamp| match stamp {
                ControlMessageOwned::ScmTimestampns(at) => {
                    Some(at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64)
                }
                _ => None,
            });
            (message.bytes >= 8).then_some(stamp?)
        });
        match stamped {
            Some(stamp) => {
                let sent = u64::from_le_bytes(buffer[..8].try_into().expect("eight bytes"));
                let late = stamp.saturating_sub(sent).saturating_sub(taken_ns);
                added.record(Duration::from_nanos(late));
            }
            None if added.count() > 0 => break,
            None => {}
        }
    }
    let at = |share| added.percentile(share).map_or(0.0, |late| late.as_secs_f64() * 1e6);
    println!(
        "{{\"received\": {}, \"added_p50_us\": {:.1}, \"added_p99_us\": {:.1}, \"added_p999_us\": {:.1}, \"added_max_us\": {:.1}}}",
        added.count(),
        at(0.5),
        at(0.99),
        at(0.999),
        added.most().as_secs_f64() * 1e6,
    );
}

fn bench(rate: u64, seconds: u64, urgent: bool) {
    let program = std::env::current_exe().expect("this program has a path").display().to_string();
    let mut net = Blueprint::new(Duration::from_secs(seconds + REST_S));
    let (left, right) = (net.node("left"), net.node("right"));
    net.link("bottleneck", (left, right), PortSpec::new(RATE, DELAY, 10_000));
    let pattern = Pattern::Constant { rate: Rate::from_bps(rate * PACKET * 8) };
    let config = datagram::Config { packet: Bytes::new(PACKET), pattern };
    let flow = net.flow("datagrams", None, FlowKind::Datagram(config), left, &[right]);
    flow.outside = Some(Outside::Commands {
        sender: Some(format!("exec {program} send {{to}} {rate} {seconds}")),
        receiver: Some(format!("exec {program} receive {{to}}")),
    });
    net.emulation.real = vec![left, right];
    let logs = std::env::temp_dir().join(format!("thalweg-emulator-{}", std::process::id()));
    let settings = Settings { urgent, logs: Some(logs.clone()), ..Settings::default() };
    let outcome = match emulate::run(&net, &settings, &Control::default(), None) {
        Ok(outcome) => outcome,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    };
    let received = std::fs::read_to_string(logs.join("datagrams-receiver.log")).unwrap_or_default();
    let _ = std::fs::remove_dir_all(&logs);
    let accuracy = outcome.accuracy;
    let late = |share| accuracy.departures.percentile(share).map_or(0.0, |late| late.as_secs_f64() * 1e6);
    println!(
        "{{\"asked_per_s\": {rate}, \"seconds\": {seconds}, \"urgent\": {urgent}, \"packets_per_s\": {}, \"packets_out\": {}, \"overruns\": {}, \"drops\": {}, \"cpu_loop_share\": {:.3}, \"late_p50_us\": {:.1}, \"late_p99_us\": {:.1}, \"valid\": {}, \"receiver\": {}}}",
        accuracy.packets_in / seconds,
        accuracy.packets_out,
        accuracy.overruns,
        outcome.trace.flows[0].drops.iter().sum::<u64>(),
        accuracy.cpu_loop.as_secs_f64() / seconds as f64,
        late(0.5),
        late(0.99),
        accuracy.faults().is_empty(),
        if received.trim().is_empty() { "null" } else { received.trim() },
    );
}
