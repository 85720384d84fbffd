//! Precision of pacing on this host: packets are due at even intervals, and each departure is compared with its
//! scheduled time.
//!
//! T. Kato et al. (A Study on Performance of Explicit Rate Report based Congestion Control under Coarse-grained Clock
//! Management) doubt that ordinary hosts, whose clocks are coarse, can keep a rate. This module measures lateness,
//! variation and processor time of departures, for the methods with which a program can wait.

use std::net::UdpSocket;
use std::time::Instant;

use contract::Ecn;
use units::{Duration, Time};

use crate::{GsoBatch, Platform as _, Udp};

/// How a sender waits for the next departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It sleeps until then. The system may coalesce timers (on Linux within 50 µs).
    Sleep,
    /// It sleeps without coalescing of timers.
    SleepExact,
    /// It polls the clock until then.
    Spin,
    /// It sleeps until this long before, without coalescing, then polls the clock.
    SleepThenSpin(Duration),
    /// It wakes at every multiple of this, without coalescing, and sends all packets that are due.
    Tick(Duration),
}

/// The result of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Pacing {
    /// Scheduled packets.
    pub scheduled: u64,
    /// Packets that left before the end.
    pub departed: u64,
    /// Duration of the measurement.
    pub span: Duration,
    /// Percentiles of lateness: 50 %, 99 %, 99.9 % and maximum; zero if no packet left.
    pub lateness: [Duration; 4],
    /// Standard deviation of the gaps between departures.
    pub gap_deviation: Duration,
    /// The longest gap.
    pub gap_max: Duration,
    /// Share of gaps that differ by more than half from the interval, 0 to 1.
    pub uneven: f64,
    /// CPU time, user and system.
    pub cpu: Duration,
    /// System calls that sent packets; one call may send several.
    pub calls: u64,
}

/// The quantiles of [`Pacing::lateness`].
pub const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 1.0];

/// What pacing needs of a host: clock, sleep, sending.
pub trait PacingHost {
    /// Time since the start.
    fn now(&mut self) -> Time;

    /// Sleeps until `until` or slightly longer.
    fn sleep(&mut self, until: Time);

    /// CPU time used so far.
    fn cpu(&mut self) -> Duration;

    /// Sends this many packets, at least one. Returns the number of system calls.
    fn depart(&mut self, packets: u64) -> u64;
}

/// Paces for `span` with one packet per `interval`, on `host`.
///
/// Packet n is due at the start + n · `interval`; a late packet does not delay later ones. Packets that are due at the
/// end and have not left are missing from [`Pacing::departed`]. Panics if `interval` is zero.
pub fn pace(host: &mut impl PacingHost, method: Method, interval: Duration, span: Duration) -> Pacing {
    assert!(interval > Duration::ZERO, "packets leave one after the other");
    let (every, scheduled) = (interval.as_nanos(), span.as_nanos() / interval.as_nanos());
    // written to, so that the memory is allocated before the first departure
    let mut lates = vec![1u64; scheduled as usize];
    let mut gaps =
        Gaps { scheduled: interval, last: None, count: 0, sum: 0.0, squares: 0.0, max: 0, uneven: 0 };
    let (cpu, start) = (host.cpu(), host.now());
    let due = |packet: u64| start + Duration::from_nanos((packet + 1) * every);
    // the last departures may be late as well
    let tick = if let Method::Tick(tick) = method { tick } else { Duration::ZERO };
    let end = start + span + interval.max(tick).max(MIN_END_TOLERANCE);
    let (mut departed, mut calls) = (0, 0);
    while departed < scheduled {
        let now = host.now();
        if now > end {
            break;
        }
        let next = due(departed);
        if now < next {
            wait(host, method, next, start);
            continue;
        }
        let batch = match method {
            Method::Tick(_) => ((now - start).as_nanos() / every).min(scheduled) - departed,
            _ => 1,
        };
        for packet in departed..departed + batch {
            lates[packet as usize] = (now - due(packet)).as_nanos();
            gaps.add(now);
        }
        calls += host.depart(batch);
        departed += batch;
    }
    let (taken, cpu) = (host.now() - start, host.cpu().saturating_sub(cpu));
    lates.truncate(departed as usize);
    lates.sort_unstable();
    Pacing {
        scheduled,
        departed,
        span: taken,
        lateness: QUANTILES.map(|quantile| percentile(&lates, quantile)),
        gap_deviation: gaps.deviation(),
        gap_max: Duration::from_nanos(gaps.max),
        uneven: gaps.uneven as f64 / gaps.count.max(1) as f64,
        cpu,
        calls,
    }
}

