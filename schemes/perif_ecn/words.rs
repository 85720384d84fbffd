//! PerIfwithECN: encoding of the messages of source, receivers and routers in labels of four words. Invalid messages are refused. The encoding is
//! ours.

use contract::{Eid, EndpointId, Label};
use units::Time;

use super::Params;

/// What every data packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Which router parts it concerns, see [`mark`].
    pub(crate) mark: u64,
    /// Number of the present question about the round-trip time.
    pub(crate) question: u32,
    /// Who is to answer it; `None` for everyone.
    pub(crate) asked: Option<EndpointId>,
}

/// A word of feedback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Word {
    /// A router's queue is too long [SRMCC §2].
    Notify(Notify),
    /// A receiver's answer to a question.
    Answer(Answer),
}

/// A router's notification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Notify {
    /// The rate that it suggests, in bit/s.
    pub(crate) suggested: f64,
    /// When the packet that met the long queue was sent.
    pub(crate) about: Time,
}

/// A receiver's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The question.
    pub(crate) question: u32,
    /// When the packet that asked it was sent.
    pub(crate) about: Time,
}

/// What tells a router's part its own groups' packets from all others: groups with other parameters have a part of their own
/// there, and other schemes write other labels.
pub(crate) fn mark(params: &Params) -> u64 {
    Eid::of(&format!("perif_ecn {params:?}")).0
}

impl Heading {
    /// As the label of a data packet.
    #[inline]
    pub(crate) fn encode(&self) -> Label {
        let (who, endpoint) = match self.asked {
            None => (EVERYONE, EndpointId(0)),
            Some(endpoint) => (ONE, endpoint),
        };
        Label([self.mark, u64::from(self.question), who, u64::from(endpoint.0)])
    }

    /// From a data packet's label; `None` when no source would write it.
    #[inline]
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [mark, question, who, endpoint] = label.0;
        let asked = match (who, u32::try_from(endpoint)) {
            (EVERYONE, Ok(0)) => None,
            (ONE, Ok(endpoint)) => Some(EndpointId(endpoint)),
            _ => return None,
        };
        Some(Self { mark, question: u32::try_from(question).ok()?, asked })
    }
}

impl Word {
    /// As the label of a feedback packet.
    pub(crate) fn encode(&self) -> Label {
        match self {
            Self::Notify(it) => Label([NOTIFY, it.suggested.to_bits(), it.about.as_nanos(), 0]),
            Self::Answer(it) => Label([ANSWER, u64::from(it.question), it.about.as_nanos(), 0]),
        }
    }

    /// From a feedback packet's label; `None` when neither router nor receiver would write it.
    pub(crate) fn decode(label: Label) -> Option<Self> {
        let [kind, what, about, 0] = label.0 else { return None };
        let about = Time::from_nanos(about);
        match kind {
            NOTIFY => {
                let suggested = f64::from_bits(what);
                let fits = suggested.is_finite() && suggested >= 0.0;
                fits.then_some(Self::Notify(Notify { suggested, about }))
            }
            ANSWER => Some(Self::Answer(Answer { question: u32::try_from(what).ok()?, about })),
            _ => None,
        }
    }

    /// When the packet that it is about was sent.
    pub(crate) const fn about(&self) -> Time {
        match self {
            Self::Notify(it) => it.about,
            Self::Answer(it) => it.about,
        }
    }
}

const EVERYONE: u64 = 0;
const ONE: u64 = 1;
const NOTIFY: u64 = 1;
const ANSWER: u64 = 2;
