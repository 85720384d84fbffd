//! The table `quic` of a flow over a QUIC stack.

use units::Bytes;

use crate::schema::bounds::within;
use crate::schema::read::tables;

tables! {
    /// Flow control of QUIC (RFC 9000 §4), for flows with `stack`. All keys have defaults, those of quinn and noq.
    pub(crate) struct Quic = "settings of QUIC" {
        /// Receive window: how much the receiver lets the sender send beyond what it has read; a flow cannot exceed it per round-trip time.
        /// quinn and noq close a connection with more than 1024 gaps in its stream, which a window above what the path
        /// and its queue hold permits. Default: 1.25 MB.
        receive_window: Bytes where within("1 kB", "unlimited"),
        /// Send window: how much the sender takes from its application beyond what is acknowledged. Default: eight times `receive_window`, from 10 MB to 1 GB.
        send_window: Bytes where within("1 kB", "1 GB"),
    }
}
