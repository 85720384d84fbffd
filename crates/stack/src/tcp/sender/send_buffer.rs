//! The send buffer of Linux, which counts memory: it limits how far the sender runs ahead of a segment that is not
//! acknowledged.

use units::Bytes;

/// Payload between the oldest byte not acknowledged and the next byte to send.
///
/// The kernel counts the memory of the segments and not their payload. The buffer grows when the application fills it
/// before the congestion window is full, to twice what a window takes \[Linux: tcp_sndbuf_expand\]. Segments above a
/// hole stay in it, so a retransmission that is lost again and again stops new data, which lets it pass. Application
/// data that was never sent counts in the kernel as well and does not here: it delays nothing.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer(Option<Box<Size>>);

/// The size of a send buffer with a limit.
#[derive(Clone, Debug)]
struct Size {
    /// In bytes of memory.
    memory: u64,
    /// Payload that fits.
    payload: u64,
    segment: u64,
}

/// Memory of a segment beside its payload \[Linux: SKB_TRUESIZE(MAX_TCP_HEADER), 64 bits\].
const OVERHEAD: u64 = 1280;
/// Parts of the memory that the kernel assumes for a segment when it sizes the buffer: headers and `skb_shared_info`,
/// then `sk_buff`.
const HEADERS: u64 = 320 + 320;
const DESCRIPTOR: u64 = 256;

impl SendBuffer {
    /// A buffer of `memory`, or of twice the initial window if that is larger; [`Bytes::UNLIMITED`] is no limit.
    pub(super) fn new(memory: Bytes, segment: Bytes, initial_window: u32) -> Self {
        let limited = || {
            let mut size = Size { memory: memory.as_u64(), payload: 0, segment: segment.as_u64().max(1) };
            size.memory = size.memory.max(size.memory_of(u64::from(initial_window)));
            size.resize();
            Box::new(size)
        };
        Self((memory != Bytes::UNLIMITED).then(limited))
    }

    /// One past the last byte that may be sent while `una` is the oldest that is not acknowledged.
    #[inline]
    pub(super) fn edge(&self, una: u64) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |size| una.saturating_add(size.payload))
    }

    /// Makes room for twice a congestion window of this many bytes. Returns whether the buffer has grown.
    #[cold]
    pub(super) fn grow(&mut self, window: u64) -> bool {
        let Some(size) = &mut self.0 else { return false };
        let memory = size.memory_of(window / size.segment);
        let grows = memory > size.memory;
        if grows {
            size.memory = memory;
            size.resize();
        }
        grows
    }
}

impl Size {
    fn memory_of(&self, segments: u64) -> u64 {
        2 * segments * ((self.segment + HEADERS).next_power_of_two() + DESCRIPTOR)
    }

    /// A segment is accepted while the memory is not exhausted, so the last one may exceed it.
    fn resize(&mut self) {
        self.payload = self.memory.div_ceil(self.segment + OVERHEAD) * self.segment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_segments() {
        // 1 MiB / (1448 + 1280) = 384.4
        let buffer = SendBuffer::new(Bytes::new(1 << 20), Bytes::new(1448), 10);
        assert_eq!(buffer.edge(1000), 1000 + 385 * 1448);
    }

    #[test]
    fn it_starts_with_twice_the_initial_window() {
        // 2 × 10 × (4096 + 256) = 87 040; / 2728 = 31.9
        let buffer = SendBuffer::new(Bytes::new(16_384), Bytes::new(1448), 10);
        assert_eq!(buffer.edge(0), 32 * 1448);
    }

    #[test]
    fn it_grows_with_the_window_and_never_shrinks() {
        let mut buffer = SendBuffer::new(Bytes::new(16_384), Bytes::new(1448), 10);
        // 2 × 100 × 4352 = 870 400; / 2728 = 319.1
        assert!(buffer.grow(100 * 1448));
        assert_eq!(buffer.edge(0), 320 * 1448);
        assert!(!buffer.grow(50 * 1448));
        assert_eq!(buffer.edge(0), 320 * 1448);
    }

    #[test]
    fn without_a_limit_it_does_not_grow() {
        let mut buffer = SendBuffer::new(Bytes::UNLIMITED, Bytes::new(1448), 10);
        assert_eq!(buffer.edge(7), u64::MAX);
        assert!(!buffer.grow(u64::MAX));
    }
}
