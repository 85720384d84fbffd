//! The flow and addresses of a session, by which the state machines of its ends know each other.

use contract::{Address, EndpointId, FlowId, NodeId};

/// The flow of a session.
pub(crate) const FLOW: FlowId = FlowId(0);
/// The address of the sender.
pub(crate) const SENDER: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };

/// The address of the receiver with this number, by which schemes identify it.
pub(crate) const fn receiver(peer: u32) -> Address {
    Address { node: NodeId(peer), endpoint: EndpointId(peer) }
}
