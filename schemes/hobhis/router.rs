//! HoBHIS in routers: the shaper. An Interest of an endpoint on the node is forwarded at once.

use std::collections::VecDeque;

use contract::{
    Admission, FaceId, Header, InterestQueueId, LinkAlgorithm, LinkCx, NackReason, NameId, Packet, PortView,
    ReturnPath, Setup, Transit, TransitCx,
};
use units::{Duration, Time};

use super::Params;
use crate::shared::{FifoModel, serve_due};

contract::choice! {
    /// The queues of Interests.
    pub enum QueuePer {
        /// One queue per link, whose head waits for its conversation.
        Link = "link",
        /// One queue per conversation.
        Conversation = "conversation",
    }
}

contract::choice! {
    /// Treatment of an Interest that finds its queue full.
    pub enum WhenFull {
        /// It is dropped without an answer.
        Drop = "drop",
        /// It is refused.
        Nack = "nack",
    }
}

/// The shaper of a node.
#[derive(Debug)]
pub struct Shaper {
    params: Params,
    /// Sizes before the first packet of each kind, in bytes.
    data_bytes: f64,
    /// Contents by the first component of their names, sorted, with their numbers.
    contents: Vec<(NameId, u32)>,
    /// Number of the content plus one, by prefix; 0 if it was not requested.
    content_of: Vec<u32>,
    /// Per face; used for links only.
    links: Vec<Link>,
    /// Indexed by the number in the entries of pending Interests minus one.
    conversations: Vec<Conversation>,
    /// By [`InterestQueueId`].
    lines: Vec<Waiting>,
    wake: Time,
    queued: u32,
}

/// The state of a link.
#[derive(Debug, Default)]
struct Link {
    queue: FifoModel,
    /// Smoothed size of outgoing Interests in bytes; 0 before the first.
    interest: f64,
    /// Smoothed size of incoming Data in bytes; 0 before the first.
    data: f64,
    /// Number of its conversation plus one, by content; 0 for none.
    conversations: Vec<u32>,
    /// Number of its queue plus one, with one queue per link; 0 before it is made.
    line: u32,
    /// Conversations that were active recently and whose Data leave on this link.
    active: u32,
    counted_at: Time,
}

/// A content that is requested on a link.
#[derive(Clone, Copy, Debug)]
struct Conversation {
    content: u32,
    /// The link of its Interests.
    up: FaceId,
    /// The link of its last Interest, on which its Data leave.
    down: FaceId,
    /// Delay A in seconds; zero before the first Data.
    delay_s: f64,
    asked_at: Time,
    line: u32,
}

/// A queue of Interests.
#[derive(Debug)]
struct Waiting {
    /// The link on which they leave.
    up: FaceId,
    /// Their conversations.
    line: VecDeque<u32>,
    /// When the next action is due; [`Time::NEVER`] if no Interest waits.
    at: Time,
    /// Whether that action is to compute the rate again; otherwise it is to send the first Interest.
    recomputes: bool,
}

/// When the next Interest may leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gap {
    /// At once.
    None,
    /// After this time.
    Of(Duration),
    /// Not now.
    Closed,
}

