//! Lateness of an emulation, and whether a run is valid.

use units::{Duration, Lateness};

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
