//! The faces of a forwarder: its links to other forwarders, then the endpoints on its node.

use contract::{Address, EndpointId, FaceId, FaceView, NodeCx, Packet, PortId};
use memory::prefetch;

/// The faces of a forwarder and where they lead.
#[derive(Clone, Debug, Default)]
pub struct Faces {
    /// Ports, sorted, and the forwarder at the other end of each.
    links: Vec<(PortId, Address)>,
    /// Sorted.
    locals: Vec<EndpointId>,
    /// Interests sent and not yet answered, by face.
    pending: Vec<u32>,
}

/// So many ports are searched one after the other, which is faster.
const FEW: usize = 8;

impl Faces {
    /// Faces for these links, each with the forwarder at its other end, and for these endpoints. Both must be sorted.
    pub fn new(links: &[(PortId, Address)], locals: &[EndpointId]) -> Self {
        debug_assert!(links.windows(2).all(|pair| pair[0].0 < pair[1].0));
        debug_assert!(locals.windows(2).all(|pair| pair[0] < pair[1]));
        Self { links: links.to_vec(), locals: locals.to_vec(), pending: vec![0; links.len() + locals.len()] }
    }

    /// The same faces without pending Interests.
    pub fn emptied(&self) -> Self {
        Self { pending: vec![0; self.pending.len()], ..self.clone() }
    }

    /// Number of faces.
    pub fn count(&self) -> u32 {
        self.pending.len() as u32
    }

    /// Number of links among the faces; they come first.
    #[inline]
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// Requests them from memory.
    #[inline]
    pub fn prefetch(&self) {
        if let (Some(link), Some(pending)) = (self.links.first(), self.pending.first()) {
            prefetch(link, 1);
            prefetch(pending, 1);
        }
    }

    /// Whether a face is a link.
    #[inline]
    pub fn is_link(&self, face: FaceId) -> bool {
        face.index() < self.links.len()
    }

    /// The face of a port.
    #[inline]
    pub fn of_port(&self, port: PortId) -> Option<FaceId> {
        let index = if self.links.len() <= FEW {
            self.links.iter().position(|link| link.0 == port)?
        } else {
            self.links.binary_search_by_key(&port, |link| link.0).ok()?
        };
        Some(FaceId(index as u32))
    }

    /// The port of a face; `None` for an endpoint.
    pub fn port_of(&self, face: FaceId) -> Option<PortId> {
        self.links.get(face.index()).map(|link| link.0)
    }

    /// The face of an endpoint.
    #[inline]
    pub fn of_local(&self, endpoint: EndpointId) -> Option<FaceId> {
        let index = self.locals.binary_search(&endpoint).ok()?;
        Some(FaceId((self.links.len() + index) as u32))
    }

    /// Interests sent and not yet answered, over all faces.
    pub fn outstanding(&self) -> u64 {
        self.pending.iter().map(|&pending| u64::from(pending)).sum()
    }

    pub(super) fn view(&self, face: FaceId, cx: &mut NodeCx<'_, '_>) -> FaceView {
        let link = self.links.get(face.index()).map(|link| cx.port(link.0));
        FaceView { face, link, pending: self.pending.get(face.index()).copied().unwrap_or(0) }
    }

    /// Sends a copy of a packet on a face, and returns it.
    #[inline(always)]
    pub(super) fn send<'cx>(
        &self,
        packet: &Packet,
        face: FaceId,
        cx: &'cx mut NodeCx<'_, '_>,
    ) -> &'cx mut Packet {
        self.send_as::<false>(packet, face, cx)
    }

    /// Sends the packet of the input itself on a face, or a copy if it has been sent already, and returns it.
    #[inline(always)]
    pub(super) fn send_input<'cx>(
        &self,
        packet: &Packet,
        face: FaceId,
        cx: &'cx mut NodeCx<'_, '_>,
    ) -> &'cx mut Packet {
        self.send_as::<true>(packet, face, cx)
    }

    #[inline(always)]
    fn send_as<'cx, const INPUT: bool>(
        &self,
        packet: &Packet,
        face: FaceId,
        cx: &'cx mut NodeCx<'_, '_>,
    ) -> &'cx mut Packet {
        let Some(&(port, neighbour)) = self.links.get(face.index()) else {
            let endpoint = self.locals[face.index() - self.links.len()];
            return if INPUT { cx.deliver_input(packet, endpoint) } else { cx.deliver(packet, endpoint) };
        };
        let sent = if INPUT { cx.forward_input(packet, port) } else { cx.forward(packet, port) };
        sent.to = neighbour.into();
        sent
    }

    #[inline]
    pub(super) fn add_pending(&mut self, face: u32) {
        self.pending[face as usize] += 1;
    }

    #[inline]
    pub(super) fn remove_pending(&mut self, face: u32) {
        self.pending[face as usize] -= 1;
    }
}
