//! Lateness of an emulation, and whether a run is valid.

use units::{Duration, Lateness};

/// The accuracy of an emulation.
#[derive(Clone, Debug, Default)]
pub struct Accuracy {
    /// Lateness of packets at their program.
    pub departures: Lateness,
    /// Lateness of the oldest due event, each time that the loop handles events.
    pub events: Lateness,
    /// How long a packet that a program sent at an instant waits until the loop reads it, over all instants of the run: one sample per
    /// nanosecond.
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
    /// CPU time of the process during the run, including the loop and the threads of the kernel's TCP; commands are excluded.
    pub cpu: Duration,
    /// Maximum lateness of a valid run.
    pub max_lateness: Duration,
    /// Messages about errors of programs.
    pub notes: Vec<String>,
}

/// Share of packets that must be in time.
const IN_TIME: f64 = 0.99;

impl Accuracy {
    /// Why the run is not valid; empty if it is.
    ///
    /// A run is valid if 99 % of the packets to programs left within `max_lateness` of their time, packets from programs waited no longer
    /// during 99 % of the run, live endpoints were in time in 99 % of all cases, and no device lost a packet. Without programs, events
    /// count instead of packets.
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

    /// Packets between programs and the network per second, both directions.
    pub fn packets_per_second(&self) -> f64 {
        let span = self.wall.as_secs_f64();
        if span > 0.0 { (self.packets_in + self.packets_out) as f64 / span } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
