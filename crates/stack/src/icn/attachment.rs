//! The attachment of a source or a member to a name-based network: its signals to its access router, and their
//! repetition.

use contract::{Address, Count, Cx, Ecn, Eid, GroupId, Header, Label, Signal};
use units::{Duration, Rate, Time};

use super::Config;

/// The host's part in one group. It sends `Publish` or `Join` to its access router until one is accepted, refreshes it,
/// and leaves.
#[derive(Clone, Debug)]
pub struct Attachment {
    role: Role,
    group: GroupId,
    gumgid: Eid,
    access: Address,
    /// The router that accepted: the access router, or a router on the path to it that intercepted the join.
    above: Option<Address>,
    config: Config,
    state: State,
    /// When the next signal is due.
    next: Time,
    /// How long to wait for the answer to the current signal.
    wait: Duration,
    train: Train,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Source,
    Member,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Out,
    /// `Publish` or `Join` was sent and is not yet accepted.
    Asking,
    /// The capacity of the access link is being measured.
    Probing,
    In,
}

/// The state of a train of probe packets.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    active: bool,
    tries: u8,
    last: Option<(u8, Time)>,
    /// The minimum gap between two consecutive packets.
    gap: Option<Duration>,
}

/// Number of probe trains that are requested before the capacity counts as unknown.
const TRAINS: u8 = 3;

impl Attachment {
    /// The source of `group` at the access router `access`.
    pub fn source(group: GroupId, gumgid: Eid, access: Address, config: &Config) -> Self {
        Self::new(Role::Source, group, gumgid, access, config)
    }

    /// A member of `group` at the access router `access`.
    pub fn member(group: GroupId, gumgid: Eid, access: Address, config: &Config) -> Self {
        Self::new(Role::Member, group, gumgid, access, config)
    }

    fn new(role: Role, group: GroupId, gumgid: Eid, access: Address, config: &Config) -> Self {
        Self {
            role,
            group,
            gumgid,
            access,
            above: None,
            config: config.clone(),
            state: State::Out,
            next: Time::NEVER,
            wait: Duration::ZERO,
            train: Train::default(),
        }
    }

    /// The access router.
    pub const fn access(&self) -> Address {
        self.access
    }

    /// The tree node above this host: the router that accepted it last, and the access router before that.
    pub fn above(&self) -> Address {
        self.above.unwrap_or(self.access)
    }

    /// Capacity of the access link towards this host; `None` if it was not measured.
    pub fn capacity(&self) -> Option<Rate> {
        let gap = self.train.gap?;
        let bits = u128::from(self.config.probe.as_u64()) * 8;
        let bps = bits * 1_000_000_000 / u128::from(gap.as_nanos().max(1));
        Some(u64::try_from(bps).map_or(Rate::UNLIMITED, Rate::from_bps))
    }

    /// Starts to attach. With `probe`, the capacity of the access link is measured before the attachment is complete.
    pub fn start(&mut self, probe: bool, cx: &mut Cx<'_>) {
        self.train = Train { active: probe && self.config.probe_packets > 1, ..Train::default() };
        self.state = State::Asking;
        self.above = None;
        self.request(self.config.retry, cx);
    }

    /// Leaves the group, or withdraws it at the source.
    pub fn stop(&mut self, cx: &mut Cx<'_>) {
        let (state, group) = (self.state, self.group);
        self.state = State::Out;
        self.next = Time::NEVER;
        match self.role {
            _ if state == State::Out => {}
            Role::Source => self.send_signal(self.access, Signal::Unpublish { group }, cx),
            Role::Member => self.send_signal(self.above(), Signal::Leave { group }, cx),
        }
    }

