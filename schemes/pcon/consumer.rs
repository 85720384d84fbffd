//! PCON at consumers: a built-in window scheme, with PCON's reactions to marks and losses.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Idle, Setup};
use units::{Bytes, Segments};

use super::Params;
use crate::{aimd, bic, cubic};

contract::choice! {
    /// The window scheme.
    pub enum Window {
        /// BIC.
        Bic = "bic",
        /// Additive increase by one segment per window, reduction to a share.
        Aimd = "aimd",
        /// CUBIC without fast convergence and without the Reno-friendly region, as in ndnSIM.
        Cubic = "cubic",
    }
}

contract::choice! {
    /// Which marks reduce the window.
    pub enum Marks {
        /// Each of them.
        Each = "each",
        /// One per episode, which is a setting of the consumer.
        Once = "once",
    }
}

/// A window with PCON's reactions.
#[derive(Clone, Debug)]
pub struct Consumer {
    controller: Controller,
    each: bool,
}

#[derive(Clone, Debug)]
enum Controller {
    Aimd(aimd::Control),
    Bic(bic::Bic),
    Cubic(cubic::Control),
}

impl Consumer {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let controller = match params.window {
            Window::Aimd => {
                Controller::Aimd(aimd::control(&aimd::Params { b: params.beta, ..Default::default() }, setup))
            }
            Window::Bic => Controller::Bic(bic::Bic::new(
                &bic::Params { beta: params.beta, ..Default::default() },
                setup,
            )),
            // differs: the cubic function is that of RFC 9438, whose target is one round trip ahead
            Window::Cubic => {
                let params = cubic::Params {
                    beta: params.beta,
                    fast_convergence: false,
                    reno_friendly: false,
                    ..Default::default()
                };
                Controller::Cubic(cubic::control(&params, setup))
            }
        };
        Self { controller, each: params.marks == Marks::Each }
    }

    /// The window W, in segments.
    pub fn window(&self) -> Segments {
        match &self.controller {
            Controller::Aimd(controller) => controller.window(),
            Controller::Bic(controller) => controller.window(),
            Controller::Cubic(controller) => controller.window(),
        }
    }
}

impl CongestionControl for Consumer {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        match &mut self.controller {
            Controller::Aimd(controller) => controller.on_ack(ack, cx),
            Controller::Bic(controller) => controller.on_ack(ack, cx),
            Controller::Cubic(controller) => controller.on_ack(ack, cx),
        }
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        // each mark reduces the window, a timeout and a NACK once per episode             [SCHNEIDER]
        // differs: here a mark begins an episode in which a timeout has no further effect
        let first = event.first || (self.each && event.cause == Cause::Mark);
        // a timeout has the effect of a mark; the window is not reset                     [SCHNEIDER, NDNSIM]
        let cause = if event.cause == Cause::Timeout { Cause::Loss } else { event.cause };
        let event = Congestion { first, cause, ..*event };
        match &mut self.controller {
            Controller::Aimd(controller) => controller.on_congestion(&event, cx),
            Controller::Bic(controller) => controller.on_congestion(&event, cx),
            Controller::Cubic(controller) => controller.on_congestion(&event, cx),
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        match &self.controller {
            Controller::Aimd(controller) => controller.allowance(),
            Controller::Bic(controller) => controller.allowance(),
            Controller::Cubic(controller) => controller.allowance(),
        }
    }

    fn on_idle(&mut self, idle: &Idle, cx: &mut Cx<'_>) {
        match &mut self.controller {
            Controller::Aimd(controller) => controller.on_idle(idle, cx),
            Controller::Bic(controller) => controller.on_idle(idle, cx),
            Controller::Cubic(controller) => controller.on_idle(idle, cx),
        }
    }

    fn ssthresh(&self) -> Bytes {
        match &self.controller {
            Controller::Aimd(controller) => controller.ssthresh(),
            Controller::Bic(controller) => controller.ssthresh(),
            Controller::Cubic(controller) => controller.ssthresh(),
        }
    }
}
