//! Datagram sources without congestion control (constant rate, Poisson, on/off), and the sink that counts them.

use contract::{Count, Cx, Destination, Ecn, Endpoint, Header, Input, Label};
use units::{Bytes, Carry, Duration, Rate, Time};

/// Settings of a datagram source.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Size of a datagram on the wire.
    pub packet: Bytes,
    /// The departure times of datagrams.
    pub pattern: Pattern,
}

/// The departure times of datagrams. Rates include headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// At constant intervals.
    Constant {
        /// Mean rate.
        rate: Rate,
    },
    /// With exponential intervals.
    Poisson {
        /// Mean rate.
        rate: Rate,
    },
    /// At constant intervals during on-times, and not at all during off-times. The source starts with an on-time.
    OnOff {
        /// Rate while on.
        rate: Rate,
        /// Duration of an on-time.
        on: DurationDistribution,
        /// Duration of an off-time.
        off: DurationDistribution,
    },
}

impl Pattern {
    /// The rate while the source sends.
    pub const fn rate(&self) -> Rate {
        match *self {
            Self::Constant { rate } | Self::Poisson { rate } | Self::OnOff { rate, .. } => rate,
        }
    }
}

/// The random duration of an on-time or off-time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DurationDistribution {
    /// Always the same duration.
    Constant(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Pareto with this mean and a shape above 1.
    Pareto {
        /// Mean.
        mean: Duration,
        /// Shape; below 2 the distribution has infinite variance.
        shape: f64,
    },
}

impl DurationDistribution {
    /// Draws a duration.
    pub fn draw(&self, random: &mut contract::Random) -> Duration {
        match *self {
            Self::Constant(length) => length,
            Self::Exponential(mean) => Duration::from_secs_f64(random.exponential(mean.as_secs_f64())),
            Self::Pareto { mean, shape } => Duration::from_secs_f64(random.pareto(mean.as_secs_f64(), shape)),
        }
    }
}

/// A traffic source. The first datagram leaves when the source starts.
#[derive(Clone, Debug)]
pub struct Source {
    packet: Bytes,
    pattern: Pattern,
    to: Destination,
    /// Sequence number of the next datagram.
    seq: u64,
    /// Departure of the next datagram; [`Time::NEVER`] while stopped.
    next: Time,
    /// The remainder of previous gaps below a nanosecond.
    carry: Carry,
    /// End of the current on-time; [`Time::NEVER`] for sources that are always on.
    on_until: Time,
}

impl Source {
    /// A source that sends to `to` once it is started.
    pub fn new(config: &Config, to: Destination) -> Self {
        Self {
            packet: config.packet,
            pattern: config.pattern,
            to,
            seq: 0,
            next: Time::NEVER,
            carry: Carry::default(),
            on_until: Time::NEVER,
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        let (now, rate) = (cx.now(), self.pattern.rate());
        if rate == Rate::ZERO {
            return;
        }
        self.next = now;
        if let Pattern::OnOff { on, .. } = self.pattern {
            self.on_until = now + on.draw(cx.random());
        }
        self.skip_off_times(cx);
        self.run(cx);
    }

    /// Sends one datagram if it is due. If another is due as well, `wake` is not in the future.
    #[inline]
    fn run(&mut self, cx: &mut Cx<'_>) {
        if cx.now() < self.next {
            return;
        }
        cx.send(self.to, self.packet, Ecn::NotCapable, Header::Datagram { seq: self.seq }, Label::default());
        self.seq += 1;
        // the interval starts when this datagram was due, so that a late driver does not lower the rate
        self.next += match self.pattern {
            Pattern::Constant { rate } | Pattern::OnOff { rate, .. } => {
                let (gap, carry) = rate.serialise(self.packet, self.carry);
                self.carry = carry;
                gap.max(SHORTEST_GAP)
            }
            Pattern::Poisson { rate } => {
                let mean_s = self.packet.as_f64() * 8.0 / rate.as_bps_f64();
                Duration::from_secs_f64(cx.random().exponential(mean_s)).max(SHORTEST_GAP)
            }
        };
        if self.next >= self.on_until {
            self.skip_off_times(cx);
        }
    }

    /// Moves the next datagram out of off-times. The rest of its gap continues in the next on-time, so that the mean
    /// rate over on-times is exact.
    #[cold]
    fn skip_off_times(&mut self, cx: &mut Cx<'_>) {
        let Pattern::OnOff { on, off, .. } = self.pattern else { return };
        while self.next >= self.on_until {
            let remaining = self.next - self.on_until;
            let resumed = self.on_until + off.draw(cx.random());
            self.next = resumed + remaining;
            // an on-time lasts at least one nanosecond, so that the loop ends
            self.on_until = resumed + on.draw(cx.random()).max(SHORTEST_GAP);
            if self.on_until == Time::NEVER {
                return;
            }
        }
    }
}

impl Endpoint for Source {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Timer => self.run(cx),
            Input::Start => self.start(cx),
            Input::Stop => self.next = Time::NEVER,
            Input::Packet(_) | Input::App(_) | Input::Mode(_) => {}
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next
    }
}

/// Counts datagrams that arrive and that are missing. The first datagram after the start sets the expected number.
///
/// A datagram that arrives after a later one still counts as missing and is not delivered: without memory it cannot be
/// distinguished from a duplicate.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    expected: Option<u64>,
}

impl Sink {
    /// A sink that has received nothing.
    pub const fn new() -> Self {
        Self { expected: None }
    }
}

impl Endpoint for Sink {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        let Input::Packet(packet) = input else { return };
        let Header::Datagram { seq } = packet.header else { return };
        let expected = self.expected.unwrap_or(seq);
        if seq < expected {
            return;
        }
        if seq > expected {
            cx.count(Count::Missing, seq - expected);
        }
        self.expected = Some(seq + 1);
        cx.deliver(packet.size());
    }
}

/// Minimum gap: no two datagrams leave at the same instant.
const SHORTEST_GAP: Duration = Duration::from_nanos(1);

#[cfg(test)]
mod tests;
