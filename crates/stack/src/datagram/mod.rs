//! Datagram sources without congestion control (constant rate, Poisson, on/off), and the sink that counts them.

use contract::{Count, Cx, Destination, Ecn, Endpoint, Header, Input, Label};
use units::{Bytes, Carry, Duration, Rate, Time};

/// Settings of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Size of a datagram on the wire.
    pub packet: Bytes,
    /// When datagrams leave.
    pub pattern: Pattern,
}

/// When datagrams leave. Rates include headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Evenly.
    Constant {
        /// Mean rate.
        rate: Rate,
    },
    /// With exponential gaps.
    Poisson {
        /// Mean rate.
        rate: Rate,
    },
    /// Evenly during on-times, not at all during off-times. Begins with an on-time.
    OnOff {
        /// Rate while on.
        rate: Rate,
        /// Length of an on-time.
        on: Spell,
        /// Length of an off-time.
        off: Spell,
    },
}

impl Pattern {
    /// The rate while it sends.
    pub const fn rate(&self) -> Rate {
        match *self {
            Self::Constant { rate } | Self::Poisson { rate } | Self::OnOff { rate, .. } => rate,
        }
    }
}

/// The random length of an on- or off-time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spell {
    /// Always the same.
    Constant(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Pareto with this mean and shape > 1.
    Pareto {
        /// Mean.
        mean: Duration,
        /// Shape; the tail is heavy below 2.
        shape: f64,
    },
}

impl Spell {
    /// Draws one length.
    pub fn draw(&self, random: &mut contract::Random) -> Duration {
        match *self {
            Self::Constant(length) => length,
            Self::Exponential(mean) => Duration::from_secs_f64(random.exponential(mean.as_secs_f64())),
            Self::Pareto { mean, shape } => Duration::from_secs_f64(random.pareto(mean.as_secs_f64(), shape)),
        }
    }
}

/// A traffic source. The first datagram leaves at the start.
#[derive(Clone, Debug)]
pub struct Source {
    packet: Bytes,
    pattern: Pattern,
    to: Destination,
    /// Number of the next datagram.
    seq: u64,
    /// When it leaves; never while stopped.
    next: Time,
    /// What whole nanoseconds could not express of the gaps so far.
    carry: Carry,
    /// End of the present on-time; never for sources that are always on.
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

    /// Sends what is due: one datagram, for the driver comes back at once when another is.
    #[inline]
    fn run(&mut self, cx: &mut Cx<'_>) {
        if cx.now() < self.next {
            return;
        }
        cx.send(self.to, self.packet, Ecn::NotCapable, Header::Datagram { seq: self.seq }, Label::default());
        self.seq += 1;
        // counted from when this one was due, so that a late driver does not lower the rate
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

    /// Moves the next datagram past off-times. What was left of its gap is waited out in the next on-time, so that the mean
    /// rate over on-times is exact.
    #[cold]
    fn skip_off_times(&mut self, cx: &mut Cx<'_>) {
        let Pattern::OnOff { on, off, .. } = self.pattern else { return };
        while self.next >= self.on_until {
            let left = self.next - self.on_until;
            let resumed = self.on_until + off.draw(cx.random());
            self.next = resumed + left;
            // an on-time lasts at least a nanosecond, so that this ends
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

/// Counts what arrives and what is missing. The first datagram after the start sets the number that is expected.
///
/// A datagram that arrives after a later one stays counted as missing and is not delivered: without memory it cannot be
/// told from a copy.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    expected: Option<u64>,
}

impl Sink {
    /// A sink that has seen nothing.
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

/// No two datagrams leave at the same instant, whatever the rate.
const SHORTEST_GAP: Duration = Duration::from_nanos(1);

#[cfg(test)]
mod tests;
