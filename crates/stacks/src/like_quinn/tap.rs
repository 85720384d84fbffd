//! A controller that passes every call on, and shows it to the [`Tap`]. A module of `quinn` and of `noq`, as
//! `connection.rs` beside it.

use std::sync::Arc;
use std::time::Instant;

use super::controllers::Factory;
use super::proto::congestion::{Controller, ControllerFactory};
use crate::tap::{Shared, Tap};

/// Makes controllers with a tap.
pub struct Tapped {
    inner: Factory,
    observations: Shared,
}

impl Tapped {
    /// Controllers of `inner`, whose inputs are recorded in `observations`.
    pub const fn new(inner: Factory, observations: Shared) -> Self {
        Self { inner, observations }
    }
}

impl ControllerFactory for Tapped {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        Box::new(Watched { inner, tap: Tap::new(self.observations.clone()) })
    }
}

/// A controller with a tap. `api` of each stack implements its trait.
pub(crate) struct Watched {
    pub(crate) inner: Box<dyn Controller>,
    pub(crate) tap: Tap,
}

/// The methods of `Controller` that are the same in quinn and noq.
macro_rules! pass_on {
    () => {
        fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
            self.inner.on_sent(now, bytes, largest);
        }

        fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
            self.inner.on_end_acks(now, in_flight, app_limited, largest);
            let ControllerMetrics { congestion_window: window, ssthresh, .. } = self.inner.metrics();
            self.tap.frame_ended(now, FrameEnd { largest, in_flight, app_limited, window, ssthresh });
        }

        fn on_mtu_update(&mut self, new_mtu: u16) {
            self.inner.on_mtu_update(new_mtu);
        }

        fn window(&self) -> u64 {
            self.inner.window()
        }

        fn metrics(&self) -> ControllerMetrics {
            self.inner.metrics()
        }

        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(Self { inner: self.inner.clone_box(), tap: self.tap.clone() })
        }

        fn initial_window(&self) -> u64 {
            self.inner.initial_window()
        }

        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self.inner.into_any()
        }
    };
}

pub(crate) use pass_on;