    /// Handles a signal that `from` sent. Returns true once, when the attachment is complete.
    pub fn on_signal(&mut self, signal: &Signal, from: Address, cx: &mut Cx<'_>) -> bool {
        if matches!(signal, Signal::Accepted { group } if *group == self.group) {
            self.follow(from, cx);
        }
        match (self.state, signal) {
            (State::Asking, Signal::Accepted { group }) if *group == self.group => {
                if self.train.active {
                    self.state = State::Probing;
                    self.probe(self.config.retry, cx);
                    return false;
                }
                self.stop_retry(cx);
                true
            }
            (State::In, Signal::Accepted { group }) if *group == self.group => {
                self.next = cx.now() + self.config.refresh;
                self.wait = Duration::ZERO;
                false
            }
            (State::Probing, Signal::Probed { group, index }) if *group == self.group => {
                self.on_probe(*index, cx)
            }
            // the rest of a train, or a duplicate answer
            (State::Probing, Signal::Accepted { .. }) | (State::In, Signal::Probed { .. }) => false,
            _ => {
                cx.count(Count::Ignored, 1);
                false
            }
        }
    }

    /// Leaves the previous router if another one accepted: the path to the access router can change, and the first
    /// router on it intercepts the join.
    fn follow(&mut self, above: Address, cx: &mut Cx<'_>) {
        if self.state == State::Out {
            return;
        }
        let old = self.above.replace(above).filter(|old| *old != above);
        if let (Some(old), Role::Member) = (old, self.role) {
            self.send_signal(old, Signal::Leave { group: self.group }, cx);
        }
    }

    fn on_probe(&mut self, index: u8, cx: &mut Cx<'_>) -> bool {
        if let Some((last, at)) = self.train.last
            && last.checked_add(1) == Some(index)
        {
            let gap = cx.now() - at;
            self.train.gap = Some(self.train.gap.map_or(gap, |min| min.min(gap)));
        }
        self.train.last = Some((index, cx.now()));
        let complete = index.checked_add(1) == Some(self.config.probe_packets);
        if complete && self.train.gap.is_some() {
            self.stop_retry(cx);
            return true;
        }
        false
    }

    /// Handles a deadline. Returns true once, when the attachment is complete.
    pub fn on_timer(&mut self, cx: &mut Cx<'_>) -> bool {
        if self.next > cx.now() {
            return false;
        }
        let next_wait = self.config.backed_off(self.wait);
        match self.state {
            State::Out => {}
            State::Asking | State::In => self.request(next_wait, cx),
            State::Probing if self.train.gap.is_some() || self.train.tries >= TRAINS => {
                self.stop_retry(cx);
                return true;
            }
            State::Probing => self.probe(next_wait, cx),
        }
        false
    }

    /// When `on_timer` is to be called next.
    pub const fn wake(&self) -> Time {
        self.next
    }

    fn stop_retry(&mut self, cx: &mut Cx<'_>) {
        self.state = State::In;
        self.wait = Duration::ZERO;
        self.next = cx.now() + self.config.refresh;
    }

    fn request(&mut self, wait: Duration, cx: &mut Cx<'_>) {
        let (group, gumgid) = (self.group, self.gumgid);
        match self.role {
            Role::Source => self.send_signal(self.access, Signal::Publish { group, gumgid }, cx),
            Role::Member => self.send_signal(self.access, Signal::Join { group, gumgid }, cx),
        }
        self.schedule_retry(wait, cx);
    }

    fn probe(&mut self, wait: Duration, cx: &mut Cx<'_>) {
        self.train.tries += 1;
        self.train.last = None;
        let (group, packets) = (self.group, self.config.probe_packets);
        self.send_signal(self.above(), Signal::Probe { group, packets }, cx);
        self.schedule_retry(wait, cx);
    }

    fn schedule_retry(&mut self, wait: Duration, cx: &Cx<'_>) {
        self.wait = wait;
        self.next = cx.now() + wait;
    }

    fn send_signal(&self, to: Address, signal: Signal, cx: &mut Cx<'_>) {
        cx.count(Count::Signals, 1);
        let header = Header::Signal(signal);
        cx.send(to.into(), self.config.signal, Ecn::NotCapable, header, Label::default());
    }
}
