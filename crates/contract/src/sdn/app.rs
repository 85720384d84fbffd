//! The part of a scheme in the controller.

use ambassador::delegatable_trait;
use units::Time;

use super::{Cache, Command, Net};
use crate::{Count, Cx, NodeId, PortId, Random};

/// Requirements of an app for agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Load threshold of signals, in millionths; `None` for no signals.
    pub signal_above: Option<u32>,
}

/// A control app: the part of a scheme in the SDN controller.
///
/// It handles messages and outputs commands. A command takes effect when it arrives, which can be late; the controller
/// retransmits lost commands. The app ends when the controller stops; a restarted controller creates a new one.
#[delegatable_trait]
pub trait App {
    /// Requirements for agents. Called once, when the network is created.
    fn requirements(&self) -> Requirements {
        Requirements { signal_above: None }
    }

    /// The controller starts, with its configuration only.
    fn on_start(&mut self, _cx: &mut AppCx<'_, '_>) {}

    /// A port's status arrived. It is already in the cache, and its rate in the net.
    fn on_status(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// A port's signal arrived. Its status is already in the cache, unless it was lost. A signal with a period of its
    /// own is newer than the last status in the cache, and can precede the first.
    fn on_signal(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// A link went up or down, or changed its rate. The net already contains the change.
    fn on_link(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// A deadline can have expired.
    fn on_timer(&mut self, _cx: &mut AppCx<'_, '_>) {}

    /// The next deadline, at which `on_timer` is called.
    fn wake(&self) -> Time {
        Time::NEVER
    }
}

/// The context of an app.
pub struct AppCx<'a, 'b> {
    cx: &'a mut Cx<'b>,
    net: &'a Net,
    cache: &'a Cache,
    commands: &'a mut Vec<(NodeId, Command)>,
}

impl<'a, 'b> AppCx<'a, 'b> {
    /// Constructor for the controller and tests; `commands` are the commands that it sends afterwards.
    pub fn new(
        cx: &'a mut Cx<'b>,
        net: &'a Net,
        cache: &'a Cache,
        commands: &'a mut Vec<(NodeId, Command)>,
    ) -> Self {
        Self { cx, net, cache, commands }
    }

    /// The current instant.
    pub fn now(&self) -> Time {
        self.cx.now()
    }

    /// The app's stream of random numbers.
    pub fn random(&mut self) -> &mut Random {
        self.cx.random()
    }

    /// The network in the controller's view.
    pub fn net(&self) -> &'a Net {
        self.net
    }

    /// The global information cache.
    pub fn cache(&self) -> &'a Cache {
        self.cache
    }

    /// Sends a command to a node. An unacknowledged command for the same object is no longer retransmitted.
    pub fn command(&mut self, node: NodeId, command: Command) {
        self.commands.push((node, command));
    }

    /// Adds to a counter of the controller.
    pub fn count(&mut self, what: Count, n: u64) {
        self.cx.count(what, n);
    }

    /// Records the current value of a series of the controller.
    pub fn probe(&mut self, series: &'static str, value: f64) {
        self.cx.probe(series, value);
    }

    /// Records an event with one number.
    pub fn event(&mut self, name: &'static str, value: f64) {
        self.cx.event(name, value);
    }
}
