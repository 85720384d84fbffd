//! How late things were, and whether a run is to be believed.

use units::Duration;

/// How late something was, over and over: counts in buckets that are at most a sixteenth wide, so that percentiles are exact to 6 %.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// Values below 16 ns have a bucket each; then sixteen buckets for each doubling.
    buckets: Box<[u64; BUCKETS]>,
    total: u64,
    most: u64,
}

const STEPS: u32 = 4;
const BUCKETS: usize = ((64 - STEPS as usize) + 1) << STEPS;

impl Default for Lateness {
    fn default() -> Self {
        Self { buckets: Box::new([0; BUCKETS]), total: 0, most: 0 }
    }
}

impl Lateness {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Duration) {
        self.record_times(value, 1);
    }

    /// Counts a value so many times.
    #[inline]
    pub fn record_times(&mut self, value: Duration, times: u64) {
        let nanos = value.as_nanos();
        self.buckets[bucket(nanos)] += times;
        self.total += times;
        self.most = self.most.max(nanos);
    }

    /// Counts all that another has counted.
    pub fn add(&mut self, other: &Self) {
        self.buckets.iter_mut().zip(other.buckets.iter()).for_each(|(count, more)| *count += more);
        self.total += other.total;
        self.most = self.most.max(other.most);
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The greatest value.
    pub fn most(&self) -> Duration {
        Duration::from_nanos(self.most)
    }

    /// The value that a share of all values do not exceed: the upper end of its bucket. `None` when nothing was counted.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(Duration::from_nanos(upper(index).min(self.most)));
            }
        }
        None
    }
}

/// The bucket of a value.
#[inline]
fn bucket(nanos: u64) -> usize {
    let octave = (63 - (nanos | 15).leading_zeros()) - (STEPS - 1);
    let shift = octave.saturating_sub(1);
    ((octave << STEPS) as usize + (nanos >> shift) as usize) - if octave > 0 { 1 << STEPS } else { 0 }
}

/// The greatest value in a bucket.
fn upper(index: usize) -> u64 {
    let octave = (index >> STEPS) as u32;
    let within = (index & ((1 << STEPS) - 1)) as u64;
    if octave == 0 {
        return within;
    }
    let shift = octave - 1;
    let first = (within + (1 << STEPS)) << shift;
    first + ((1 << shift) - 1)
}

/// What an emulation says of itself.
#[derive(Clone, Debug, Default)]
pub struct Accuracy {
    /// How late each packet was handed to the program that it is for.
    pub departures: Lateness,
    /// How late the loop was with its oldest event, each time that it had one.
    pub events: Lateness,
    /// How long a packet from a program waited at most until the loop looked, at any instant of the run: counted once a nanosecond.
    pub pickups: Lateness,
    /// How late live endpoints handled their deadlines.
    pub endpoints: Lateness,
    /// Packets that programs sent.
    pub packets_in: u64,
    /// Packets that programs were given.
    pub packets_out: u64,
    /// Packets of programs that belong to no flow: dropped.
    pub strays: u64,
    /// Packets that were lost between programs and the loop: a device was full.
    pub overruns: u64,
    /// Length of the run.
    pub wall: Duration,
    /// Processor time of the loop.
    pub cpu_loop: Duration,
    /// Processor time of the whole process meanwhile, the loop and TCP's programs included; commands are not.
    pub cpu: Duration,
    /// The limit on lateness.
    pub max_lateness: Duration,
    /// Things that went wrong outside, for people.
    pub notes: Vec<String>,
}

/// The share of packets that has to be in time.
const IN_TIME: f64 = 0.99;

impl Accuracy {
    /// Why the run is not valid; empty when it is.
    ///
    /// It is valid when 99 % of the packets to programs left within `max_lateness` of their time, packets from programs waited no longer
    /// during 99 % of the run, live endpoints were in time in 99 % of all cases, and no device lost a packet. Without programs, events stand for packets.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let over = |what: &Lateness| what.percentile(IN_TIME).filter(|late| *late > self.max_lateness);
        let outside = self.packets_in + self.packets_out > 0;
        if let Some(late) = over(&self.departures) {
            faults.push(format!("1 % of the packets to programs were delivered {late} or more too late"));
        }
        if let Some(late) = over(&self.pickups).filter(|_| outside) {
            faults.push(format!(
                "packets from programs waited {late} or more to be read during 1 % of the run"
            ));
        }
        if let Some(late) = over(&self.endpoints) {
            faults
                .push(format!("1 % of the deadlines of live endpoints were handled {late} or more too late"));
        }
        if let Some(late) = over(&self.events).filter(|_| !outside) {
            faults.push(format!("1 % of the events were handled {late} or more too late"));
        }
        if self.overruns > 0 {
            faults.push(format!("{} packets were lost between programs and the network", self.overruns));
        }
        faults
    }

    /// Packets a second that passed between programs and the network, both ways.
    pub fn packets_per_second(&self) -> f64 {
        let span = self.wall.as_secs_f64();
        if span > 0.0 { (self.packets_in + self.packets_out) as f64 / span } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket() {
        let mut last = None;
        let powers = (13..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        for nanos in (0..5000).chain(powers) {
            let index = bucket(nanos);
            assert!(upper(index) >= nanos, "{nanos} in {index} up to {}", upper(index));
            assert!(index == 0 || upper(index - 1) < nanos, "{nanos} in {index}");
            assert!(upper(index) as f64 <= nanos as f64 * 1.0625 + 1.0, "{nanos} up to {}", upper(index));
            assert!(last.is_none_or(|last| index >= last));
            last = Some(index);
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut lateness = Lateness::default();
        (1..=1000).for_each(|micros| lateness.record(Duration::from_micros(micros)));
        assert_eq!((lateness.count(), lateness.most()), (1000, Duration::from_micros(1000)));
        let mut twice = lateness.clone();
        twice.add(&lateness);
        assert_eq!((twice.count(), twice.percentile(0.5)), (2000, lateness.percentile(0.5)));
        for (share, micros) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = lateness.percentile(share).expect("there are values").as_secs_f64() * 1e6;
            assert!(found >= micros && found <= micros * 1.0625, "{share}: {found}");
        }
        assert_eq!(Lateness::default().percentile(0.5), None);
    }

    #[test]
    fn a_run_is_valid_when_the_machine_kept_up() {
        let mut accuracy = Accuracy { max_lateness: Duration::from_millis(1), ..Accuracy::default() };
        (accuracy.packets_in, accuracy.packets_out) = (100, 100);
        accuracy.departures.record_times(Duration::from_micros(20), 990);
        accuracy.departures.record_times(Duration::from_millis(50), 10);
        accuracy.pickups.record_times(Duration::from_micros(20), 1000);
        assert_eq!(accuracy.faults(), Vec::<String>::new(), "one in a hundred may be late");
        accuracy.departures.record(Duration::from_millis(50));
        assert_eq!(accuracy.faults().len(), 1);
        accuracy.overruns = 3;
        accuracy.pickups.record_times(Duration::from_millis(2), 100);
        assert_eq!(accuracy.faults().len(), 3);
        accuracy.endpoints.record(Duration::from_millis(2));
        assert_eq!(accuracy.faults().len(), 4);
    }
}
