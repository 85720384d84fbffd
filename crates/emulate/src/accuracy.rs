//! Lateness of an emulation, and whether a run is valid.

use units::{Duration, Lateness};

/// The accuracy of an emulation.
#[derive(Clone, Debug, Default)]
pub struct Accuracy {
    /// Lateness of packets at their program.
    pub departures: Lateness,
    /// Lateness of the oldest due event, each time that the loop handles events.
    pub events: Lateness,
    /// How long a packet that a program sent at an instant waits until the loop reads it, over all instants of the run:
    /// one sample per nanosecond.
    pub pickups: Lateness,
    /// Lateness of the deadlines of live endpoints.
    pub endpoints: Lateness,
    /// Packets that programs sent.
    pub packets_in: u64,
    /// Packets that programs received.
    pub packets_out: u64,
    /// Packets of programs that were dropped because they belong to no flow.
    pub strays: u64,
    /// Packets that were lost between programs and the loop because a device was full.
    pub overruns: u64,
    /// Duration of the run.
    pub wall: Duration,
    /// CPU time of the loop.
    pub cpu_loop: Duration,
    /// CPU time of the process during the run, including the loop and the threads of the kernel's TCP; commands are
    /// excluded.
    pub cpu: Duration,
    /// Maximum lateness of a valid run.
    pub max_lateness: Duration,
    /// Messages about errors of programs.
    pub notes: Vec<String>,
}

/// Shares of all cases, and how late they may be, in multiples of the maximum. The last is the longest time for which
/// the emulation may stand still: with the default of 2 ms 50 ms, a quarter of the shortest retransmission timeout of
/// Linux.
const LIMITS: [(f64, &str, f64); 2] = [(0.99, "1 %", 1.0), (0.999, "0.1 %", 5.0)];
const LONGEST: f64 = 25.0;

impl Accuracy {
    /// Why the run is not valid; empty if it is.
    ///
    /// A run is valid if 99 % of the packets to programs left within `max_lateness` of their time, packets from
    /// programs waited no longer during 99 % of the run, live endpoints were in time in 99 % of all cases, and no
    /// device lost a packet. Of each, 99.9 % must be within five times `max_lateness`, and all within 25 times. Without
    /// programs, events count instead of packets.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let outside = self.packets_in + self.packets_out > 0;
        let mut longest = Duration::ZERO;
        let mut check = |of: &Lateness, what: &dyn Fn(&str, Duration) -> String| {
            longest = longest.max(of.max());
            let over = LIMITS.iter().find_map(|(share, rest, times)| {
                let late = of.percentile(*share).filter(|late| *late > self.max_lateness.scaled(*times))?;
                Some(what(rest, late))
            });
            faults.extend(over);
        };
        check(&self.departures, &|share, late| {
            format!("{share} of the packets to programs were delivered {late} or more too late")
        });
        if outside {
            check(&self.pickups, &|share, late| {
                format!("packets from programs waited {late} or more to be read during {share} of the run")
            });
        }
        check(&self.endpoints, &|share, late| {
            format!("{share} of the deadlines of live endpoints were handled {late} or more too late")
        });
        if !outside {
            check(&self.events, &|share, late| {
                format!("{share} of the events were handled {late} or more too late")
            });
        }
        if longest > self.max_lateness.scaled(LONGEST) {
            faults.push(format!("the emulation stood still for {longest}"));
        }
        if self.overruns > 0 {
            faults.push(format!("{} packets were lost between programs and the network", self.overruns));
        }
        faults
    }

    /// Packets between programs and the network per second, both directions.
    pub fn packets_per_second(&self) -> f64 {
        let span = self.wall.as_secs_f64();
        if span > 0.0 { (self.packets_in + self.packets_out) as f64 / span } else { 0.0 }
    }

    /// Rows for display: name, and 50th, 99th, 99.9th percentile and maximum; without empty ones.
    pub fn rows(&self) -> Vec<(&'static str, [Duration; 4])> {
        let row = |name, what: &Lateness| {
            let at = |share| what.percentile(share);
            Some((name, [at(0.5)?, at(0.99)?, at(0.999)?, what.max()]))
        };
        let rows = [
            row("departures", &self.departures),
            row("pickups", &self.pickups),
            row("endpoints", &self.endpoints),
            row("events", &self.events),
        ];
        rows.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with packets in time, and this number of them late in each direction.
    fn with_late(number: u64, late: Duration) -> Accuracy {
        let mut accuracy = Accuracy { max_lateness: Duration::from_millis(1), ..Accuracy::default() };
        (accuracy.packets_in, accuracy.packets_out) = (1000, 1000);
        for what in [&mut accuracy.departures, &mut accuracy.pickups] {
            what.record_times(Duration::from_micros(20), 10_000 - number);
            what.record_times(late, number);
        }
        accuracy
    }

    #[test]
    fn a_run_is_valid_when_the_machine_kept_up() {
        let faults = |number, millis| with_late(number, Duration::from_millis(millis)).faults().len();
        assert_eq!((faults(100, 4), faults(101, 4)), (0, 2), "one in a hundred may be late");
        assert_eq!((faults(10, 24), faults(11, 24)), (0, 2), "and one in a thousand by more than five times");
        assert_eq!((faults(1, 25), faults(1, 26)), (0, 1), "and none by more than 25 times");
        let mut accuracy = with_late(0, Duration::ZERO);
        accuracy.overruns = 3;
        assert_eq!(accuracy.faults().len(), 1);
        accuracy.endpoints.record(Duration::from_millis(2));
        assert_eq!(accuracy.faults().len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn a_run_that_stood_still_is_not_valid(
            packets in 0u64..10_000_000,
            micros in 25_100u64..10_000_000,
            which in 0usize..4,
        ) {
            let mut accuracy = with_late(0, Duration::ZERO);
            if which == 3 {
                (accuracy.packets_in, accuracy.packets_out) = (0, 0);
            }
            let Accuracy { departures, pickups, endpoints, events, .. } = &mut accuracy;
            let mut all = [departures, pickups, endpoints, events];
            let what = &mut all[which];
            what.record_times(Duration::ZERO, packets);
            what.record(Duration::from_micros(micros));
            let faults = accuracy.faults();
            proptest::prop_assert!(faults.iter().any(|fault| fault.contains("stood still")), "{:?}", faults);
        }
    }
}
