//! Transfers of files through networks of our own forwarders, each with a thread, sockets and links of a given rate,
//! compared with the same network in simulation. All traffic stays on the loopback device; no privileges are needed.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use contract::Count;
use driver::Clock;
use ndn_net::forwarder::{
    Control, LinkSettings, Listen, Node, PortStats, RouteSettings, Settings, Sockets, Stats, drive,
};
use ndn_net::{Face, FaceUri, Fetch, Fetched, Serve, connect, fetch, serve};
use units::{Bytes, Duration, Rate, Time};
use wire::ndn::Name;

/// Networks of threads run one at a time, since they share the processor.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A link, equal in both directions.
struct Wire {
    ends: [&'static str; 2],
    mbps: u64,
    delay_ms: u64,
}

const fn wire(a: &'static str, b: &'static str, mbps: u64, delay_ms: u64) -> Wire {
    Wire { ends: [a, b], mbps, delay_ms }
}

/// Queue limit of a link, in packets.
const BUFFER: u32 = 100;
/// Bytes of a file in a Data packet.
const SEGMENT: usize = 1000;

/// Consumers at hosts, each of which fetches a file from the host `p`.
struct Case {
    hosts: Vec<&'static str>,
    wires: Vec<Wire>,
    strategy: &'static str,
    scheme: &'static str,
    /// The host, and the size of its file in bytes.
    files: Vec<(&'static str, usize)>,
}

/// Measurements of a case on sockets.
struct Seen {
    fetched: Vec<Fetched>,
    stats: Vec<Stats>,
    /// Maximum bytes in the queues of one host, sampled every 20 ms.
    queued: usize,
    /// Lateness of the forwarder with the latest loop: the 99th percentile.
    late: Duration,
}

/// Pseudorandom bytes, the same each time.
fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

impl Case {
    fn place(&self, host: &str) -> usize {
        self.hosts.iter().position(|other| *other == host).expect("the host is there")
    }

    /// Number of links from a host to `p`.
    fn distance(&self, host: &str) -> usize {
        let mut reached = vec![("p", 0)];
        let mut at = 0;
        while at < reached.len() {
            let (here, far) = reached[at];
            for [a, b] in self.wires.iter().map(|wire| wire.ends) {
                let next = if a == here {
                    b
                } else if b == here {
                    a
                } else {
                    continue;
                };
                if !reached.iter().any(|(other, _)| *other == next) {
                    reached.push((next, far + 1));
                }
            }
            at += 1;
        }
        reached.iter().find(|(other, _)| *other == host).expect("it is reached").1
    }

    /// The forwarder of a host: its links in the order of the wires, and routes over all that lead towards `p`.
    fn node(&self, host: &'static str, addresses: &[Option<SocketAddr>]) -> Node {
        let (mut links, mut routes) = (Vec::new(), Vec::new());
        for wire in &self.wires {
            let other = match wire.ends {
                [a, b] if a == host => b,
                [a, b] if b == host => a,
                _ => continue,
            };
            if self.distance(other) < self.distance(host) {
                let to = |prefix: String| RouteSettings { prefix: name(&prefix), link: links.len(), cost: 1 };
                routes.extend((0..self.files.len()).map(|file| to(format!("/file{file}"))));
            }
            let rate = Rate::from_mbps(wire.mbps);
            links.push(LinkSettings {
                name: format!("{host}-{other}"),
                to: addresses[self.place(other)],
                rate,
                rate_in: rate,
                buffer: BUFFER,
                delay: Duration::from_millis(wire.delay_ms),
                ..LinkSettings::default()
            });
        }
        let (strategy, link) = (self.strategy.to_owned(), Some(self.scheme.to_owned()));
        let data = Bytes::new(1150);
        Node::new(Settings { strategy, link, data, links, routes, ..Settings::default() })
            .expect("the settings are right")
    }

    fn access(&self, host: &str) -> Rate {
        let mut own = self.wires.iter().filter(|wire| wire.ends.contains(&host));
        Rate::from_mbps(own.next().map_or(0, |wire| wire.mbps))
    }

