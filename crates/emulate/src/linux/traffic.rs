//! TCP of the kernel: a sender and a receiver per flow, all on one thread beside the loop.
//!
//! The sender writes zeros with the size and the rate of the flow; the receiver counts and discards them. The loop can
//! read their counters at any time.

use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::thread::JoinHandle;
use std::time::Instant;

use contract::FlowId;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, connect, listen, setsockopt, socket,
    sockopt,
};
use stack::tcp::Demand;
use units::{Bytes, Duration, Rate, Time};

use super::calls;
use super::namespace::{Namespace, failed};
use crate::Error;
use crate::platform::{ProgramUpdate, SenderState, since};

/// A flow of the kernel's TCP.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) flow: FlowId,
    /// Index of the sender's namespace, and of the receiver's.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) addresses: (Ipv4Addr, Ipv4Addr),
    pub(super) congestion: String,
    /// Maximum size of a packet.
    pub(super) packet: Bytes,
    pub(super) demand: Demand,
}

/// The counters of a flow, written by the thread and read by the loop.
#[derive(Debug, Default)]
struct Counters {
    delivered: AtomicU64,
    /// Completion in nanoseconds since the start of the run; 0 before.
    completed_ns: AtomicU64,
    /// Number of samples of the sender.
    samples: AtomicU64,
    window: AtomicU64,
    threshold: AtomicU64,
    in_flight: AtomicU64,
    rtt_ns: AtomicU64,
    retransmits: AtomicU64,
    timeouts: AtomicU64,
    /// Error number of a connection that failed; 0 for none.
    failure: AtomicU64,
}

/// An order of the loop to the thread.
enum Order {
    Start(usize),
    Stop(usize),
    End,
}

/// The loop's handle of the thread.
pub(super) struct Traffic {
    orders: Sender<Order>,
    bell: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
    jobs: Vec<Job>,
    counters: Arc<[Counters]>,
    signalled: Vec<Reported>,
}

/// The counters of a flow at the last report.
#[derive(Clone, Copy, Default)]
struct Reported {
    delivered: u64,
    completed: bool,
    samples: u64,
    retransmits: u64,
    timeouts: u64,
}

impl Traffic {
    /// Opens the receivers and starts the thread. Returns the start of the run. Senders are sampled every `look_every`;
    /// `urgent` gives the thread real-time priority.
    pub(super) fn begin(
        jobs: Vec<Job>,
        namespaces: &Arc<[Namespace]>,
        look_every: Duration,
        urgent: bool,
    ) -> Result<(Self, Instant), Error> {
        let system = |what: &'static str| move |error: nix::Error| failed(what, error.into());
        let mut listeners = Vec::with_capacity(jobs.len());
        for job in &jobs {
            listeners.push(namespaces[job.to].inside("opening a receiver", || Ok(listener(job)))??);
        }
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let bell = Arc::new(EventFd::from_value_and_flags(0, flags).map_err(system("making an event"))?);
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(system("making a list of events"))?;
        let counters: Arc<[Counters]> = jobs.iter().map(|_| Counters::default()).collect();
        let (orders, received) = std::sync::mpsc::channel();
        let began = Instant::now();
        let mut work = Work {
            epoll,
            bell: bell.clone(),
            orders: received,
            namespaces: namespaces.clone(),
            began,
            look_every,
            flows: jobs
                .iter()
                .cloned()
                .zip(listeners)
                .map(|(job, listener)| Flow::new(job, listener))
                .collect(),
            counters: counters.clone(),
            zeros: vec![0; WRITTEN_AT_ONCE],
        };
        work.listen().map_err(system("watching receivers"))?;
        let thread = std::thread::Builder::new().name("thalweg-tcp".to_owned()).spawn(move || {
            if urgent {
                // if it is rejected, it is rejected for the loop as well, which reports it
                let _ = calls::prefer();
            }
            work.run();
        });
        let thread = thread.map_err(|source| failed("starting a thread", source))?;
        let signalled = vec![Reported::default(); jobs.len()];
        Ok((Self { orders, bell, thread: Some(thread), jobs, counters, signalled }, began))
    }

    /// Starts the sender if the flow is one of these. Returns whether it is.
    pub(super) fn start(&mut self, flow: FlowId) -> bool {
        self.order(flow, Order::Start)
    }

    /// Stops the sender at once if the flow is one of these. Returns whether it is.
    pub(super) fn stop(&mut self, flow: FlowId) -> bool {
        self.order(flow, Order::Stop)
    }

