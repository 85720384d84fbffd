//! Settings of QUIC stacks that are not ours.

use units::Bytes;

/// Flow control of a QUIC connection with one stream (RFC 9000 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControl {
    /// How much the receiver lets the sender send beyond what it has read.
    pub receive_window: Bytes,
    /// How much the sender takes from its application beyond what is acknowledged.
    pub send_window: Bytes,
}

impl FlowControl {
    /// The usual send window of a sender whose receiver has this receive window.
    pub fn send_window(receive_window: Bytes) -> Bytes {
        match receive_window {
            Bytes::UNLIMITED => Bytes::UNLIMITED,
            window => Bytes::new(window.as_u64().saturating_mul(8)),
        }
    }
}

impl Default for FlowControl {
    /// Of quinn and noq: 12.5 MB/s for 100 ms, and eight times as much (`TransportConfig::default`).
    fn default() -> Self {
        let receive_window = Bytes::new(1_250_000);
        Self { receive_window, send_window: Self::send_window(receive_window) }
    }
}
