//! Requests to the processor and to the system about memory, which have no effect but on time, and how much of it there
//! is.
//!
//! The memory that the next event of a simulation needs is requested, so that it arrives in the caches while the
//! current one is handled. In a network of a hundred thousand flows nearly every event is at a port and an endpoint
//! whose memory is not in any cache. Their addresses are known one event before.
//!
//! Large lists, such as the lists of all ports, all endpoints and all names of a table, are in large pages where the
//! system has them, because a processor finds the place of few small pages without walking through tables in memory.

/// Size of a cache line, in bytes.
pub const LINE: usize = 64;

/// Requests the first `lines` cache lines of `value`, at most all of it. A hint: it never waits, and does nothing on
/// processors for which the compiler offers none.
#[inline(always)]
pub fn prefetch<T>(value: &T, lines: usize) {
    (0..lines.min(size_of::<T>().div_ceil(LINE))).for_each(|line| request(value, line));
}

/// Requests the cache line of `value` with this number. As [`prefetch`], without a branch.
#[inline(always)]
pub fn prefetch_line<T>(value: &T, line: usize) {
    request(value, line);
}

/// Smallest list, in bytes, that is to be in large pages, and the granularity of the advice.
#[cfg(target_os = "linux")]
const LARGE_LIST: usize = 4 << 20;
#[cfg(target_os = "linux")]
const ADVISED: usize = 64 << 10;

/// An empty list with the capacity for `count` elements; in large pages if it is large and the system has them
/// (`transparent_hugepage` of Linux).
pub fn list_in_large_pages<T>(count: usize) -> Vec<T> {
    let list = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    {
        let (begin, size) = (list.as_ptr() as usize, list.capacity() * size_of::<T>());
        let start = begin.next_multiple_of(ADVISED);
        if size >= LARGE_LIST {
            let length = (begin + size - start) / ADVISED * ADVISED;
            // SAFETY: the range is in the memory of the list, whose content the advice does not change
            unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
        }
    }
    list
}

/// A list of `count` equal elements in such memory.
pub fn filled_in_large_pages<T: Clone>(count: usize, element: T) -> Box<[T]> {
    let mut list = list_in_large_pages(count);
    list.resize(count, element);
    list.into_boxed_slice()
}

/// Adds an element to such a list, whose capacity doubles when it is full.
#[inline]
pub fn push_in_large_pages<T>(list: &mut Vec<T>, element: T) {
    if list.len() == list.capacity() {
        double(list);
    }
    list.push(element);
}

/// Capacity of a list at first.
const FIRST: usize = 4;

#[cold]
fn double<T>(list: &mut Vec<T>) {
    let mut longer = list_in_large_pages((2 * list.len()).max(FIRST));
    longer.append(list);
    *list = longer;
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

/// Bytes that this process can still take, as the system estimates it: `MemAvailable` of Linux, or less if a control
/// group of the process (cgroup v2) limits it; `None` where no system says it.
pub fn available() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let mut bytes = field(&read("/proc/meminfo")?, "MemAvailable:")? * 1024;
    let group = read("/proc/self/cgroup").unwrap_or_default();
    let mut group = group.lines().find_map(|line| line.strip_prefix("0::"));
    while let Some(path) = group {
        let folder = format!("/sys/fs/cgroup{}", path.trim_end_matches('/'));
        let file = |name: &str| read(&format!("{folder}/{name}"));
        if let (Some(max), Some(used)) = (number(file("memory.max")), number(file("memory.current"))) {
            // files that were read are dropped when there is need
            let files = file("memory.stat").and_then(|text| field(&text, "inactive_file"));
            bytes = bytes.min(max.saturating_sub(used.saturating_sub(files.unwrap_or(0))));
        }
        group = path.rsplit_once('/').map(|(parent, _)| parent).filter(|_| path.len() > 1);
    }
    Some(bytes)
}

/// The number after a word at the beginning of a line.
fn field(text: &str, word: &str) -> Option<u64> {
    let mut rows = text.lines().map(str::split_whitespace);
    rows.find_map(|mut row| (row.next() == Some(word)).then(|| row.next()?.parse().ok())?)
}

/// A number in a file of its own; `max` is none.
fn number(text: Option<String>) -> Option<u64> {
    text?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_the_number_after_its_word() {
        let text = "MemTotal:       24610212 kB\nMemFree: 1 kB\nMemAvailable:   23068672 kB\n";
        assert_eq!(field(text, "MemAvailable:"), Some(23_068_672));
        assert_eq!(field(text, "Mem"), None);
        assert_eq!((number(Some("4096\n".into())), number(Some("max\n".into()))), (Some(4096), None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_available_is_less_than_what_there_is() {
        let all =
            field(&std::fs::read_to_string("/proc/meminfo").expect("a file"), "MemTotal:").expect("a row");
        let bytes = available().expect("Linux says it");
        assert!(bytes > 0 && bytes <= all * 1024, "{bytes} of {all} kB");
    }
}
