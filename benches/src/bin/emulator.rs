//! How long the emulator holds packets up: datagrams at a constant rate from one namespace to another, through one
//! bottleneck.
//!
//! usage: emulator [PACKETS_PER_SECOND [SECONDS [urgent]]]
//!
//! The emulation starts this program again as its sender and as its receiver. The sender writes the time into each
//! datagram. The kernel stamps each when it is written to the receiver's device, so that how busy the machine keeps the
//! receiver does not count; what the link itself takes is taken off, and the rest was added. Prints one JSON line:
//! `added` is the whole; `pickup` how long the loop looked away from the devices, `departure` how late it wrote, `send`
//! how long the sender's own calls took, all in microseconds. Needs root.
#![expect(
    clippy::disallowed_methods,
    reason = "sender and receiver are processes that share the clock of the system"
)]

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration as Span, SystemTime, UNIX_EPOCH};

use emulate::{Lateness, Settings};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, recvmmsg, setsockopt, sockopt};
use sim::{Blueprint, Control, FlowEmulation, FlowKind, Observers, PortSpec};
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
/// Datagrams that the receiver takes at once: it is to leave the processor to what is measured.
const TOGETHER: usize = 64;
/// The sender sleeps between bursts, for the same reason. What is due meanwhile leaves together and waits for itself at
/// the bottleneck, five packets of a microsecond at 100 000 a second.
const SENDS_EVERY: Span = Span::from_micros(50);

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

/// Sends this many packets a second, those that are due together, and says how long the system took over each.
fn send(to: &str, rate: u64, seconds: u64) {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    socket.connect((to, PORT)).expect("an address");
    // without it every sleep is 50 µs longer
    let _ = nix::sys::prctl::set_timerslack(1);
    let (began, total) = (now_ns(), rate * seconds);
    let mut sent = 0u64;
    let mut payload = [0u8; PACKET as usize - 28];
    let mut took = Lateness::default();
    while sent < total {
        let due = (u128::from(now_ns() - began) * u128::from(rate) / 1_000_000_000) as u64;
        // when the system let it wait, what is more than a millisecond old is left out: a burst would measure itself
        sent = sent.max(due.min(total).saturating_sub(rate.div_ceil(1000)));
        while sent < due.min(total) {
            let before = now_ns();
            payload[..8].copy_from_slice(&before.to_le_bytes());
            let _ = socket.send(&payload);
            took.record(Duration::from_nanos(now_ns().saturating_sub(before)));
            sent += 1;
        }
        std::thread::sleep(SENDS_EVERY);
    }
    println!("{}", percentiles("send", &took));
}

/// Takes what comes, and says how much later than the link demands it reached the socket.
fn receive(at: &str) {
    let socket = UdpSocket::bind((at, PORT)).expect("a socket");
    socket.set_read_timeout(Some(Span::from_millis(700))).expect("a timeout");
    setsockopt(&socket, sockopt::RcvBufForce, &ROOM).expect("room");
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true).expect("stamps");
    let taken_ns = DELAY.as_nanos() + PACKET * 8_000_000_000 / RATE.as_bps();
    let mut added = Lateness::default();
    let mut buffers = vec![[0u8; 8]; TOGETHER];
    let stamps = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let mut headers = MultiHeaders::<()>::preallocate(TOGETHER, Some(stamps));
    loop {
        let mut came = [0u64; TOGETHER];
        {
            // of each datagram its first bytes are enough
            let mut rooms: Vec<_> = buffers.iter_mut().map(|room| [IoSliceMut::new(room)]).collect();
            let flags = MsgFlags::MSG_WAITFORONE;
            let got = recvmmsg(socket.as_raw_fd(), &mut headers, rooms.iter_mut(), flags, None);
            for (stamp, message) in came.iter_mut().zip(got.into_iter().flatten()) {
                let found = message.cmsgs().ok().into_iter().flatten().find_map(|one| match one {
                    ControlMessageOwned::ScmTimestampns(at) => {
                        Some(at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64)
                    }
                    _ => None,
                });
                *stamp = found.filter(|_| message.bytes == 8).unwrap_or(0);
            }
        }
        if came[0] == 0 && added.count() > 0 {
            break;
        }
        for (stamp, sent) in came.iter().zip(&buffers).filter(|(stamp, _)| **stamp > 0) {
            let late = stamp.saturating_sub(u64::from_le_bytes(*sent)).saturating_sub(taken_ns);
            added.record(Duration::from_nanos(late));
        }
    }
    println!("\"received\": {}, {}", added.count(), percentiles("added", &added));
}

