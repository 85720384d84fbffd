//! Several forwarders in one process, each with its own thread and socket: a test network on the loopback device.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

use driver::Clock;
use units::{Duration, Lateness, Time};

use super::{App, Control, Error, LinkSettings, Listen, Node, RouteSettings, Settings, Sockets, drive};

/// A forwarder of the test network.
pub struct TestbedNode {
    /// Its name.
    pub name: String,
    /// Its settings; links are added to them.
    pub settings: Settings,
    /// Its routes: a prefix, and the host at the other end of a wire.
    pub routes: Vec<(wire::ndn::Name, usize)>,
    /// Its endpoints.
    pub apps: Vec<App>,
}

/// A link between two hosts, by their indices, with the same rate, queue and delay in both directions.
#[derive(Clone, Debug)]
pub struct TestbedLink {
    /// Its ends.
    pub ends: (usize, usize),
    /// Rate, delay, queue.
    pub settings: LinkSettings,
}

/// A forwarder after the run.
pub struct TestbedResult {
    /// Its name.
    pub name: String,
    /// The forwarder with its endpoints.
    pub node: Node,
    /// Lateness of its event loop.
    pub late: Lateness,
}

/// The loop polls instead of sleeping when a deadline is within this time.
const SPIN: Duration = Duration::from_micros(20);

/// Runs all forwarders for `span` on this host. Each listens on a free port of the loopback device.
pub fn run_testbed(
    hosts: Vec<TestbedNode>,
    wires: &[TestbedLink],
    span: Duration,
    control: &Control,
) -> Result<Vec<TestbedResult>, Error> {
    let clock = Clock::start();
    let listen = Listen { udp: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))), ..Listen::default() };
    let opened: Result<Vec<Sockets>, Error> =
        hosts.iter().map(|_| Sockets::open_with(&listen, clock)).collect();
    let mut opened = opened?;
    let addresses: Vec<Option<SocketAddr>> = opened.iter().map(Sockets::udp_address).collect();
    opened.iter_mut().for_each(|sockets| sockets.spin(SPIN));
    let mut nodes = Vec::with_capacity(hosts.len());
    for (number, host) in hosts.into_iter().enumerate() {
        let mut settings = host.settings;
        let mut towards = Vec::new();
        for wire in wires {
            let other = match wire.ends {
                (a, b) if a == number => b,
                (a, b) if b == number => a,
                _ => continue,
            };
            let to = addresses.get(other).copied().flatten();
            settings.links.push(LinkSettings { to, ..wire.settings.clone() });
            towards.push(other);
        }
        for (prefix, to) in host.routes {
            let link = towards.iter().position(|other| *other == to).ok_or(Error::NoSuchLink(to))?;
            settings.routes.push(RouteSettings { prefix, link, cost: 1 });
        }
        let mut node = Node::new(settings)?;
        for app in host.apps {
            node.add_app(app)?;
        }
        nodes.push((host.name, node));
    }
    let until = Time::ZERO + span;
    thread::scope(|scope| {
        let running: Vec<_> = nodes
            .into_iter()
            .zip(opened)
            .map(|((name, mut node), mut sockets)| {
                scope.spawn(move || {
                    driver::exact_timers();
                    let late = drive(&mut node, &mut sockets, control, until);
                    TestbedResult { name, node, late }
                })
            })
            .collect();
        let ended = running.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        Ok(ended.collect())
    })
}