/// Waits for a departure, or for a while.
fn wait(host: &mut impl PacingHost, method: Method, next: Time, start: Time) {
    match method {
        Method::Sleep | Method::SleepExact => host.sleep(next),
        Method::Spin => std::hint::spin_loop(),
        Method::SleepThenSpin(ahead) => {
            if host.now() + ahead < next {
                host.sleep(next - ahead);
            }
        }
        Method::Tick(tick) => {
            let nanos = tick.as_nanos().max(1);
            let ticks = (next - start).as_nanos().div_ceil(nanos);
            host.sleep(start + Duration::from_nanos(ticks * nanos));
        }
    }
}

/// The value that a share of the sorted values does not exceed.
fn percentile(sorted: &[u64], share: f64) -> Duration {
    let rank = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len().max(1));
    Duration::from_nanos(sorted.get(rank - 1).copied().unwrap_or(0))
}

/// Gaps between departures.
struct Gaps {
    scheduled: Duration,
    last: Option<Time>,
    count: u64,
    sum: f64,
    squares: f64,
    max: u64,
    uneven: u64,
}

impl Gaps {
    fn add(&mut self, now: Time) {
        if let Some(last) = self.last.replace(now) {
            let gap = now - last;
            self.count += 1;
            self.sum += gap.as_nanos() as f64;
            self.squares += gap.as_nanos() as f64 * gap.as_nanos() as f64;
            self.max = self.max.max(gap.as_nanos());
            self.uneven += u64::from(gap.abs_diff(self.scheduled).as_nanos() > self.scheduled.as_nanos() / 2);
        }
    }

    fn deviation(&self) -> Duration {
        let count = self.count.max(1) as f64;
        let mean = self.sum / count;
        Duration::from_secs_f64((self.squares / count - mean * mean).max(0.0).sqrt() * 1e-9)
    }
}

