//! The system calls that have no safe wrapper elsewhere. The only file with `unsafe`.
#![expect(unsafe_code, reason = "each call passes a structure of the kernel's layout that outlives it")]

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use libc::{c_ulong, ifreq};

const ETHTOOL_STSO: u32 = 0x1f;
const ETHTOOL_SGSO: u32 = 0x24;
const SIOCETHTOOL: c_ulong = 0x8946;

fn done(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A request about the interface `name`.
fn request(name: &str) -> ifreq {
    // SAFETY: all zeros are a valid `ifreq`
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes().take(room)) {
        *place = byte as libc::c_char;
    }
    request
}

/// Makes the opened file of the driver a device `name` that carries IP packets, nothing before them.
pub(super) fn become_tun(file: &File, name: &str) -> io::Result<()> {
    let mut request = request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`
    done(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })
}

fn ask(socket: &impl AsRawFd, what: c_ulong, request: &mut ifreq) -> io::Result<()> {
    // SAFETY: the requests of this file read and write one `ifreq`
    done(unsafe { libc::ioctl(socket.as_raw_fd(), what, std::ptr::from_mut(request)) })
}

fn address(of: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: all zeros are a valid `sockaddr_in`, which has the size of a `sockaddr`
    unsafe {
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        address.sin_family = libc::AF_INET as libc::sa_family_t;
        address.sin_addr.s_addr = u32::from(of).to_be();
        std::mem::transmute(address)
    }
}

/// Gives an interface its address within 10.0.0.0/8.
pub(super) fn set_address(socket: &impl AsRawFd, name: &str, of: Ipv4Addr) -> io::Result<()> {
    let mut asked = request(name);
    asked.ifr_ifru.ifru_addr = address(of);
    ask(socket, libc::SIOCSIFADDR, &mut asked)?;
    asked.ifr_ifru.ifru_netmask = address(Ipv4Addr::new(255, 0, 0, 0));
    ask(socket, libc::SIOCSIFNETMASK, &mut asked)
}

/// Sets the longest packet of an interface and how many may wait in it.
pub(super) fn set_limits(socket: &impl AsRawFd, name: &str, mtu: u32, packets: u32) -> io::Result<()> {
    let mut asked = request(name);
    asked.ifr_ifru.ifru_mtu = mtu as c_int;
    ask(socket, libc::SIOCSIFMTU, &mut asked)?;
    asked.ifr_ifru.ifru_metric = packets as c_int;
    ask(socket, libc::SIOCSIFTXQLEN, &mut asked)
}

/// Lets each packet go by itself: no segments are put together and cut by the device.
pub(super) fn no_offload(socket: &impl AsRawFd, name: &str) -> io::Result<()> {
    for what in [ETHTOOL_STSO, ETHTOOL_SGSO] {
        // command and value, as in `struct ethtool_value`
        let mut value = [what, 0u32];
        let mut asked = request(name);
        asked.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
        ask(socket, SIOCETHTOOL, &mut asked)?;
    }
    Ok(())
}

/// Brings an interface up, for groups as well.
pub(super) fn bring_up(socket: &impl AsRawFd, name: &str) -> io::Result<()> {
    let mut asked = request(name);
    asked.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING | libc::IFF_MULTICAST) as libc::c_short;
    ask(socket, libc::SIOCSIFFLAGS, &mut asked)
}

/// Routes what is for the network `net` with `mask` into an interface that is up.
pub(super) fn add_route(socket: &impl AsRawFd, name: &str, net: Ipv4Addr, mask: Ipv4Addr) -> io::Result<()> {
    let mut name: Vec<libc::c_char> = name.bytes().chain([0]).map(|byte| byte as libc::c_char).collect();
    // SAFETY: all zeros are a valid `rtentry`
    let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
    route.rt_dst = address(net);
    route.rt_genmask = address(mask);
    route.rt_flags = libc::RTF_UP;
    route.rt_dev = name.as_mut_ptr();
    // SAFETY: SIOCADDRT reads one `rtentry`, and the name behind it
    done(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCADDRT, &raw mut route) })
}

/// What `struct tcp_info` of the kernel says, as bytes in its layout; the kernel fills what it knows and says how much.
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

/// Takes up to `most` bytes from a TCP socket and throws them away, without copying them.
pub(super) fn discard(socket: &impl AsRawFd, most: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC, TCP counts bytes and touches no buffer
    let taken = unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), most, libc::MSG_TRUNC) };
    usize::try_from(taken).map_err(|_| io::Error::last_os_error())
}

/// The calling thread is preferred to all ordinary ones.
pub(super) fn prefer() -> io::Result<()> {
    let wanted = libc::sched_param { sched_priority: 1 };
    // SAFETY: reads one `sched_param`
    done(unsafe {
        libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const wanted)
    })
}
