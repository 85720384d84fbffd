//! A test environment for control apps: the view of a controller, and the commands of the app.

use contract::{
    Address, App, AppCx, Cache, Command, Cx, DirectedLink, EndpointId, FlowId, Meter, Net, NodeId, Outputs,
    PortId, Random, Share, Status,
};
use units::{Duration, Rate, Time};

/// Links as `(a, b, delay in ms)`, all of 10 Mbit/s with room for 500 packets: port 2 i is a → b, 2 i + 1 is b → a.
/// Every node has an agent.
pub fn net(nodes: u32, links: &[(u32, u32, u64)]) -> Net {
    let mut net = Net {
        out: vec![Vec::new(); nodes as usize],
        agents: (0..nodes).map(NodeId).collect(),
        ..Net::default()
    };
    for &(a, b, delay) in links {
        for (from, to) in [(a, b), (b, a)] {
            let port = PortId(net.links.len() as u32);
            net.out[from as usize].push(port);
            net.links.push(Some(DirectedLink {
                port,
                back: PortId(port.0 ^ 1),
                from: NodeId(from),
                to: NodeId(to),
                rate: Rate::from_mbps(10),
                delay: Duration::from_millis(delay),
                limit: 500,
            }));
        }
    }
    net
}

/// A control app with its context.
pub struct AppBench<A> {
    /// The app.
    pub app: A,
    /// Its view of the network.
    pub net: Net,
    /// Reported statuses.
    pub cache: Cache,
    /// The current instant.
    pub now: Time,
    /// Counters.
    pub meter: Meter,
    random: Random,
    out: Outputs,
}

impl<A: App> AppBench<A> {
    /// An app that knows `net`.
    pub fn new(app: A, net: Net) -> Self {
        Self {
            app,
            net,
            cache: Cache::default(),
            now: Time::ZERO,
            meter: Meter::default(),
            random: Random::new(1, "desk", "app"),
            out: Outputs::default(),
        }
    }

    /// A status arrives that was measured now. The load is a ratio, the backlog is in packets.
    pub fn status(&mut self, port: u32, load: f64, backlog: u32, shares: &[Share]) {
        let port = PortId(port);
        let limit = self.net.link(port).map_or(500, |link| link.limit);
        let status = Status {
            port,
            rate: self.net.link(port).map_or(Rate::ZERO, |link| link.rate),
            load: (load * 1e6).round() as u32,
            occupancy: (u64::from(backlog) * 1_000_000 / u64::from(limit)) as u32,
            backlog,
            shares: shares.len() as u16,
        };
        self.cache.keep(self.now, status, shares.iter().copied());
    }

    /// A signal arrives. The app's commands are recorded in the net, as if they were executed.
    pub fn signal(&mut self, port: u32) -> Vec<(NodeId, Command)> {
        self.call(|app, cx| app.on_signal(PortId(port), cx))
    }

    /// The app hears of the status that [`AppBench::status`] stored.
    pub fn reported(&mut self, port: u32) -> Vec<(NodeId, Command)> {
        self.call(|app, cx| app.on_status(PortId(port), cx))
    }

    /// A status with another rate of a link arrives; zero for a link that is down.
    pub fn link(&mut self, port: u32, rate: Rate) -> Vec<(NodeId, Command)> {
        if let Some(Some(link)) = self.net.links.get_mut(port as usize) {
            link.rate = rate;
        }
        self.call(|app, cx| app.on_link(PortId(port), cx))
    }

    fn call(&mut self, act: impl FnOnce(&mut A, &mut AppCx<'_, '_>)) -> Vec<(NodeId, Command)> {
        let me = Address { node: NodeId(99), endpoint: EndpointId(99) };
        let mut cx = Cx::new(self.now, me, FlowId(0), &mut self.random, &mut self.meter, &mut self.out);
        let mut commands = Vec::new();
        act(&mut self.app, &mut AppCx::new(&mut cx, &self.net, &self.cache, &mut commands));
        commands.iter().for_each(|(node, command)| self.net.note(*node, command));
        commands
    }
}