impl Shaper {
    /// The part, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self {
            params: params.clone(),
            data_bytes: setup.segment.as_f64(),
            contents: Vec::new(),
            content_of: Vec::new(),
            links: Vec::new(),
            conversations: Vec::new(),
            lines: Vec::new(),
            wake: Time::NEVER,
            queued: 0,
        }
    }

    fn link(&mut self, face: FaceId) -> &mut Link {
        if self.links.len() <= face.index() {
            self.links.resize_with(face.index() + 1, Link::default);
        }
        &mut self.links[face.index()]
    }

    /// The content of a prefix, which is its first component                   [HOBHIS]
    fn content(&mut self, prefix: NameId, cx: &dyn LinkCx) -> u32 {
        if let Some(known) = self.content_of.get(prefix.index()).filter(|known| **known > 0) {
            return known - 1;
        }
        let first = cx.names().first(prefix);
        let content = match self.contents.binary_search_by_key(&first, |known| known.0) {
            Ok(at) => self.contents[at].1,
            Err(at) => {
                let content = self.contents.len() as u32;
                self.contents.insert(at, (first, content));
                content
            }
        };
        if self.content_of.len() <= prefix.index() {
            self.content_of.resize(prefix.index() + 1, 0);
        }
        self.content_of[prefix.index()] = content + 1;
        content
    }

    /// The conversation of a content on the link `up`, made at its first use.
    fn conversation(&mut self, content: u32, up: FaceId, down: FaceId) -> u32 {
        let next = self.conversations.len() as u32;
        let by_link = self.params.queue_per == QueuePer::Link;
        let lines = self.lines.len() as u32;
        let link = self.link(up);
        if link.conversations.len() <= content as usize {
            link.conversations.resize(content as usize + 1, 0);
        }
        let known = &mut link.conversations[content as usize];
        if *known > 0 {
            return *known - 1;
        }
        *known = next + 1;
        if link.line == 0 || !by_link {
            link.line = lines + 1;
            self.lines.push(Waiting { up, line: VecDeque::new(), at: Time::NEVER, recomputes: false });
        }
        let line = self.links[up.index()].line - 1;
        self.conversations.push(Conversation { content, up, down, delay_s: 0.0, asked_at: Time::ZERO, line });
        next
    }

    /// Number of conversations with pending Data on the link `down`, counted at most once per millisecond.
    fn active(&mut self, down: FaceId, now: Time) -> u32 {
        let counted_at = self.link(down).counted_at;
        if counted_at == Time::ZERO || now.saturating_since(counted_at) >= RECOUNT {
            let since = |conversation: &&Conversation| {
                now.saturating_since(conversation.asked_at) <= self.params.idle_timeout
            };
            let active = self
                .conversations
                .iter()
                .filter(|conversation| conversation.down == down)
                .filter(since)
                .count();
            let link = self.link(down);
            (link.active, link.counted_at) = (active as u32, now);
        }
        self.links[down.index()].active.max(1)
    }

    /// γ in Interests per second, and the rate of the link; infinite before the first Data and without such a link.
    /// `parts` is the number of conversations that share the downstream link and the target equally; without it they
    /// share the target as they share the queue.
    pub(super) fn rate(
        &mut self,
        conversation: u32,
        h: f64,
        parts: Option<u32>,
        cx: &mut dyn LinkCx,
    ) -> (f64, f64) {
        let Conversation { content, up, down, delay_s, .. } = self.conversations[conversation as usize];
        let (Some(upwards), Some(downwards)) = (cx.face(up).link, cx.face(down).link) else {
            return (f64::INFINITY, 0.0);
        };
        let interest = if self.link(up).interest > 0.0 { self.links[up.index()].interest } else { INTEREST };
        let leaving = upwards.rate.as_bps_f64() / (8.0 * interest);
        let c = downwards.rate.as_bps_f64();
        if delay_s == 0.0 {
            // before the first Data: c/(8·size of an Interest)                              [HOBHIS]
            return (c / (8.0 * interest), leaving);
        }
        let data =
            if self.links[up.index()].data > 0.0 { self.links[up.index()].data } else { self.data_bytes };
        let link = self.link(down);
        link.queue.update(&downwards.backlog);
        let (mine, all) = link.queue.data(content);
        // share = e_k/e, 1 if either is 0                                                   [HOBHIS]
        let of_queue = if mine == 0 || all == 0 { 1.0 } else { f64::from(mine) / f64::from(all) };
        let (of_target, of_link) =
            parts.map_or((of_queue, 1.0), |parts| (1.0 / f64::from(parts), 1.0 / f64::from(parts)));
        // γ = c/(8·S) + h·(r·share − e_k)/A                                                 [RF12, HOBHIS]
        let lead = h * (self.params.target * of_target - f64::from(mine)) / delay_s;
        (c / (8.0 * data) * of_link + lead, leaving)
    }

    /// The gap before the first Interest of a queue.
    fn gap(&mut self, line: u32, cx: &mut dyn LinkCx) -> Gap {
        let Some(conversation) = self.lines[line as usize].line.front().copied() else { return Gap::None };
        let parts = match self.params.queue_per {
            QueuePer::Link => None,
            QueuePer::Conversation => {
                Some(self.active(self.conversations[conversation as usize].down, cx.now()))
            }
        };
        let (rate, leaving) = self.rate(conversation, self.params.h, parts, cx);
        cx.probe(
            "shaping_rate",
            if rate.is_finite() { (rate * 8.0 * self.data_bytes).max(0.0) } else { 0.0 },
        );
        gap(rate, leaving, self.params.max_gap)
    }

    /// Plans the next action of a queue. Returns true if its first Interest leaves at once.
    fn plan(&mut self, line: u32, cx: &mut dyn LinkCx) -> bool {
        let now = cx.now();
        let gap = self.gap(line, cx);
        let retry = self.params.retry;
        let waiting = &mut self.lines[line as usize];
        (waiting.at, waiting.recomputes) = match gap {
            Gap::None => (now, false),
            Gap::Of(span) => (now + span, false),
            Gap::Closed => (now + retry, true),
        };
        if waiting.at > now {
            self.wake = self.wake.min(waiting.at);
        }
        waiting.at == now
    }

    /// Handles the deadline of a queue.
    fn serve(&mut self, line: u32, cx: &mut dyn LinkCx) {
        let interest_queue = InterestQueueId(line);
        loop {
            let waiting = &mut self.lines[line as usize];
            if !waiting.recomputes {
                let released = cx.release(interest_queue);
                // answered and expired Interests before it were removed as well
                let remaining = cx.interest_queue(interest_queue).packets as usize;
                while waiting.line.len() > remaining {
                    waiting.line.pop_front();
                }
                if let Some(size) = released {
                    self.note_interest(line, size.as_f64());
                }
            }
            let waiting = &mut self.lines[line as usize];
            waiting.recomputes = false;
            if waiting.line.is_empty() {
                waiting.at = Time::NEVER;
                return;
            }
            if !self.plan(line, cx) {
                return;
            }
        }
    }

    fn note_interest(&mut self, line: u32, size: f64) {
        let gain = self.params.size_gain;
        let up = self.lines[line as usize].up;
        smooth(&mut self.links[up.index()].interest, size, gain);
    }

    /// Records the number of queued Interests.
    fn count_held(&mut self, cx: &mut dyn LinkCx) {
        let queued = self.lines.iter().map(|waiting| waiting.line.len() as u32).sum();
        if queued != self.queued {
            self.queued = queued;
            cx.probe("shaper_queue", f64::from(queued));
        }
    }
}