/// Percentiles in microseconds, as fields of a JSON object.
fn percentiles(name: &str, of: &Lateness) -> String {
    let at = |share| of.percentile(share).map_or(0.0, |late| late.as_secs_f64() * 1e6);
    let max = of.max().as_secs_f64() * 1e6;
    format!(
        "\"{name}_p50_us\": {:.1}, \"{name}_p99_us\": {:.1}, \"{name}_p999_us\": {:.1}, \"{name}_max_us\": {max:.1}",
        at(0.5),
        at(0.99),
        at(0.999)
    )
}

fn bench(rate: u64, seconds: u64, urgent: bool) {
    let program = std::env::current_exe().expect("this program has a path").display().to_string();
    let mut net = Blueprint::new(Duration::from_secs(seconds + REST_S));
    let (left, right) = (net.node("left"), net.node("right"));
    net.link("bottleneck", (left, right), PortSpec::new(RATE, DELAY, 10_000));
    let pattern = Pattern::Constant { rate: Rate::from_bps(rate * PACKET * 8) };
    // as the threads that write TCP's data are, where the system has the tool: else it is measured whether the sender
    // was let run
    let preferred = if urgent { "$(command -v chrt >/dev/null && echo chrt -r 1) " } else { "" };
    let config = datagram::Config { packet: Bytes::new(PACKET), pattern };
    let flow = net.flow("datagrams", None, FlowKind::Datagram(config), left, &[right]);
    flow.emulation = Some(Box::new(FlowEmulation::Commands {
        sender: Some(format!("exec {preferred}{program} send {{to}} {rate} {seconds}")),
        receiver: Some(format!("exec {program} receive {{to}}")),
    }));
    net.emulation.real = vec![left, right];
    let logs = std::env::temp_dir().join(format!("thalweg-emulator-{}", std::process::id()));
    let settings = Settings { urgent, logs: Some(logs.clone()), ..Settings::default() };
    let outcome = match emulate::run(&net, &settings, &Control::default(), Observers::default()) {
        Ok(outcome) => outcome,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    };
    let said = |end: &str| {
        let text = std::fs::read_to_string(logs.join(format!("datagrams-{end}.log"))).unwrap_or_default();
        text.lines()
            .map(str::trim)
            .find(|line| line.starts_with('"'))
            .unwrap_or("\"silent\": true")
            .to_owned()
    };
    let (sender, receiver) = (said("sender"), said("receiver"));
    let _ = std::fs::remove_dir_all(&logs);
    let accuracy = outcome.accuracy;
    println!(
        "{{\"asked_per_s\": {rate}, \"seconds\": {seconds}, \"urgent\": {urgent}, \"packets_per_s\": {}, \"packets_out\": {}, \"overruns\": {}, \"drops\": {}, \"cpu_loop_share\": {:.3}, \"valid\": {}, {receiver}, {}, {}, {sender}}}",
        accuracy.packets_in / seconds,
        accuracy.packets_out,
        accuracy.overruns,
        outcome.trace.flows[0].drops.iter().sum::<u64>(),
        accuracy.cpu_loop.as_secs_f64() / seconds as f64,
        accuracy.faults().is_empty(),
        percentiles("departure", &accuracy.departures),
        percentiles("pickup", &accuracy.pickups),
    );
}