    fn order(&mut self, flow: FlowId, what: fn(usize) -> Order) -> bool {
        let found = self.jobs.binary_search_by_key(&flow, |job| job.flow);
        if let Ok(index) = found {
            // fails only if the thread has ended, and with it the flow
            let _ = self.orders.send(what(index));
            let _ = self.bell.write(1);
        }
        found.is_ok()
    }

    /// Passes on the changes of counters since the last call.
    pub(super) fn program_updates(&mut self, emit: &mut dyn FnMut(ProgramUpdate)) {
        for ((job, counters), signalled) in
            self.jobs.iter().zip(self.counters.iter()).zip(&mut self.signalled)
        {
            let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let delivered = read(&counters.delivered);
            let completed_ns = read(&counters.completed_ns);
            let mut update = ProgramUpdate { flow: job.flow, ..ProgramUpdate::default() };
            update.delivered = Bytes::new(delivered - std::mem::replace(&mut signalled.delivered, delivered));
            if completed_ns > 0 && !signalled.completed {
                signalled.completed = true;
                update.completed = Some(Time::from_nanos(completed_ns));
            }
            let samples = counters.samples.load(Ordering::Acquire);
            if samples > std::mem::replace(&mut signalled.samples, samples) {
                let (retransmits, timeouts) = (read(&counters.retransmits), read(&counters.timeouts));
                update.sender = Some(SenderState {
                    window: Bytes::new(read(&counters.window)),
                    threshold: Bytes::new(read(&counters.threshold)),
                    in_flight: Bytes::new(read(&counters.in_flight)),
                    rtt: Duration::from_nanos(read(&counters.rtt_ns)),
                    retransmits: retransmits - std::mem::replace(&mut signalled.retransmits, retransmits),
                    timeouts: timeouts - std::mem::replace(&mut signalled.timeouts, timeouts),
                });
            }
            if update != (ProgramUpdate { flow: job.flow, ..ProgramUpdate::default() }) {
                emit(update);
            }
        }
    }

    /// Ends the thread. Returns the errors of connections.
    pub(super) fn end(&mut self) -> Vec<(FlowId, io::Error)> {
        let _ = self.orders.send(Order::End);
        let _ = self.bell.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let failure = |(job, counters): (&Job, &Counters)| {
            let number = counters.failure.load(Ordering::Relaxed);
            (number > 0).then(|| (job.flow, io::Error::from_raw_os_error(number as i32)))
        };
        self.jobs.iter().zip(self.counters.iter()).filter_map(failure).collect()
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.end();
    }
}

/// Maximum size of a write.
const WRITTEN_AT_ONCE: usize = 256 * 1024;
/// Maximum number of bytes that a receiver discards in one call.
const READ_AT_ONCE: usize = 4 * 1024 * 1024;
/// Interval of writes of a sender with a rate.
const TICK: Duration = Duration::from_millis(1);
/// Header bytes of a segment in the kernel's maximum segment size, which excludes timestamps.
const HEADER: u64 = 40;

/// A socket with the options that both ends need.
fn tcp_socket(job: &Job) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&fd, sockopt::ReuseAddr, &true)?;
    setsockopt(&fd, sockopt::TcpMaxSeg, &((job.packet.as_u64().saturating_sub(HEADER)) as u32))?;
    setsockopt(&fd, sockopt::TcpCongestion, &job.congestion.clone().into())?;
    Ok(fd)
}

fn socket_address(of: Ipv4Addr, flow: FlowId) -> SockaddrIn {
    SockaddrIn::from(SocketAddrV4::new(of, wire::port_of(flow)))
}

/// The receiver of a flow, in the namespace of the calling thread.
fn listener(job: &Job) -> Result<TcpListener, Error> {
    let open = || -> io::Result<TcpListener> {
        let fd = tcp_socket(job)?;
        bind(fd.as_raw_fd(), &socket_address(job.addresses.1, job.flow))?;
        listen(&fd, Backlog::new(4)?)?;
        Ok(TcpListener::from(fd))
    };
    open().map_err(|source| {
        // the error of `setsockopt` for an unknown congestion control
        if source.kind() == ErrorKind::NotFound {
            let list = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            let available = list.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(", ");
            return Error::NoCongestionControl { name: job.congestion.clone(), available };
        }
        failed("opening a receiver", source)
    })
}

/// The state of a flow in the thread.
struct Flow {
    job: Job,
    listener: TcpListener,
    incoming: Option<TcpStream>,
    outgoing: Option<TcpStream>,
    /// Payload that is left to write; maximum for a flow without end.
    left: u64,
    /// Start, and bytes written since, for senders with a rate.
    began: Time,
    written: u64,
}