/// The gap at a rate; `rate` and the link rate `leaving` are in Interests per second.
pub(super) fn gap(rate: f64, leaving: f64, longest: Duration) -> Gap {
    // gap = 0 if γ is no less than the link's own rate, else 1/γ; a negative γ: look again soon       [HOBHIS]
    if rate >= leaving {
        Gap::None
    } else if rate > 0.0 {
        Gap::Of(Duration::from_secs_f64((1.0 / rate).min(longest.as_secs_f64())).max(Duration::from_nanos(1)))
    } else {
        Gap::Closed
    }
}

/// Updates a mean by a sample; the first sample is the mean.
fn smooth(mean: &mut f64, sample: f64, gain: f64) {
    *mean = if *mean == 0.0 { sample } else { *mean + gain * (sample - *mean) };
}

impl LinkAlgorithm for Shaper {
    fn on_interest(&mut self, interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        let Header::Interest(asked) = interest.header else { return Admission::Pass };
        // routers shape, clients do not                                                     [HOBHIS]
        if cx.face(path.from).link.is_none() {
            return Admission::Pass;
        }
        let content = self.content(asked.name.prefix, cx);
        let conversation = self.conversation(content, path.to, path.from);
        let known = &mut self.conversations[conversation as usize];
        (known.down, known.asked_at) = (path.from, cx.now());
        let line = known.line;
        path.note = conversation + 1;
        let queue_length = cx.interest_queue(InterestQueueId(line)).packets;
        if queue_length >= self.params.queue_limit {
            return match self.params.when_full {
                WhenFull::Drop => Admission::Drop,
                WhenFull::Nack => Admission::Refuse(NackReason::Congestion),
            };
        }
        self.lines[line as usize].line.push_back(conversation);
        if self.lines[line as usize].at == Time::NEVER && self.plan(line, cx) {
            let waiting = &mut self.lines[line as usize];
            waiting.line.clear();
            (waiting.at, waiting.recomputes) = (Time::NEVER, false);
            self.note_interest(line, interest.size().as_f64());
            return Admission::Pass;
        }
        self.count_held(cx);
        Admission::Hold(InterestQueueId(line))
    }