    /// The case on sockets.
    fn run(&self, what: &str) -> Seen {
        let clock = Clock::start();
        let path = |host: &str| -> PathBuf {
            std::env::temp_dir().join(format!("thalweg-{}-{what}-{host}.sock", std::process::id()))
        };
        let udp = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let opened: Vec<Sockets> = self
            .hosts
            .iter()
            .map(|host| {
                let listen = Listen {
                    udp,
                    unix: Some(path(host)),
                    programs: 8,
                    held: Some(65_536),
                    ..Listen::default()
                };
                Sockets::open_with(&listen, clock).expect("sockets can be opened")
            })
            .collect();
        let addresses: Vec<Option<SocketAddr>> = opened.iter().map(Sockets::udp_address).collect();
        let nodes: Vec<Node> = self.hosts.iter().map(|host| self.node(host, &addresses)).collect();
        let files: Vec<Vec<u8>> =
            self.files.iter().zip(1..).map(|(file, seed)| content(file.1, seed)).collect();
        let controls: Vec<Control> = nodes.iter().map(|_| Control::default()).collect();
        let (producing, fetching) = (ndn_net::Control::new(), ndn_net::Control::new());
        let until = Time::ZERO + Duration::from_secs(120);
        std::thread::scope(|scope| {
            let forwarders: Vec<_> = nodes
                .into_iter()
                .zip(opened)
                .zip(&controls)
                .map(|((mut node, mut sockets), control)| {
                    scope.spawn(move || {
                        let late = drive(&mut node, &mut sockets, control, until);
                        (node.stats(), late.percentile(0.99).unwrap_or_default())
                    })
                })
                .collect();
            let producers: Vec<_> = files
                .iter()
                .enumerate()
                .map(|(number, file)| {
                    let (mut file, place, producing) = (file.clone(), FaceUri::Unix(path("p")), &producing);
                    scope.spawn(move || {
                        let socket = connect(&place).expect("the forwarder is there");
                        let prefix = name(&format!("/file{number}"));
                        let served =
                            Serve { segment: SEGMENT, ..Serve::new(prefix, 7, 1_000_000 + number as u64) };
                        serve(&mut Face::new(socket, 1 + number as u64), &served, &mut file, producing)
                    })
                })
                .collect();
            let commands = || controls[self.place("p")].status().map_or(0, |stats| stats.strays.commands);
            while commands() < files.len() as u64 && clock.now() < Time::ZERO + Duration::from_secs(30) {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            let consumers: Vec<_> = self
                .files
                .iter()
                .enumerate()
                .map(|(number, (host, _))| {
                    let (place, fetching) = (FaceUri::Unix(path(host)), &fetching);
                    let access = Some(self.access(host));
                    scope.spawn(move || {
                        let socket = connect(&place).expect("the forwarder is there");
                        let mut out = Vec::new();
                        let wanted = Fetch {
                            access,
                            seed: 7 + number as u64,
                            ..Fetch::new(name(&format!("/file{number}")), self.scheme)
                        };
                        let fetched =
                            fetch(&mut Face::new(socket, 9 + number as u64), &wanted, &mut out, fetching);
                        (fetched, out)
                    })
                })
                .collect();
            let mut queued = 0;
            while !consumers.iter().all(|thread| thread.is_finished()) {
                let standing = controls.iter().filter_map(Control::status).map(|stats| stats.queued);
                queued = queued.max(standing.max().unwrap_or(0));
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            let ended: Vec<_> = consumers.into_iter().map(|thread| thread.join().expect("it ends")).collect();
            producing.stop();
            for thread in producers {
                assert!(thread.join().expect("it ends").failure.is_none());
            }
            controls.iter().for_each(Control::stop);
            let stopped: Vec<_> =
                forwarders.into_iter().map(|thread| thread.join().expect("it ends")).collect();
            let late = stopped.iter().map(|stopped| stopped.1).max().unwrap_or(Duration::ZERO);
            for ((fetched, out), file) in ended.iter().zip(&files) {
                assert!(fetched.failure.is_none(), "{:?}", fetched.failure);
                assert!(out == file, "{} of {} bytes", out.len(), file.len());
            }
            Seen {
                fetched: ended.into_iter().map(|ended| ended.0).collect(),
                stats: stopped.into_iter().map(|stopped| stopped.0).collect(),
                queued,
                late,
            }
        })
    }

    /// The testbed as a scenario, with Data of the given size on the wire.
    fn scenario(&self, data: u64) -> String {
        let mut text = String::from("duration = \"120 s\"\n[topology]\nkind = \"custom\"\nlinks = [\n");
        for Wire { ends: [a, b], mbps, delay_ms } in &self.wires {
            let _ = writeln!(
                text,
                r#"{{ name = "{a}-{b}", ends = ["{a}", "{b}"], rate = "{mbps} Mbit/s", delay = "{delay_ms} ms", buffer = "{BUFFER} packets" }},"#
            );
        }
        let _ = writeln!(text, "]\n[ndn]\nstrategy = \"{}\"\nlink = \"{}\"", self.strategy, self.scheme);
        for (number, (host, bytes)) in self.files.iter().enumerate() {
            // the first segment is fetched with the version, before
            let size = bytes - SEGMENT;
            let _ = writeln!(
                text,
                r#"
[[producers]]
prefix = "/file{number}"
node = "p"
payload = "{SEGMENT} B"
data = "{data} B"

[[flows]]
name = "file{number}"
network = "ndn"
scheme = "{}"
from = "{host}"
prefix = "/file{number}"
size = "{size} B""#,
                self.scheme
            );
        }
        text
    }

    fn simulated(&self, data: u64) -> lab::Report {
        let scenario = lab::load(&self.scenario(data), "case.toml")
            .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let plan = scenario.plan(None).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        lab::run(&plan, &sim::Control::default()).report
    }
}

/// Results of the consumers' flows in the simulator, summed.
fn sum(report: &lab::Report, case: &Case, metric: &str) -> u64 {
    let value = |file: usize| report.value(&format!("flow.file{file}.{metric}")).unwrap_or(0.0) as u64;
    (0..case.files.len()).map(value).sum()
}

impl Seen {
    fn port(&self, name: &str) -> &PortStats {
        let ports = self.stats.iter().flat_map(|stats| &stats.ports);
        ports.into_iter().find(|port| port.name == name).expect("the link is there")
    }

    /// Size of a Data packet on the wire, measured at a link with no other traffic.
    fn data(&self, link: &str) -> u64 {
        let counts = &self.port(link).counts;
        counts.bytes_in / counts.frames_in.max(1) + 28
    }

    /// Seconds from the first segment to the last.
    fn took(&self) -> Vec<f64> {
        self.fetched.iter().map(|file| (file.span.saturating_sub(file.finding)).as_secs_f64()).collect()
    }

    fn marks(&self) -> u64 {
        self.fetched.iter().map(|file| file.meter.count(Count::Marks)).sum()
    }

    fn dropped(&self) -> u64 {
        let ports = self.stats.iter().flat_map(|stats| &stats.ports);
        ports.map(|port| port.counts.dropped).sum()
    }

    /// Prints the results, with the simulator's in brackets.
    fn send_feedback(&self, scheme: &str, words: &str, report: &lab::Report, case: &Case) {
        eprintln!(
            "{scheme}: {words}; {} marks ({}), {} dropped ({}), at most {} bytes queued; 99 % within {}",
            self.marks(),
            sum(report, case, "marks"),
            self.dropped(),
            sum(report, case, "drops"),
            self.queued,
            self.late
        );
    }

    /// Whether the machine kept up; if not, times cannot be compared, and a message says so.
    fn kept_up(&self, test: &str) -> bool {
        let kept = self.late < Duration::from_millis(5);
        if !kept {
            eprintln!("skipped: times of {test}: the machine could not keep up: 1 % was {} late", self.late);
        }
        kept
    }

    /// Asserts that no forwarder had errors, on a machine under any load.
    fn is_sound(&self, case: &Case) {
        for stats in &self.stats {
            assert_eq!(stats.ports.iter().map(|port| port.counts.malformed).sum::<u64>(), 0);
            assert_eq!((stats.strays.strangers, stats.strays.full, stats.strays.crowded), (0, 0, 0));
        }
        // the queue limit, and packets in flight on links with a delay, at each of a host's links
        let max = case.wires.len() * (BUFFER as usize + 200) * 1700;
        assert!(self.queued < max, "{} bytes waited", self.queued);
    }
}

/// Whether both differ by at most `by`, as a share of the second.
fn near(left: f64, right: f64, by: f64) -> bool {
    (left / right - 1.0).abs() < by
}

/// A consumer has two paths to the producer, of 8 and 4 Mbit/s.
fn two_ways() -> Case {
    Case {
        hosts: vec!["a", "r1", "r2", "p"],
        wires: vec![
            wire("a", "r1", 8, 5),
            wire("a", "r2", 4, 5),
            wire("r1", "p", 50, 5),
            wire("r2", "p", 50, 5),
        ],
        strategy: "pcon",
        scheme: "pcon",
        files: vec![("a", 4_000_000)],
    }
}

/// Two consumers share a link of 8 Mbit/s.
fn dumbbell(scheme: &'static str) -> Case {
    Case {
        hosts: vec!["c1", "c2", "r", "p"],
        wires: vec![wire("c1", "r", 50, 5), wire("c2", "r", 50, 5), wire("r", "p", 8, 10)],
        strategy: "best_route",
        scheme,
        files: vec![("c1", 1_500_000), ("c2", 1_500_000)],
    }
}

/// Repeats a case until its results agree with the simulation, three times at most: other load can make a machine
/// slower, but not faster. `judge` returns errors of times, which do not count if the machine did not keep up.
fn tried(case: &Case, what: &str, judge: impl Fn(&Seen) -> Option<String>) {
    let _alone = alone();
    let mut wrong = Vec::new();
    for _ in 0..3 {
        let seen = case.run(what);
        seen.is_sound(case);
        match judge(&seen) {
            _ if !seen.kept_up(what) => {}
            None => return,
            Some(words) => wrong.push(words),
        }
    }
    assert!(wrong.len() < 3, "{wrong:?}");
}

mod wall_clock {
    use super::*;

    #[test]
    fn pcon_uses_two_paths_and_responds_to_marks() {
        let case = two_ways();
        tried(&case, "pcon", |seen| {
            let (fast, slow) = (&seen.port("a-r1").counts, &seen.port("a-r2").counts);
            assert!(seen.marks() > 0, "queues stand, and are marked");
            assert!(slow.bytes_in > 0 && fast.bytes_in > slow.bytes_in, "{fast:?} {slow:?}");
            let share = slow.bytes_in as f64 / (fast.bytes_in + slow.bytes_in) as f64;
            let report = case.simulated(seen.data("a-r1"));
            let carried = |link: &str, mbps: f64| {
                mbps * report.value(&format!("link.{link}.backward.utilisation")).expect("it is measured")
            };
            let (near_way, far_way) = (carried("a-r1", 8.0), carried("a-r2", 4.0));
            let simulated_share = far_way / (near_way + far_way);
            let simulated = report.value("flow.file0.fct").expect("it arrives");
            let took = seen.took()[0];
            let words = format!(
                "{took:.2} s, simulated {simulated:.2} s; share of the slow way {share:.3}, simulated {simulated_share:.3}"
            );
            seen.send_feedback("pcon", &words, &report, &case);
            let right = near(took, simulated, 0.15) && (share - simulated_share).abs() < 0.1;
            (!right || seen.dropped() > 0).then_some(words)
        });
    }

    /// Two files over one link, on sockets and simulated.
    fn shared(scheme: &'static str) {
        let case = dumbbell(scheme);
        tried(&case, scheme, |seen| {
            let report = case.simulated(seen.data("r-p"));
            let simulated: Vec<f64> = (0..2)
                .map(|file| report.value(&format!("flow.file{file}.fct")).expect("it arrives"))
                .collect();
            let took = seen.took();
            let words = format!("{took:.2?} s, simulated {simulated:.2?} s");
            seen.send_feedback(scheme, &words, &report, &case);
            let longest = |times: &[f64]| times.iter().fold(0.0f64, |max, time| max.max(*time));
            (!near(longest(&took), longest(&simulated), 0.15)).then_some(words)
        });
    }

    #[test]
    fn ndnsieve_keeps_a_short_queue_without_a_controller() {
        shared("ndnsieve");
    }

    #[test]
    fn mircc_consumers_send_at_the_rates_of_the_routers() {
        shared("mircc");
    }
}
