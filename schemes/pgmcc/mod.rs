//! PGMCC: a TCP-like window for a multicast group, controlled by the acknowledgements of one elected receiver [PGMCC].

use contract::{Documented, Family, Scheme, Setup, Source, choice, params};
use units::Duration;

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "pgmcc",
    title: "PGMCC, a TCP-like window run with an elected receiver, the acker",
    families: &[Family::Multicast, Family::Ip, Family::Icn],
    sources: &[
        Source {
            key: "PGMCC",
            text: "L. Rizzo, G. Iannaccone, L. Vicisano, M. Handley: PGMCC single rate multicast congestion control: Protocol Specification, draft-ietf-rmt-bb-pgmcc-03, 2004",
        },
        Source {
            key: "OPENPGM",
            text: "OpenPGM 5, an implementation of PGM with PGMCC, github.com/steve-o/openpgm",
        },
        Source { key: "RFC3208", text: "PGM Reliable Transport Protocol Specification" },
        Source { key: "RFC6298", text: "Computing TCP's Retransmission Timer" },
    ],
    documented: Documented::Full,
    series: &[
        ("window", "bytes", "flow", "window W"),
        ("tokens", "packets", "flow", "tokens T: a packet may leave while there is one"),
        ("srtt", "s", "flow", "smoothed round-trip time to the acker"),
        ("loss_rate", "1", "receiver", "p: filtered loss rate"),
    ],
    // so that a late packet is still acknowledged while the source waits for three later ones
    reorder: 3,
    needs: &[],
};

params! {
    /// Window, in packets, up to which it grows by one packet for each acknowledged packet.
    ssthresh: f64 = 4.0, within 1.0..=10000.0, from "PGMCC; OPENPGM";
    /// Number of later packets acknowledged after which a missing packet is lost.
    dupacks: u32 = 3, within 1..=31, from "PGMCC";
    /// A receiver becomes the acker when its estimated throughput is below this share of the acker's.
    hysteresis: f64 = 0.75, within 0.01..=1.0, from "PGMCC: C";
    /// Weight of one packet in a receiver's loss rate, in parts of 65536.
    loss_gain: u32 = 500, within 1..=65535, from "PGMCC; OPENPGM: 500/65536";
    /// Tokens after a loss.
    tokens: Tokens = Tokens::Conserved, from "our choice: with the other value, tokens and packets in flight diverge from the window";
    /// Maximum random delay of a NAK.
    nak_delay: Duration = Duration::from_millis(50), within "0 s"..="10 s", from "our choice: PGMCC leaves it to the transport";
    /// Timeout before the first round-trip time, and while there is no acker.
    initial_timeout: Duration = Duration::from_secs(3), within "10 ms"..="1000 s", from "PGMCC; OPENPGM";
    /// Minimum timeout afterwards.
    min_timeout: Duration = Duration::from_millis(200), within "1 ms"..="100 s", from "our choice: as in Thalweg's TCP, ns-2 and Linux; RFC6298 §2.4 has 1 s";
    /// Maximum timeout.
    max_timeout: Duration = Duration::from_secs(60), within "10 ms"..="1000 s", from "RFC6298 §2.5";
    /// Number of consecutive timeouts after which the acker is removed.
    max_timeouts: u32 = 2, within 1..=1000, from "PGMCC";
    order min_timeout <= max_timeout;
}

choice! {
    /// Tokens after a loss.
    pub enum Tokens {
        /// Tokens and packets in flight add up to the window: a lost packet gives its token back, and so does each
        /// packet acknowledged while the window stands still.
        Conserved = "conserved",
        /// A lost packet keeps its token; a packet acknowledged while the window stands still gives back one and a
        /// W-th.
        Granted = "granted",
    }
}

/// The part at the source.
pub fn sender(params: &Params, setup: &Setup) -> Sender {
    Sender::new(params, setup.segment)
}

/// The part at a receiver.
pub fn receiver(params: &Params, _setup: &Setup) -> Receiver {
    Receiver::new(params)
}
