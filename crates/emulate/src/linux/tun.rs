//! The TUN device of a real node. Packets that are routed into it are read from a file, and packets that are written to
//! the file arrive from it.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, SyncDevice};

use super::namespace::Namespace;
use super::routes::Metrics;
use super::settings::Tuning;
use super::{calls, routes};
use crate::Error;

/// Name of the device in every namespace.
const NAME: &str = "thalweg0";
/// Queue length of the device; the kernel's default is 500.
const WAITING: u32 = 10_000;

/// An open device.
pub(super) struct Tun(SyncDevice);

impl Tun {
    /// Makes the device of a namespace with its address and a route to all other nodes and groups, and applies the TCP
    /// settings of the namespace.
    pub(super) fn new(namespace: &Namespace, address: Ipv4Addr, tuning: &Tuning) -> Result<Self, Error> {
        namespace.inside("making a TUN device", || {
            set_tcp(tuning)?;
            routes::bring_up("lo")?;
            let mtu = u16::try_from(tuning.mtu).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
            let device = DeviceBuilder::new().name(NAME).mtu(mtu).tx_queue_len(WAITING).enable(false);
            // the network of all nodes, 10.0.0.0/8
            let device = device.ipv4(address, 8, None).build_sync()?;
            device.set_nonblocking(true)?;
            calls::no_offload(NAME)?;
            device.enabled(true)?;
            // groups
            routes::add(NAME, (Ipv4Addr::new(224, 0, 0, 0), 4), &Metrics::default())?;
            Ok(Self(device))
        })
    }

    /// Reads the next packet; `None` if no packet waits.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Option<usize> {
        self.0.recv(buffer).ok()
    }

    /// Writes a packet. Returns whether the device accepted it.
    pub(super) fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.send(bytes).is_ok()
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sets the TCP attributes of connections from the namespace to `destination`.
pub(super) fn route(namespace: &Namespace, destination: Ipv4Addr, metrics: &Metrics) -> Result<(), Error> {
    namespace.inside("setting a route", || routes::add(NAME, (destination, 32), metrics))
}

/// Sets the sysctls of a namespace. Those that a kernel does not have are skipped, unless the scenario requires them.
fn set_tcp(tuning: &Tuning) -> io::Result<()> {
    let switch = |on| if on { "1" } else { "0" };
    let put = |key: &str, value: &str| fs::write(format!("/proc/sys/net/{key}"), value);
    for (key, value) in [
        // no IPv6 router solicitations
        ("ipv6/conf/all/disable_ipv6", "1"),
        ("ipv6/conf/default/disable_ipv6", "1"),
        // no cached metrics from earlier connections
        ("ipv4/tcp_no_metrics_save", "1"),
        // buffers for large bandwidth-delay products from the first round trip on
        ("ipv4/tcp_rmem", "4096 8388608 67108864"),
        ("ipv4/tcp_wmem", "4096 262144 67108864"),
        ("ipv4/tcp_sack", switch(tuning.sack)),
        ("ipv4/tcp_ecn", switch(tuning.ecn)),
        ("ipv4/tcp_timestamps", switch(tuning.timestamps)),
        ("ipv4/tcp_slow_start_after_idle", switch(tuning.idle_restart)),
    ] {
        let _ = put(key, value);
    }
    if let Some(max) = tuning.max_rto {
        put("ipv4/tcp_rto_max_ms", &(max.as_nanos() / 1_000_000).to_string()).map_err(|error| {
            io::Error::new(error.kind(), format!("the kernel does not take `tcp.max_rto` = {max}: {error}"))
        })?;
    }
    Ok(())
}

/// Packets that the device of a namespace dropped because its queue was full.
pub(super) fn dropped(namespace: &Namespace) -> u64 {
    let read = || -> io::Result<u64> {
        let table = fs::read_to_string("/proc/thread-self/net/dev")?;
        let line = table.lines().find_map(|line| line.trim_start().strip_prefix(NAME)?.strip_prefix(':'));
        // eight columns of received packets, then bytes, packets, errors and drops of sent ones
        let drops = line.and_then(|line| line.split_whitespace().nth(11)?.parse().ok());
        Ok(drops.unwrap_or(0))
    };
    namespace.inside("counting drops", read).unwrap_or(0)
}
