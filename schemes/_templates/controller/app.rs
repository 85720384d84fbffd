//! The app: after a signal, the destination with the largest share of the load moves to the node's other port with the
//! lowest load.

use contract::{AppCx, Command, Count, MILLION, PortId, Requirements, Traffic};
use units::Time;

use super::Params;

/// The app.
#[derive(Clone, Debug)]
pub struct App {
    params: Params,
    /// No command before this.
    next_command: Time,
}

impl App {
    /// The app, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { params: params.clone(), next_command: Time::ZERO }
    }
}

impl contract::App for App {
    fn requirements(&self) -> Requirements {
        Requirements { signal_above: Some((self.params.threshold * f64::from(MILLION)) as u32) }
    }

    // the application plane decides, the controller's commands reach the devices                [RFC7426 §3.1]
    fn on_signal(&mut self, port: PortId, cx: &mut AppCx<'_, '_>) {
        let now = cx.now();
        let (net, cache) = (cx.net(), cx.cache());
        let (Some(here), Some(cached)) =
            (net.link(port), cache.fresh(port, now, self.params.min_move_interval))
        else {
            return;
        };
        if now < self.next_command {
            return;
        }
        let to = cached.shares.iter().max_by_key(|share| share.bytes).and_then(|share| match share.what {
            Traffic::Node(to) => Some(to),
            _ => None,
        });
        let load =
            |port| cache.fresh(port, now, self.params.min_move_interval).map(|cached| cached.status.load);
        let others = net.links_from(here.from).filter(|link| link.port != port);
        let idlest = others.filter_map(|link| Some((load(link.port)?, link.port))).min();
        let (Some(to), Some((other, via))) = (to, idlest) else { return };
        if other < cached.status.load {
            self.next_command = now + self.params.min_move_interval;
            cx.count(Count::Reroutes, 1);
            cx.command(here.from, Command::Route { to, via });
        }
    }
}