/// Measures on this host, in a separate thread. With `bytes`, each departure is a datagram of this size to a socket on
/// the loopback device; otherwise only the clock is read. Fails without such a socket.
pub fn measure(
    method: Method,
    interval: Duration,
    span: Duration,
    bytes: Option<usize>,
) -> std::io::Result<Pacing> {
    let mut host = RealHost::new(bytes)?;
    let run = move || {
        if method != Method::Sleep {
            // if this is not possible, the results show it
            crate::exact_timers();
        }
        pace(&mut host, method, interval, span)
    };
    match std::thread::spawn(run).join() {
        Ok(pacing) => Ok(pacing),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The clock and sockets of the host.
struct RealHost {
    began: Instant,
    sockets: Option<Sockets>,
}

/// A socket that sends, and another that receives and is never read.
struct Sockets {
    from: Udp,
    to: UdpSocket,
    target: std::net::SocketAddr,
    size: usize,
    bytes: Vec<u8>,
}

impl RealHost {
    fn new(bytes: Option<usize>) -> std::io::Result<Self> {
        let sockets = bytes.map(Sockets::new).transpose()?;
        Ok(Self { began: Instant::now(), sockets })
    }
}

impl Sockets {
    fn new(size: usize) -> std::io::Result<Self> {
        let to = UdpSocket::bind("127.0.0.1:0")?;
        let from = Udp::bind("127.0.0.1:0".parse().expect("an address"))?;
        let max = (MAX_BATCH_BYTES / size.max(1)).clamp(1, from.offloads().0.max(1));
        Ok(Self { target: to.local_addr()?, bytes: vec![0; size * max], from, to, size })
    }

    /// Sends `packets` datagrams, as many as possible per call. A datagram that is not accepted is lost, as on any
    /// network.
    fn send(&mut self, packets: u64) -> u64 {
        let max = (self.bytes.len() / self.size.max(1)) as u64;
        for first in (0..packets).step_by(max.max(1) as usize) {
            let bytes = &self.bytes[..self.size * (packets - first).min(max) as usize];
            self.from.send(&GsoBatch {
                to: self.target,
                ecn: Ecn::NotCapable,
                bytes,
                segment_size: self.size,
            });
        }
        debug_assert!(self.to.local_addr().is_ok(), "the other end is open");
        packets.div_ceil(max.max(1))
    }
}

impl PacingHost for RealHost {
    fn now(&mut self) -> Time {
        Time::from_nanos(self.began.elapsed().as_nanos() as u64)
    }

    fn sleep(&mut self, until: Time) {
        let remaining = until.saturating_since(self.now());
        if remaining > Duration::ZERO {
            std::thread::sleep(std::time::Duration::from_nanos(remaining.as_nanos()));
        }
    }

    fn cpu(&mut self) -> Duration {
        let used = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
        used.map_or(Duration::ZERO, |used| {
            Duration::from_secs(used.tv_sec().max(0) as u64)
                + Duration::from_nanos(used.tv_nsec().max(0) as u64)
        })
    }

    fn depart(&mut self, packets: u64) -> u64 {
        self.sockets.as_mut().map_or(0, |sockets| sockets.send(packets))
    }
}

/// Minimum tolerance of the lateness of the last departures.
const MIN_END_TOLERANCE: Duration = Duration::from_millis(1);
/// Maximum number of bytes in one call.
const MAX_BATCH_BYTES: usize = 65_000;

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    /// A clock that advances when it is read, and sleeps that are too long.
    struct Fake {
        now: Time,
        clock_read_cost: Duration,
        wakeup_latency: Duration,
        call: Duration,
        slept: u64,
        departed: Vec<(Time, u64)>,
    }

    impl Fake {
        fn new(clock_read_cost: Duration, wakeup_latency: Duration, call: Duration) -> Self {
            Self { now: Time::ZERO, clock_read_cost, wakeup_latency, call, slept: 0, departed: Vec::new() }
        }
    }

    impl PacingHost for Fake {
        fn now(&mut self) -> Time {
            self.now += self.clock_read_cost;
            self.now
        }

        fn sleep(&mut self, until: Time) {
            self.slept += 1;
            self.now = self.now.max(until) + self.wakeup_latency;
        }

        fn cpu(&mut self) -> Duration {
            Duration::from_nanos(self.departed.len() as u64 * self.call.as_nanos())
        }

        fn depart(&mut self, packets: u64) -> u64 {
            self.departed.push((self.now, packets));
            self.now += self.call;
            1
        }
    }

    fn micros(values: [u64; 4]) -> [Duration; 4] {
        values.map(Duration::from_micros)
    }

    #[test]
    fn sleep_is_late_by_the_wakeup_latency() {
        let mut host = Fake::new(Duration::ZERO, Duration::from_micros(60), Duration::ZERO);
        let found = pace(&mut host, Method::Sleep, Duration::from_millis(1), Duration::from_millis(100));
        assert_eq!((found.scheduled, found.departed, found.calls, host.slept), (100, 100, 100, 100));
        assert_eq!(found.lateness, micros([60; 4]), "lateness does not add up");
        assert_eq!((found.gap_deviation, found.uneven), (Duration::ZERO, 0.0));
    }

    #[test]
    fn a_wakeup_latency_above_the_interval_causes_bursts() {
        let mut host = Fake::new(Duration::ZERO, Duration::from_micros(95), Duration::ZERO);
        let found = pace(&mut host, Method::Sleep, Duration::from_micros(10), Duration::from_millis(10));
        // it sleeps to 10 µs and wakes at 105: ten are due, and so on every 100 µs
        assert_eq!((found.departed, host.slept), (1000, 100));
        assert_eq!(found.lateness, micros([45, 95, 95, 95]));
        assert_eq!((found.gap_max, found.uneven), (Duration::from_micros(100), 1.0));
    }

    #[test]
    fn polling_is_late_by_at_most_one_clock_reading() {
        let mut host = Fake::new(Duration::from_nanos(25), Duration::from_millis(9), Duration::ZERO);
        let found = pace(&mut host, Method::Spin, MICRO, Duration::from_millis(1));
        assert_eq!((found.departed, host.slept), (1000, 0));
        assert!(found.lateness[3] <= Duration::from_nanos(25), "{:?}", found.lateness);
    }

    #[test]
    fn sleep_then_spin_hides_the_wakeup_latency() {
        let wakeup_latency = Duration::from_micros(60);
        let mut host = Fake::new(Duration::from_nanos(25), wakeup_latency, Duration::ZERO);
        let method = Method::SleepThenSpin(Duration::from_micros(100));
        let found = pace(&mut host, method, Duration::from_millis(1), Duration::from_millis(50));
        assert_eq!((found.departed, host.slept), (50, 50));
        assert!(found.lateness[3] <= Duration::from_nanos(50), "{:?}", found.lateness);
    }

    #[test]
    fn a_tick_sends_all_packets_that_are_due() {
        let mut host = Fake::new(Duration::ZERO, Duration::ZERO, Duration::ZERO);
        let method = Method::Tick(Duration::from_micros(100));
        let found = pace(&mut host, method, Duration::from_micros(10), Duration::from_millis(1));
        assert_eq!((found.departed, found.calls), (100, 10));
        assert!(host.departed.iter().all(|(_, packets)| *packets == 10), "{:?}", host.departed);
        assert_eq!(found.lateness, micros([40, 90, 90, 90]));
    }

    #[test]
    fn a_call_longer_than_the_interval_limits_the_rate() {
        // 10 ms and one more are 5500 departures of 2 µs
        let mut host = Fake::new(Duration::from_nanos(1), Duration::ZERO, Duration::from_micros(2));
        let found = pace(&mut host, Method::Spin, MICRO, Duration::from_millis(10));
        assert_eq!(found.scheduled, 10_000);
        assert!((5495..=5505).contains(&found.departed), "{}", found.departed);
        assert_eq!(found.cpu, Duration::from_nanos(found.departed * 2000));
        assert!(found.lateness[3] >= Duration::from_micros(5490), "{:?}", found.lateness);
    }

    #[test]
    fn this_host_sends_what_is_scheduled() {
        for (method, bytes) in [
            (Method::Sleep, None),
            (Method::SleepExact, Some(50)),
            (Method::Spin, Some(50)),
            (Method::SleepThenSpin(Duration::from_micros(100)), None),
            (Method::Tick(Duration::from_millis(2)), Some(50)),
        ] {
            // a host may keep a thread off its processor for all of a short span
            let of_span = |ms: u64| {
                let found = measure(method, Duration::from_millis(1), Duration::from_millis(ms), bytes);
                let found = found.expect("there is a loopback device");
                assert_eq!(found.scheduled, ms);
                assert!(found.departed <= ms, "{method:?}: {found:?}");
                found
            };
            let found = [20, 200, 2000].into_iter().map(of_span).find(|found| found.departed > 0);
            let found = found.unwrap_or_else(|| panic!("{method:?}: nothing departed in two seconds"));
            assert!(found.lateness[0] <= found.lateness[3], "{found:?}");
        }
    }
}