    fn on_data_in(&mut self, data: &mut Packet, path: &ReturnPath, cx: &mut dyn LinkCx) {
        let Header::Data(answer) = data.header else { return };
        self.content(answer.name.prefix, cx);
        let gain = self.params.size_gain;
        smooth(&mut self.link(path.from).data, data.size().as_f64(), gain);
        let Some(conversation) = path
            .note
            .checked_sub(1)
            .filter(|conversation| (*conversation as usize) < self.conversations.len())
        else {
            return;
        };
        let known = &mut self.conversations[conversation as usize];
        if known.up != path.from {
            return;
        }
        if let Some(rtt) = path.rtt {
            // A = 0.8·sample + 0.2·A                                                        [HOBHIS]
            smooth(&mut known.delay_s, rtt.as_secs_f64().max(SHORTEST_S), self.params.delay_gain);
        }
        if self.params.client {
            // our choice: the rate for conversations that share the downstream link equally, as a rate of Data
            let parts = self.active(self.conversations[conversation as usize].down, cx.now());
            let rate = self.rate(conversation, self.params.client_h, Some(parts), cx).0;
            if rate.is_finite() {
                let bps = (rate * 8.0 * data.size().as_f64()).max(1.0) as u64;
                let written = &mut data.label.0[0];
                // the minimum of the path                                                    [RF14]
                *written = if *written == 0 { bps } else { bps.min(*written) };
            }
        }
    }

    fn on_data_out(&mut self, data: &mut Packet, _path: &Transit, cx: &mut dyn LinkCx) {
        if let Header::Data(answer) = data.header {
            self.content(answer.name.prefix, cx);
        }
    }

    fn observes_enqueue(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, packet: &mut Packet, to: FaceId, port: &PortView, _at: &mut TransitCx<'_>) {
        let tag = match packet.header {
            Header::Data(data) => self.content_of.get(data.name.prefix.index()).copied().unwrap_or(0),
            _ => 0,
        };
        let size = packet.size();
        self.link(to).queue.offer(tag, size, port);
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        let (count, now) = (self.lines.len(), cx.now());
        self.wake = serve_due(
            self,
            count,
            now,
            |algorithm, at| algorithm.lines[at].at,
            |algorithm, at| algorithm.serve(at, cx),
        );
        self.count_held(cx);
    }

    fn wake(&self) -> Time {
        self.wake
    }
}

/// Size of an Interest before the first, in bytes [HOBHIS].
const INTEREST: f64 = 40.0;
/// Our choice: minimum delay, which is a divisor.
const SHORTEST_S: f64 = 1e-6;
/// Our choice: interval of counting active conversations.
const RECOUNT: Duration = Duration::from_millis(1);
