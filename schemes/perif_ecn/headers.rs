//! PerIfwithECN: encoding of the messages of source, receivers and routers in labels of four words. Invalid messages
//! are refused. The encoding is ours.

use contract::{Eid, EndpointId, Label};
use units::Time;

use super::Params;

/// Content of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataHeader {
    /// Identifies the router parts that it is for, see [`mark`].
    pub(crate) mark: u64,
    /// Number of the current request for round-trip times.
    pub(crate) request: u32,
    /// The receiver that is to answer; `None` for all.
    pub(crate) target: Option<EndpointId>,
}

/// The content of a feedback packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FeedbackMessage {
    /// A router's queue is too long [SRMCC §2].
    Notify(Notify),
    /// A receiver's answer to a request.
    Answer(Answer),
}

/// A router's notification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Notify {
    /// The suggested rate, in bit/s.
    pub(crate) suggested_rate: f64,
    /// Departure of the packet that met the long queue.
    pub(crate) trigger_sent_at: Time,
}

/// A receiver's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Number of the request.
    pub(crate) request: u32,
    /// Departure of the packet with the request.
    pub(crate) trigger_sent_at: Time,
}

/// The identification by which a router's part recognises its groups: groups with other parameters have a separate
/// part, and other schemes have other labels.
pub(crate) fn mark(params: &Params) -> u64 {
    Eid::of(&format!("perif_ecn {params:?}")).0
}

impl DataHeader {
    /// Encodes it in the label of a data packet.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        let (who, endpoint) = match self.target {
            None => (EVERYONE, EndpointId(0)),
            Some(endpoint) => (ONE, endpoint),
        };
        Label([self.mark, u64::from(self.request), who, u64::from(endpoint.0)])
    }

    /// Decodes the label of a data packet; `None` for invalid content.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [mark, request, who, endpoint] = label.0;
        let target = match (who, u32::try_from(endpoint)) {
            (EVERYONE, Ok(0)) => None,
            (ONE, Ok(endpoint)) => Some(EndpointId(endpoint)),
            _ => return None,
        };
        Some(Self { mark, request: u32::try_from(request).ok()?, target })
    }
}

impl FeedbackMessage {
    /// Encodes it in the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        match self {
            Self::Notify(it) => {
                Label([NOTIFY, it.suggested_rate.to_bits(), it.trigger_sent_at.as_nanos(), 0])
            }
            Self::Answer(it) => Label([ANSWER, u64::from(it.request), it.trigger_sent_at.as_nanos(), 0]),
        }
    }

    /// Decodes the label of a feedback packet; `None` for invalid content.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [kind, what, trigger_sent_at, 0] = label.0 else { return None };
        let trigger_sent_at = Time::from_nanos(trigger_sent_at);
        match kind {
            NOTIFY => {
                let suggested_rate = f64::from_bits(what);
                let fits = suggested_rate.is_finite() && suggested_rate >= 0.0;
                fits.then_some(Self::Notify(Notify { suggested_rate, trigger_sent_at }))
            }
            ANSWER => Some(Self::Answer(Answer { request: u32::try_from(what).ok()?, trigger_sent_at })),
            _ => None,
        }
    }

    /// Departure of the packet that it refers to.
    pub(crate) const fn trigger_sent_at(&self) -> Time {
        match self {
            Self::Notify(it) => it.trigger_sent_at,
            Self::Answer(it) => it.trigger_sent_at,
        }
    }
}

const EVERYONE: u64 = 0;
const ONE: u64 = 1;
const NOTIFY: u64 = 1;
const ANSWER: u64 = 2;
