//! PerIfwithECN at a receiver: its answers give the source the round-trip time.

use contract::{Arrival, Count, ReceiverAlgorithm, ReceiverCx};

use crate::perif_ecn::headers::{Answer, DataHeader, FeedbackMessage};

/// The receiver's part. It answers its first packet, and requests that are for it.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The last request that it answered.
    last_answered: Option<u32>,
}

impl Receiver {
    /// A receiver that has received nothing.
    pub(crate) const fn new() -> Self {
        Self { last_answered: None }
    }
}

impl ReceiverAlgorithm for Receiver {
    #[inline]
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let Some(header) = DataHeader::decode(data.label) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        let due = match self.last_answered {
            None => true,
            Some(last) => {
                header.request > last && header.target.is_none_or(|endpoint| endpoint == cx.me().endpoint)
            }
        };
        if due {
            self.last_answered = Some(header.request);
            cx.feedback(
                FeedbackMessage::Answer(Answer { request: header.request, trigger_sent_at: data.sent_at })
                    .encode(),
            );
        }
    }
}