impl Flow {
    fn new(job: Job, listener: TcpListener) -> Self {
        Self { job, listener, incoming: None, outgoing: None, left: 0, began: Time::ZERO, written: 0 }
    }

    /// Resets the connection, so that the other end is informed at once.
    fn cut(&mut self) {
        if let Some(stream) = self.outgoing.take() {
            let linger = libc::linger { l_onoff: 1, l_linger: 0 };
            let _ = setsockopt(&stream, sockopt::Linger, &linger);
        }
    }

    fn rate(&self) -> Option<Rate> {
        match self.job.demand {
            Demand::Limited(rate) => Some(rate),
            Demand::Bulk | Demand::Finite(_) => None,
        }
    }
}

/// The state of the thread.
struct Work {
    epoll: Epoll,
    bell: Arc<EventFd>,
    orders: Receiver<Order>,
    namespaces: Arc<[Namespace]>,
    began: Instant,
    look_every: Duration,
    flows: Vec<Flow>,
    counters: Arc<[Counters]>,
    zeros: Vec<u8>,
}

/// Data of an event: an index, and one of these in the lowest bits.
const LISTENER: u64 = 0;
const INCOMING: u64 = 1;
const OUTGOING: u64 = 2;
const BELL: u64 = 3;

impl Work {
    fn listen(&mut self) -> nix::Result<()> {
        self.epoll.add(&*self.bell, EpollEvent::new(EpollFlags::EPOLLIN, BELL))?;
        for (index, flow) in self.flows.iter().enumerate() {
            self.epoll
                .add(&flow.listener, EpollEvent::new(EpollFlags::EPOLLIN, (index as u64) << 2 | LISTENER))?;
        }
        Ok(())
    }

    fn run(&mut self) {
        let mut events = [EpollEvent::empty(); 64];
        let mut look_at = Time::ZERO;
        loop {
            let now = since(self.began);
            if now >= look_at {
                self.sample();
                look_at = now + self.look_every;
            }
            let paced = self.flows.iter().any(|flow| flow.outgoing.is_some() && flow.rate().is_some());
            let wake_at = if paced { look_at.min(now + TICK) } else { look_at };
            let millis = wake_at.saturating_since(now).as_nanos().div_ceil(1_000_000).min(1000) as u16;
            let count = match self.epoll.wait(&mut events, EpollTimeout::from(millis)) {
                Ok(count) => count,
                Err(nix::Error::EINTR) => 0,
                Err(_) => return,
            };
            for event in &events[..count] {
                let (index, kind) = ((event.data() >> 2) as usize, event.data() & 3);
                match kind {
                    LISTENER => self.accept(index),
                    INCOMING => self.read(index),
                    OUTGOING => self.write(index),
                    _ => drop(self.bell.read()),
                }
            }
            for index in 0..if paced { self.flows.len() } else { 0 } {
                if self.flows[index].rate().is_some() {
                    self.write(index);
                }
            }
            loop {
                match self.orders.try_recv() {
                    Ok(Order::Start(index)) => self.start(index),
                    Ok(Order::Stop(index)) => self.flows[index].cut(),
                    Ok(Order::End) | Err(TryRecvError::Disconnected) => {
                        self.sample();
                        return self.flows.iter_mut().for_each(Flow::cut);
                    }
                    Err(TryRecvError::Empty) => break,
                }
            }
        }
    }

    fn fail(&mut self, index: usize, error: &io::Error) {
        self.flows[index].cut();
        let number = error.raw_os_error().unwrap_or(0);
        self.counters[index].failure.store(number as u64, Ordering::Relaxed);
    }

    fn start(&mut self, index: usize) {
        if let Err(error) = self.open(index) {
            self.fail(index, &error);
        }
    }

