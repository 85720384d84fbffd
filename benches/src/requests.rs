//! Requests of named data that go through all names of large tables. A consumer requests segments of one prefix; these
//! have a million prefixes.

use contract::{Cx, Destination, Ecn, Endpoint, Header, Input, Interest, Label, Name, NameId, Random};
use stack::ndn;
use units::{Duration, Time};

/// Which name a request is for, by its number.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Segments of `count` consecutive prefixes, one of each in turn.
    Prefixes {
        /// The first of them.
        first: NameId,
        /// Their number.
        count: u32,
    },
    /// `count` segments of a prefix in turn, then any of twice as many at random.
    Segments {
        /// The prefix.
        prefix: NameId,
        /// Number of segments in turn.
        count: u32,
    },
}

/// Between two names in turn: far enough that they share no cache line, and coprime to all powers of ten.
const STRIDE: u64 = 618_033;

/// Requests names at a constant rate and takes no notice of the Data.
#[derive(Clone, Debug)]
pub struct Requester {
    order: Order,
    gap: Duration,
    lifetime_ms: u32,
    sent: u64,
    next: Time,
}

impl Requester {
    /// Requests one name per `gap`, with Interests of this lifetime.
    pub fn new(order: Order, gap: Duration, lifetime: Duration) -> Self {
        let lifetime_ms = (lifetime.as_nanos() / 1_000_000) as u32;
        Self { order, gap, lifetime_ms, sent: 0, next: Time::NEVER }
    }

    /// The next name. Without `random`, `None` for a name that is drawn.
    fn name(&self, random: Option<&mut Random>) -> Option<Name> {
        let turn = |count: u32| self.sent * STRIDE % u64::from(count);
        Some(match self.order {
            Order::Prefixes { first, count } => {
                let prefix = NameId(first.0 + turn(count) as u32);
                Name { prefix, segment: self.sent / u64::from(count) }
            }
            Order::Segments { prefix, count } if self.sent < u64::from(count) => {
                Name { prefix, segment: turn(count) }
            }
            Order::Segments { prefix, count } => {
                Name { prefix, segment: random?.below(2 * u64::from(count)) }
            }
        })
    }
}

impl Endpoint for Requester {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start => self.next = cx.now(),
            Input::Timer => {
                while self.next <= cx.now() {
                    let name = self.name(Some(cx.random())).expect("it can be drawn");
                    let nonce = cx.random().bits() as u32;
                    let interest = Interest { name, nonce, lifetime_ms: self.lifetime_ms };
                    let header = Header::Interest(interest);
                    let to = Destination::own_node();
                    cx.send(to, ndn::INTEREST, Ecn::NotCapable, header, Label::default());
                    self.sent += 1;
                    self.next += self.gap;
                }
            }
            Input::Stop => self.next = Time::NEVER,
            Input::Packet(_) | Input::App(_) | Input::Mode(_) => {}
        }
    }

    fn wake(&self) -> Time {
        self.next
    }

    fn next_name(&self) -> Option<Name> {
        self.name(None)
    }
}
