//! ndnSieve: the controller reacts to mild congestion, consumers react to severe congestion [SIEVE].

use contract::{Documented, Family, Scheme, Setup, Source, choice, params};
use units::Duration;

mod app;
mod control;
mod link;
mod rules;
#[cfg(test)]
mod tests;

pub use app::App;
pub use control::Control;
pub use link::Link;

use self::rules::Rules;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "ndnsieve",
    title: "ndnSieve: congestion sieved between an SDN controller and consumers",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "SIEVE",
            text: "Ma et al.: ndnSieve, an SDN-based congestion control for named data networking, 2024 (full text)",
        },
        Source {
            key: "MODEL",
            text: "a small packet model of our own, by which the calibrated profile was chosen: a fit, and no evidence",
        },
    ],
    documented: Documented::Partial,
    series: &[],
    reorder: 1,
    needs: &[],
};

params! {
    /// literal: every sentence of the paper. calibrated: the reading whose results are close to the paper's. Each rule below can be set separately.
    profile: Profile = Profile::Calibrated, from "our choice: the literal reading has losses and oscillations that the paper's figures do not have";
    /// th1: load above which a link is congested.
    th1: f64 = 0.85, within 0.0..=10.0, from "SIEVE Table 3";
    /// th2: occupancy of the queue above which congestion is severe.
    th2: f64 = 0.9, within 0.01..=1.0, from "SIEVE Table 3";
    /// Reference of th2: the queue limit, or the packets of `severe`.
    level: Level = Level::Profile, from "our choice: literal takes the limit of 500 packets, of which 450 are 0.4 s at 10 Mbit/s; calibrated takes `severe`";
    /// Backlog in packets above which congestion is severe, if `level` is packets: occupancy is then th2 · q / this, at most 1; with 0 any
    /// waiting packet is severe.
    severe: u32 = 3, within 0..=1000000, from "our choice: MODEL, the queue that keeps a link busy while windows change by one; 0: NFD's queue length is in bytes, and one Data packet exceeds th2 · 500";
    /// Time of the decision on severity.
    detection: Detection = Detection::Profile, from "our choice: SIEVE §5.1 mentions a detection period without a value; literal decides at each departure";
    /// Detection period, if `detection` has one: the minimum queue in a period decides severity in the next.
    detection_period: Duration = Duration::from_millis(20), within "1 us"..="1000 s", from "our choice: MODEL; bursts are shorter";
    /// Event that changes a window by one.
    steps: Steps = Steps::Profile, from "our choice: k in SIEVE eq. 4 and 5 may count Data or rounds; literal counts Data";
    /// a: share of the prefixes on a congested link that are moved, at least one.
    share: f64 = 0.34, within 0.0..=1.0, from "our choice: SIEVE Algorithm 1 has no value for a; one prefix of three, because moving all prefixes moves the congestion";
    /// Allowed moves.
    moves: Moves = Moves::Profile, from "our choice: SIEVE §4.2.1 says that path selection converges, and has no rule that ensures it; literal has none";
    /// Metrics of a shunt router: calculated for signals only, or each time that all links of its next hops have
    /// reported as well.
    refresh: Refresh = Refresh::Profile, from "our choice: SIEVE §4.2.1 refreshes metrics periodically, and literal does; calibrated does not, since its rule for moves leaves nothing to refresh";
    /// Maximum age of a status. Older ones count as unknown: they move no prefix, and no prefix moves to a link without a newer one.
    max_age: Duration = Duration::from_millis(1500), within "1 ms"..="1000 s", from "our choice: three reporting periods; SIEVE does not discuss lost or late status messages";
}

choice! {
    /// Which reading.
    pub enum Profile {
        /// The one that comes near the paper's results.
        Calibrated = "calibrated",
        /// Every sentence as it stands.
        Literal = "literal",
    }
}

choice! {
    /// What th2 is a share of.
    pub enum Level {
        /// As the profile has it.
        Profile = "profile",
        /// The limit of the queue.
        Limit = "limit",
        /// Queue limit in packets, for which the share th2 is `severe`.
        Packets = "packets",
    }
}

choice! {
    /// Time of the decision on severity.
    pub enum Detection {
        /// As the profile has it.
        Profile = "profile",
        /// At every departure.
        Departure = "departure",
        /// Once a detection period.
        Period = "period",
    }
}

choice! {
    /// Event that changes a window by one.
    pub enum Steps {
        /// As the profile has it.
        Profile = "profile",
        /// Every Data packet.
        Data = "data",
        /// Every Data packet until the first mark, then every round.
        Round = "round",
    }
}

choice! {
    /// Allowed moves.
    pub enum Moves {
        /// As the profile has it.
        Profile = "profile",
        /// All that lead to a lower metric.
        Any = "any",
        /// Of these, those that even out how many prefixes take each next hop.
        Count = "count",
    }
}

choice! {
    /// When metrics are calculated.
    pub enum Refresh {
        /// As the profile has it.
        Profile = "profile",
        /// For a signal.
        Signal = "signal",
        /// For a signal, and for new statuses of prefixes that were once signalled.
        Status = "status",
    }
}

/// The part at a consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Control::new(&Rules::new(params), setup)
}

/// The part at the links of a forwarder.
pub fn link(params: &Params, _setup: &Setup) -> Link {
    Link::new(&Rules::new(params))
}

/// The part in the controller.
pub fn app(params: &Params, _setup: &Setup) -> App {
    App::new(&Rules::new(params))
}
