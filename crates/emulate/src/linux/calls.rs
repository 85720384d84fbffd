//! System calls without a safe wrapper. This is the only file with `unsafe`.
#![expect(unsafe_code, reason = "each call passes a structure of the kernel's layout that outlives it")]

use std::ffi::c_int;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use libc::{c_ulong, ifreq};

const ETHTOOL_STSO: u32 = 0x1f;
const ETHTOOL_SGSO: u32 = 0x24;
const SIOCETHTOOL: c_ulong = 0x8946;

fn done(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Turns off segmentation offload, so that each packet passes the device by itself.
pub(super) fn no_offload(name: &str) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: all zeros are a valid `ifreq`
    let mut asked: ifreq = unsafe { std::mem::zeroed() };
    let room = asked.ifr_name.len() - 1;
    for (place, byte) in asked.ifr_name.iter_mut().zip(name.bytes().take(room)) {
        *place = byte as libc::c_char;
    }
    for what in [ETHTOOL_STSO, ETHTOOL_SGSO] {
        // command and value, as in `struct ethtool_value`
        let mut value = [what, 0u32];
        asked.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
        // SAFETY: SIOCETHTOOL reads one `ifreq`, and the value behind it
        done(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut asked) })?;
    }
    Ok(())
}

/// Reads `struct tcp_info` of the kernel into bytes. Returns the length that the kernel filled.
pub(super) fn tcp_info(socket: &impl AsRawFd, into: &mut [u8; 256]) -> io::Result<usize> {
    let mut length = into.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes
    done(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            into.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(length as usize)
}

/// Discards up to `max` received bytes of a TCP socket without a copy. Returns their number.
pub(super) fn discard(socket: &impl AsRawFd, max: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC, TCP counts bytes and touches no buffer
    let taken = unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), max, libc::MSG_TRUNC) };
    usize::try_from(taken).map_err(|_| io::Error::last_os_error())
}

/// Gives the calling thread real-time priority.
pub(super) fn prefer() -> io::Result<()> {
    let required = libc::sched_param { sched_priority: 1 };
    // SAFETY: reads one `sched_param`
    done(unsafe {
        libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const required)
    })
}
