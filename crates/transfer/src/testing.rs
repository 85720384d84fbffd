//! A network that loses, duplicates and reorders, and a simulated clock.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract::{EndpointId, Random};
use units::{Duration, Time};

use crate::{MAX_MESSAGE_BYTES, Payload, Sink, Status};

/// A folder that is removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("thalweg-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder for a test");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a file for a test");
        path
    }

    /// Names of its entries, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Bytes without repetition.
pub(crate) fn content(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u8).collect()
}

/// The input of a program.
#[derive(Clone, Default)]
pub(crate) struct Taken(pub(crate) Arc<Mutex<Vec<u8>>>);

impl Taken {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Impairments of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathModel {
    pub(crate) loss: f64,
    pub(crate) twice: f64,
    /// Maximum additional delay of a packet; above the interval between packets it causes reordering.
    pub(crate) jitter: Duration,
    /// One of this many bits is flipped, undetected.
    pub(crate) damage: f64,
}

pub(crate) const CALM: PathModel = PathModel { loss: 0.0, twice: 0.0, jitter: Duration::ZERO, damage: 0.0 };
pub(crate) const ROUGH: PathModel =
    PathModel { loss: 0.1, twice: 0.05, jitter: Duration::from_millis(4), damage: 0.0 };

/// A receiver at the end of its path.
pub(crate) struct End<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) model: PathModel,
    /// Time interval in which it is present.
    pub(crate) present: std::ops::Range<Time>,
}

/// A packet or message in flight.
struct InFlight {
    to: usize,
    seq: u64,
    bytes: Vec<u8>,
}

/// The result of a transfer over the test's network.
#[derive(Debug)]
pub(crate) struct TransferRun {
    pub(crate) status: Status,
    pub(crate) packets: u64,
}

const DELAY: Duration = Duration::from_millis(10);
/// A simulated time in which threads that read and write have run, however busy the machine.
pub(crate) const AN_HOUR: Time = Time::from_nanos(3_600_000_000_000);
pub(crate) const ALWAYS: std::ops::Range<Time> = Time::ZERO..Time::NEVER;
/// Interval between packets.
pub(crate) const GAP: Duration = Duration::from_micros(100);

/// Runs a payload with its sinks until it is complete, they have failed, or the time is over.
pub(crate) fn carry(payload: &mut dyn Payload, ends: &mut [End<'_>], room: usize, max: Time) -> TransferRun {
    let mut random = Random::new(7, "transfer", "weather");
    let mut forward: BTreeMap<(Time, u64), InFlight> = BTreeMap::new();
    let mut back: BTreeMap<(Time, u64), InFlight> = BTreeMap::new();
    let (mut now, mut seq, mut number) = (Time::ZERO, 0, 0);
    let mut joined = vec![false; ends.len()];
    let mut packet = vec![0; room];
    let mut messages = [0; MAX_MESSAGE_BYTES];
    while now < max && payload.status() == Status::InProgress {
        for (at, end) in ends.iter().enumerate() {
            let present = end.present.contains(&now);
            if present && !joined[at] {
                payload.on_join(EndpointId(at as u32));
            } else if !present && joined[at] {
                payload.on_leave(EndpointId(at as u32));
            }
            joined[at] = present;
        }
        if payload.ready(now) <= now {
            let length = payload.fill(seq, now, &mut packet);
            for (to, end) in ends.iter().enumerate() {
                for arrives in arrivals(&end.model, now, &mut random) {
                    let mut bytes = packet[..length].to_vec();
                    for byte in &mut bytes {
                        *byte ^=
                            u8::from(end.model.damage > 0.0 && random.uniform(0.0, 1.0) < end.model.damage);
                    }
                    number += 1;
                    forward.insert((arrives, number), InFlight { to, seq, bytes });
                }
            }
            seq += 1;
        }
        while forward.first_key_value().is_some_and(|((at, _), _)| *at <= now) {
            let Some((_, in_flight)) = forward.pop_first() else { break };
            if joined[in_flight.to] {
                ends[in_flight.to].sink.take(in_flight.seq, now, &in_flight.bytes);
            }
        }
        for (to, end) in ends.iter_mut().enumerate().filter(|(to, _)| joined[*to]) {
            let length = end.sink.write_message(now, &mut messages);
            if length > 0 {
                for arrives in arrivals(&end.model, now, &mut random) {
                    number += 1;
                    back.insert(
                        (arrives, number),
                        InFlight { to, seq: 0, bytes: messages[..length].to_vec() },
                    );
                }
            }
        }
        while back.first_key_value().is_some_and(|((at, _), _)| *at <= now) {
            let Some((_, in_flight)) = back.pop_first() else { break };
            if joined[in_flight.to] {
                payload.on_message(EndpointId(in_flight.to as u32), now, &in_flight.bytes);
            }
        }
        now += GAP;
    }
    TransferRun { status: payload.status(), packets: seq }
}

/// Arrival times of the copies of a packet that is sent now.
fn arrivals(model: &PathModel, now: Time, random: &mut Random) -> Vec<Time> {
    let copies = if random.uniform(0.0, 1.0) < model.twice { 2 } else { 1 };
    let mut times = Vec::new();
    for _ in 0..copies {
        let lost = random.uniform(0.0, 1.0) < model.loss;
        let late = model.jitter.scaled(random.uniform(0.0, 1.0));
        if !lost {
            times.push(now + DELAY + late);
        }
    }
    times
}
