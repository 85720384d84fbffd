//! A relay of UDP datagrams between a client and a server that impairs their path, in real time.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration as StdDuration;

use contract::Random;
use driver::Clock;
use units::{Duration, Time};

/// What a path does to datagrams, in both directions.
#[derive(Clone, Copy, Default)]
pub struct Path {
    /// One-way delay.
    pub delay: Duration,
    /// Probability of loss of each datagram.
    pub loss: f64,
    /// The loss applies to this number of datagrams, and then to none; to all if 0.
    pub lossy: u64,
    /// Probability that a byte of a datagram is changed, except for the first one.
    pub corruption: f64,
    /// Nothing passes from the first time to the second, since the first datagram.
    pub blackhole: Option<(Duration, Duration)>,
    /// After this time the client has another port, or another address as well.
    pub rebinding: Option<(Duration, IpAddr)>,
}

impl Path {
    /// Whether it does more than to delay.
    pub fn impairs(&self) -> bool {
        self.loss > 0.0 || self.corruption > 0.0 || self.blackhole.is_some() || self.rebinding.is_some()
    }
}

/// A running relay. It ends when it is dropped.
pub struct Relay {
    /// The address of the server for the client.
    pub address: SocketAddr,
    impaired: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    /// A relay to `server` on a socket of the loopback interface. `seed` decides what is lost and changed.
    pub fn new(server: SocketAddr, path: Path, seed: u64) -> Self {
        let front = socket(SocketAddr::from(([127, 0, 0, 1], 0)));
        let address = front.local_addr().expect("it is bound");
        let (impaired, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, ends) = (Arc::clone(&impaired), Arc::clone(&over));
        let thread = thread::spawn(move || run(&front, server, &path, seed, &counted, &ends));
        Self { address, impaired, over, thread: Some(thread) }
    }
}

impl Relay {
    /// Datagrams that were lost or changed, and rebindings.
    pub fn impaired(&self) -> u64 {
        self.impaired.load(Ordering::Relaxed)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the relay failed");
        }
    }
}

fn socket(at: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind(at).expect("an address of this host");
    socket.set_nonblocking(true).expect("the system can");
    socket
}

fn run(
    front: &UdpSocket,
    server: SocketAddr,
    path: &Path,
    seed: u64,
    impaired: &AtomicU64,
    over: &AtomicBool,
) {
    let unspecified: IpAddr = if server.is_ipv4() { [127, 0, 0, 1].into() } else { server.ip() };
    let mut back = socket(SocketAddr::new(unspecified, 0));
    let mut random = Random::new(seed, "relay", "path");
    let clock = Clock::start();
    let (mut client, mut began, mut rebound) = (None, None, false);
    let (mut count, mut serial) = (0, 0u64);
    // by arrival and order: the datagram, and whether it is for the server
    let mut under_way: BTreeMap<(Time, u64), (Vec<u8>, bool)> = BTreeMap::new();
    let mut room = vec![0; 1 << 16];
    while !over.load(Ordering::Relaxed) {
        let now = clock.now();
        let mut idle = true;
        for to_server in [true, false] {
            let from = if to_server { front } else { &back };
            while let Ok((length, source)) = from.recv_from(&mut room) {
                idle = false;
                if to_server {
                    client = Some(source);
                }
                let since = now - *began.get_or_insert(now);
                count += 1;
                let mut bytes = room[..length].to_vec();
                let lossy = path.lossy == 0 || count <= path.lossy;
                let hole = path.blackhole.is_some_and(|(from, until)| since >= from && since < until);
                if hole || lossy && random.chance(path.loss) {
                    impaired.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                if count > 1 && random.chance(path.corruption) {
                    impaired.fetch_add(1, Ordering::Relaxed);
                    let place = random.below(length as u64) as usize;
                    bytes[place] ^= 1 << random.below(8);
                }
                serial += 1;
                under_way.insert((now + path.delay, serial), (bytes, to_server));
            }
        }
        if let (Some((after, ip)), Some(began)) = (path.rebinding, began)
            && !rebound
            && now >= began + after
        {
            back = socket(SocketAddr::new(ip, 0));
            rebound = true;
            impaired.fetch_add(1, Ordering::Relaxed);
        }
        while let Some(first) = under_way.first_entry()
            && first.key().0 <= now
        {
            let (bytes, to_server) = first.remove();
            // a datagram that the system does not take is lost
            let _ = match (to_server, client) {
                (true, _) => back.send_to(&bytes, server),
                (false, Some(client)) => front.send_to(&bytes, client),
                (false, None) => continue,
            };
        }
        if idle {
            thread::sleep(StdDuration::from_micros(200));
        }
    }
}
