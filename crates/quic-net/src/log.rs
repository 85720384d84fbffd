//! Logs of connections, for qlog: sent and received datagrams, inputs of the congestion controller, and its window and
//! rate.
//!
//! A connection with a log sends the same packets as one without. The events have the types of [`stack::log`] and the
//! times of the platform.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::{Connection, Transmit};
use stack::log::{Event, Log, Writer};
use stacks::quinn::{self, Tapped};
use stacks::tap::{Shared, lock};
use units::{Bytes, Rate, Time};

use crate::settings::{LoggedConnection, Logs};
use crate::transport::{OUTER, SendConfig};

/// Makes controllers that are watched.
pub(crate) struct Watch {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    logs: Logs,
    /// A scheme, and not QUIC, decides when packets leave.
    paced: bool,
    /// What the newest controller is shown, until its connection takes it over.
    newest: Mutex<Option<Shared>>,
}

impl Watch {
    pub(crate) fn new(config: &SendConfig, logs: Logs) -> Arc<Self> {
        let inner = Arc::clone(&config.controller);
        Arc::new(Self { inner, logs, paced: config.fixed, newest: Mutex::default() })
    }

    fn newest(&self) -> Option<Shared> {
        guard(&self.newest).take()
    }
}

impl ControllerFactory for Watch {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let seen = Shared::default();
        *guard(&self.newest) = Some(Arc::clone(&seen));
        Arc::new(Tapped::new(Arc::clone(&self.inner), seen)).build(now, current_mtu)
    }
}

/// Where events go: they wait until the handshake is complete.
enum Sink {
    Pause(Vec<(Time, Event)>),
    Log(Log),
}

/// The log of one connection.
pub(crate) struct ConnectionLog {
    watch: Arc<Watch>,
    seen: Shared,
    sink: Arc<Mutex<Sink>>,
    writer: Writer,
    of: LoggedConnection,
    /// Bytes of the headers of IP and UDP.
    outer_bytes: u64,
    /// The rate that the scheme permits, where the scheme decides when packets leave.
    rate: Option<Rate>,
}

impl ConnectionLog {
    /// The log of a connection that was just made by controllers of `watch`.
    pub(crate) fn new(watch: &Arc<Watch>, connection: &Connection, now: Time) -> Option<Self> {
        let seen = watch.newest()?;
        let sink = Arc::new(Mutex::new(Sink::Pause(Vec::new())));
        let (to, paced) = (Arc::clone(&sink), watch.paced);
        let log = Log::new(move |now, event| {
            // a controller that permits everything has no states
            if paced && matches!(event, Event::State { .. }) {
                return;
            }
            match &mut *guard(&to) {
                Sink::Pause(events) => events.push((now, *event)),
                Sink::Log(log) => log.write(now, event),
            }
        });
        let writer = Writer::new(log);
        lock(&seen).begin(writer.clone(), now);
        let of = LoggedConnection {
            client: connection.side().is_client(),
            to: connection.remote_address(),
            began_at: now,
        };
        let outer_bytes = u64::from(OUTER[usize::from(of.to.is_ipv6())]);
        Some(Self { watch: Arc::clone(watch), seen, sink, writer, of, outer_bytes, rate: None })
    }

    /// The connection is about to be told something, or has been.
    pub(crate) fn at(&mut self, now: Time) {
        // on another path a connection has another controller      [RFC9000 §9.4]
        if let Some(seen) = self.watch.newest() {
            lock(&seen).begin(self.writer.clone(), now);
            self.seen = seen;
        }
        lock(&self.seen).now = now;
    }

    /// The handshake is complete.
    pub(crate) fn open(&mut self) {
        let mut sink = guard(&self.sink);
        if let Sink::Pause(events) = &mut *sink {
            let log = (self.watch.logs.0)(&self.of);
            events.drain(..).for_each(|(at, event)| log.write(at, &event));
            *sink = Sink::Log(log);
        }
    }

    /// A datagram arrived.
    pub(crate) fn received(&self, bytes: usize, now: Time) {
        let bytes = Bytes::new(bytes as u64 + self.outer_bytes);
        self.writer.write(now, Event::Received { bytes });
    }

    /// Datagrams leave.
    pub(crate) fn sent(&mut self, transmit: &Transmit, now: Time) {
        let each = transmit.segment_size.unwrap_or(transmit.size).max(1);
        let mut remaining = transmit.size;
        while remaining > 0 {
            let size = remaining.min(each);
            self.writer.sent(now, Bytes::new(size as u64 + self.outer_bytes));
            remaining -= size;
        }
    }

    /// The scheme permits this rate.
    pub(crate) fn permit(&mut self, rate: Rate) {
        self.rate = Some(rate).filter(|rate| *rate != Rate::UNLIMITED);
    }

    /// Reports quantities that changed.
    pub(crate) fn report(&mut self, connection: &mut Connection, now: Time) {
        let Some(mut counters) = quinn::counters(connection) else { return };
        if self.watch.paced {
            counters.window = u64::MAX;
            counters.rate_bps = self.rate.map(Rate::as_bps);
        }
        lock(&self.seen).write_metrics(now, &counters);
    }
}

fn guard<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
