//! Shared types: packets, signals, the context [`Cx`], and the small traits that a scheme implements.
//!
//! This crate contains no driver. `stack` has the state machines, `schemes` the congestion control, and `sim` drives
//! both.

mod arena;
mod boxed;
mod control;
mod cx;
mod delays;
mod egress;
mod endpoint;
mod forwarding;
mod ids;
mod ndn;
mod packet;
mod params;
mod queue;
mod random;
mod router;
mod scheme;
mod sdn;
mod signal;
mod stream;

pub use arena::Arena;
pub use control::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Cut, Delivery, EcnFeedback, EcnUse, Idle, Lost,
    Sent, Setup, SourceWindows, WindowUpdate, ambassador_impl_CongestionControl,
};
pub use cx::{Count, Counts, Cx, LostConnection, MediaMeter, Meter, Note, Notes, Outputs, RouterPacket};
pub use delays::Delays;
pub use egress::{Egress, EgressEvent};
pub use endpoint::{Endpoint, Input, Request};
pub use forwarding::{
    Admission, ArrivingData, ArrivingInterest, ArrivingNack, FaceView, FibEntry, InRecord, InterestQueueView,
    LinkAlgorithm, LinkCx, NextHop, OutRecord, Pending, ReturnPath, SendResult, Strategy, StrategyCx,
    Transit, ambassador_impl_LinkAlgorithm, ambassador_impl_Strategy,
};
pub use ids::{
    Address, Destination, EndpointId, FaceId, FlowId, GroupId, InterestQueueId, LinkId, NameId, NodeId,
    PacketId, PayloadId, PortId,
};
pub use ndn::{Data, Interest, Nack, NackReason, Name, Names};
pub use packet::{
    Ecn, Fragment, Header, Label, Packet, SackBlocks, StreamHeader, TcpFlags, TcpHeader, Waited,
};
pub use params::{
    Param, ParamError, ParamInfo, ParamKind, ParamList, ParamTable, ParamValue, resolve_params,
};
pub use queue::{
    Backlog, DropReason, PacketCx, QueueDiscipline, QueueLimit, Verdict, ambassador_impl_QueueDiscipline,
};
pub use random::Random;
pub use router::{
    Branch, Entry, FeedbackTarget, GroupMessage, NodeCx, NodeView, PortView, Report, Router, RouterAlgorithm,
    RouterCx, RouterInput, TransitCx, ambassador_impl_RouterAlgorithm,
};
pub use scheme::{Documented, Family, Need, Scheme, SeriesInfo, Source};
pub use sdn::{
    App, AppCx, Cache, CachedStatus, Command, Control, DirectedLink, Hop, HopTable, Hops, MILLION, Net,
    Requirements, Share, Status, Subject, Traffic, ambassador_impl_App,
};
pub use signal::{Eid, RESOLVED, Registration, Signal};
pub use stream::{
    Arrival, EncodedFrame, Feedback, Gap, OutgoingFeedback, OutgoingPacket, ReceiverAlgorithm, ReceiverCx,
    SenderAlgorithm, ambassador_impl_ReceiverAlgorithm, ambassador_impl_SenderAlgorithm,
};
