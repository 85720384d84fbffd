//! Requests for memory that the next event needs, so that it arrives in the caches while the present one is handled.
//!
//! In a network of a hundred thousand flows nearly every event is at a port and an endpoint whose memory is not in any cache. Their addresses are
//! known one event before.
#![allow(unsafe_code, reason = "a prefetch has no effect but on time, whatever the address")]

/// Size of a cache line, in bytes.
pub(crate) const LINE: usize = 64;

/// Requests the first `lines` cache lines of `value`, at most all of it. A hint: it never waits, and does nothing on processors for which the
/// compiler offers none.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T, lines: usize) {
    (0..lines.min(size_of::<T>().div_ceil(LINE))).for_each(|line| request(value, line));
}

/// Requests those cache lines of `value` whose bits are set, from the lowest bit for the first line.
#[inline(always)]
pub(crate) fn prefetch_some<T>(value: &T, mut lines: u32) {
    while lines != 0 {
        request(value, lines.trailing_zeros() as usize);
        lines &= lines - 1;
    }
}

#[inline(always)]
fn request<T>(value: &T, line: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(value).cast::<i8>();
        // SAFETY: the instruction reads nothing, and does not fault
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, line);
}
