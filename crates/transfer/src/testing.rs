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

    /// Names of what is in it, in order.
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

/// Bytes in which every place is different.
pub(crate) fn content(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u8).collect()
}

/// What a program was given.
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

/// What a path does to packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) loss: f64,
    pub(crate) twice: f64,
    /// Each packet is late by up to so much: more than the time between packets reorders them.
    pub(crate) jitter: Duration,
    /// A bit of this many is turned over, and nobody notices.
    pub(crate) damage: f64,
}

pub(crate) const CALM: Weather = Weather { loss: 0.0, twice: 0.0, jitter: Duration::ZERO, damage: 0.0 };
pub(crate) const ROUGH: Weather =
    Weather { loss: 0.1, twice: 0.05, jitter: Duration::from_millis(4), damage: 0.0 };

/// A receiver at the end of its path.
pub(crate) struct End<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) weather: Weather,
    /// It is there from here to there.
    pub(crate) here: std::ops::Range<Time>,
}

/// A packet or message under way.
struct Flying {
    to: usize,
    seq: u64,
    bytes: Vec<u8>,
}

/// How a transfer over the test's network went.
#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) status: Status,
    pub(crate) packets: u64,
}

const DELAY: Duration = Duration::from_millis(10);
/// Between packets.
pub(crate) const GAP: Duration = Duration::from_micros(100);

/// Lets a payload speak to sinks until it is done, they have failed, or the time is over.
pub(crate) fn carry(payload: &mut dyn Payload, ends: &mut [End<'_>], room: usize, max: Time) -> Passage {
    let mut random = Random::new(7, "transfer", "weather");
    let mut forth: BTreeMap<(Time, u64), Flying> = BTreeMap::new();
    let mut back: BTreeMap<(Time, u64), Flying> = BTreeMap::new();
    let (mut now, mut seq, mut number) = (Time::ZERO, 0, 0);
    let mut joined = vec![false; ends.len()];
    let mut packet = vec![0; room];
    let mut said = [0; MAX_MESSAGE_BYTES];
    while now < max && payload.status() == Status::Going {
        for (at, end) in ends.iter().enumerate() {
            let here = end.here.contains(&now);
            if here && !joined[at] {
                payload.on_join(EndpointId(at as u32));
            } else if !here && joined[at] {
                payload.on_leave(EndpointId(at as u32));
            }
            joined[at] = here;
        }
        if payload.ready(now) <= now {
            let length = payload.fill(seq, now, &mut packet);
            for (to, end) in ends.iter().enumerate() {
                for arrives in arrivals(&end.weather, now, &mut random) {
                    let mut bytes = packet[..length].to_vec();
                    for byte in &mut bytes {
                        *byte ^= u8::from(
                            end.weather.damage > 0.0 && random.uniform(0.0, 1.0) < end.weather.damage,
                        );
                    }
                    number += 1;
                    forth.insert((arrives, number), Flying { to, seq, bytes });
                }
            }
            seq += 1;
        }
        while forth.first_key_value().is_some_and(|((at, _), _)| *at <= now) {
            let Some((_, flying)) = forth.pop_first() else { break };
            if joined[flying.to] {
                ends[flying.to].sink.take(flying.seq, now, &flying.bytes);
            }
        }
        for (to, end) in ends.iter_mut().enumerate().filter(|(to, _)| joined[*to]) {
            let length = end.sink.speak(now, &mut said);
            if length > 0 {
                for arrives in arrivals(&end.weather, now, &mut random) {
                    number += 1;
                    back.insert((arrives, number), Flying { to, seq: 0, bytes: said[..length].to_vec() });
                }
            }
        }
        while back.first_key_value().is_some_and(|((at, _), _)| *at <= now) {
            let Some((_, flying)) = back.pop_first() else { break };
            if joined[flying.to] {
                payload.on_message(EndpointId(flying.to as u32), now, &flying.bytes);
            }
        }
        now += GAP;
    }
    Passage { status: payload.status(), packets: seq }
}

/// When copies of what leaves now arrive.
fn arrivals(weather: &Weather, now: Time, random: &mut Random) -> Vec<Time> {
    let copies = if random.uniform(0.0, 1.0) < weather.twice { 2 } else { 1 };
    let mut times = Vec::new();
    for _ in 0..copies {
        let lost = random.uniform(0.0, 1.0) < weather.loss;
        let late = weather.jitter.scaled(random.uniform(0.0, 1.0));
        if !lost {
            times.push(now + DELAY + late);
        }
    }
    times
}