    /// Connects the sender of a flow. The thread enters its namespace for that; sockets stay in the namespace where
    /// they were made.
    fn open(&mut self, index: usize) -> io::Result<()> {
        let flow = &mut self.flows[index];
        flow.cut();
        flow.left = match flow.job.demand {
            Demand::Finite(size) => size.as_u64(),
            Demand::Bulk | Demand::Limited(_) => u64::MAX,
        };
        (flow.began, flow.written) = (since(self.began), 0);
        self.namespaces[flow.job.from].enter()?;
        let fd = tcp_socket(&flow.job)?;
        setsockopt(&fd, sockopt::TcpNoDelay, &true)?;
        bind(fd.as_raw_fd(), &socket_address(flow.job.addresses.0, flow.job.flow))?;
        match connect(fd.as_raw_fd(), &socket_address(flow.job.addresses.1, flow.job.flow)) {
            Ok(()) | Err(nix::Error::EINPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let stream = TcpStream::from(fd);
        // senders with a rate write at their ticks, others when the socket has room
        let required = if flow.rate().is_some() { EpollFlags::empty() } else { EpollFlags::EPOLLOUT };
        self.epoll.add(stream.as_fd(), EpollEvent::new(required, (index as u64) << 2 | OUTGOING))?;
        flow.outgoing = Some(stream);
        Ok(())
    }

    fn accept(&mut self, index: usize) {
        while let Ok((stream, _)) = self.flows[index].listener.accept() {
            let required = EpollEvent::new(EpollFlags::EPOLLIN, (index as u64) << 2 | INCOMING);
            if stream.set_nonblocking(true).is_ok() && self.epoll.add(stream.as_fd(), required).is_ok() {
                self.flows[index].incoming = Some(stream);
            }
        }
    }

    /// Discards received data, once per event, so that all flows are served.
    fn read(&mut self, index: usize) {
        let Some(stream) = &self.flows[index].incoming else { return };
        match calls::discard(stream, READ_AT_ONCE) {
            Ok(0) => {
                self.flows[index].incoming = None;
                if matches!(self.flows[index].job.demand, Demand::Finite(_)) {
                    let now = since(self.began).as_nanos();
                    self.counters[index].completed_ns.store(now, Ordering::Relaxed);
                }
            }
            Ok(taken) => {
                self.counters[index].delivered.fetch_add(taken as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // the sender reset the connection
            Err(_) => self.flows[index].incoming = None,
        }
    }

    fn write(&mut self, index: usize) {
        let now = since(self.began);
        let flow = &mut self.flows[index];
        let due = flow.rate().map_or(u64::MAX, |rate| {
            let bit_nanos =
                u128::from(rate.as_bps()) * u128::from(now.saturating_since(flow.began).as_nanos());
            ((bit_nanos / 8_000_000_000) as u64).saturating_sub(flow.written)
        });
        let Some(stream) = &mut flow.outgoing else { return };
        let length = flow.left.min(due).min(self.zeros.len() as u64) as usize;
        if length == 0 {
            return;
        }
        match stream.write(&self.zeros[..length]) {
            Ok(written) => {
                flow.written += written as u64;
                flow.left -= if flow.left == u64::MAX { 0 } else { written as u64 };
                if flow.left == 0 {
                    // no more data; the socket stays open for retransmissions
                    let _ = stream.shutdown(Shutdown::Write);
                    let _ = self.epoll.delete(&*stream);
                }
            }
            Err(error)
                if error.kind() == ErrorKind::WouldBlock || error.kind() == ErrorKind::NotConnected => {}
            Err(error) => self.fail(index, &error),
        }
    }

    /// Samples all senders.
    fn sample(&mut self) {
        let mut bytes = [0u8; 256];
        for (flow, counters) in self.flows.iter().zip(self.counters.iter()) {
            let Some(stream) = &flow.outgoing else { continue };
            let Ok(length) = calls::tcp_info(stream, &mut bytes) else { continue };
            let info = Info { bytes: &bytes[..length.min(bytes.len())] };
            let segment = u64::from(info.word(16));
            let put = |counter: &AtomicU64, value: u64| counter.store(value, Ordering::Relaxed);
            put(&counters.window, u64::from(info.word(80)) * segment);
            let threshold = u64::from(info.word(76));
            let unlimited = threshold >= u64::from(NO_THRESHOLD);
            put(&counters.threshold, if unlimited { u64::MAX } else { threshold * segment });
            let (out, again) = (info.word(24), info.word(36));
            let gone = info.word(28) + info.word(32);
            put(&counters.in_flight, u64::from((out + again).saturating_sub(gone)) * segment);
            put(&counters.rtt_ns, u64::from(info.word(68)) * 1000);
            counters.retransmits.fetch_max(u64::from(info.word(100)), Ordering::Relaxed);
            counters.timeouts.fetch_max(u64::from(info.half(240)), Ordering::Relaxed);
            counters.samples.fetch_add(1, Ordering::Release);
        }
    }
}

/// The slow-start threshold of Linux before any loss.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// `struct tcp_info` of Linux by field offsets. Fields that the kernel did not write are zero.
struct Info<'a> {
    bytes: &'a [u8],
}

impl Info<'_> {
    fn word(&self, at: usize) -> u32 {
        self.bytes.get(at..at + 4).map_or(0, |four| u32::from_ne_bytes([four[0], four[1], four[2], four[3]]))
    }

    fn half(&self, at: usize) -> u16 {
        self.bytes.get(at..at + 2).map_or(0, |two| u16::from_ne_bytes([two[0], two[1]]))
    }
}
