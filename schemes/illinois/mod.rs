//! TCP-Illinois: losses decide when the window is reduced, delays how much it grows and how much is kept [LBS08].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::Classic;

mod control;
#[cfg(test)]
mod tests;

pub use control::Illinois;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "illinois",
    title: "TCP-Illinois: increase and reduction by the queueing delay",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "LBS08",
            text: "Liu, Başar, Srikant: TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for High-Speed Networks, Performance Evaluation 65(6–7), 2008",
        },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_illinois.c" },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Below this window in segments α is `base_alpha` and β is `max_beta`, as Reno has them.
    win_thresh: u32 = 15, within 0..=1000000, from "LINUX, win_thresh; LBS08: W_thresh";
    /// Round trips with a small delay after which α returns to `max_alpha`.
    theta: u32 = 5, within 1..=255, from "LINUX, theta; LBS08: Θ = 5";
    /// α at the maximum delay, in segments per round trip.
    min_alpha: f64 = 0.3, within 0.0078125..=1000.0, from "LINUX, ALPHA_MIN = 38/128; LBS08: 0.3";
    /// α at a small delay.
    max_alpha: f64 = 10.0, within 0.0078125..=1000.0, from "LINUX, ALPHA_MAX; LBS08: 10";
    /// α below `win_thresh` and after a timeout.
    base_alpha: f64 = 1.0, within 0.0078125..=1000.0, from "LINUX, ALPHA_BASE; LBS08: 1";
    /// β at a small delay: share of the window that a loss takes.
    min_beta: f64 = 0.125, within 0.0..=1.0, from "LINUX, BETA_MIN; LBS08: 0.125";
    /// β at a large delay, below `win_thresh` and after a timeout.
    max_beta: f64 = 0.5, within 0.0..=1.0, from "LINUX, BETA_MAX; LBS08: 0.5";
    /// Delays up to this share of the maximum give `max_alpha`.
    alpha_delay: f64 = 0.01, within 0.0..=1.0, from "LINUX, alpha(): dm/100; LBS08: η₁ = 0.01";
    /// Delays up to this share of the maximum give `min_beta`.
    low_delay: f64 = 0.1, within 0.0..=1.0, from "LINUX, beta(): dm/10; LBS08: η₂ = 0.1";
    /// Delays of at least this share of the maximum give `max_beta`.
    high_delay: f64 = 0.8, within 0.0..=1.0, from "LINUX, beta(): 8·dm/10; LBS08: η₃ = 0.8";
    order min_alpha <= max_alpha;
    order min_beta <= max_beta;
    order low_delay <= high_delay;
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Classic<Illinois>>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Classic::new(Illinois::new(params), setup))
}
