# mypy: ignore-errors
"""Runs one cell of a link inside the guest: a policer, a shaper or netem, and datagrams at a constant rate through it.

    python inside_links.py CELL.json RESULT.json

    left ── l0 r0 ── router ── r1 x0 ── right

The commands of the cell make the link at r1. Each datagram has its number and the time at which it was sent. Nothing else
passes, so that the times at the receiver are those of the link.
"""

import os
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from inside import PORT, SETTLE_S, command, configure, enter, in_child, joined, main, until

SO_RCVBUFFORCE = 33
HEADERS = 14 + 20 + 8
"""Bytes of Ethernet, IPv4 and UDP before the payload: queue disciplines count all of them."""


def wires():
    """Makes the namespaces and the links between them."""
    for name in ("left", "router", "right"):
        command("ip", "netns", "add", name)
        command("ip", "-n", name, "link", "set", "lo", "up")
    mac = "02:00:00:00:00:0{}".format
    for near, far in ((("left", "l0", 1), ("router", "r0", 2)), (("router", "r1", 3), ("right", "x0", 4))):
        command(
            *("ip", "link", "add", near[1], "netns", near[0], "address", mac(near[2]), "type", "veth"),
            *("peer", "name", far[1], "netns", far[0], "address", mac(far[2])),
        )
    ends = (
        ("left", "l0", "10.0.1.1", "10.0.1.2", 2),
        ("router", "r0", "10.0.1.2", "10.0.1.1", 1),
        ("router", "r1", "10.0.2.2", "10.0.2.1", 4),
        ("right", "x0", "10.0.2.1", "10.0.2.2", 3),
    )
    for name, device, own, other, number in ends:
        command("ip", "-n", name, "addr", "add", f"{own}/24", "dev", device)
        command("ip", "-n", name, "link", "set", device, "up")
        command("ip", "-n", name, "neigh", "replace", other, "lladdr", mac(number), "dev", device)
    command("ip", "-n", "left", "route", "add", "default", "via", "10.0.1.2")
    command("ip", "-n", "right", "route", "add", "default", "via", "10.0.2.2")
    for name in ("left", "router", "right"):
        joined(in_child(name, configure, {}))


def send(cell, zero):
    """Sends the datagrams at their times."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(("10.0.2.1", PORT))
    filling = bytes(cell["packet"] - HEADERS - 16)
    for number in range(cell["packets"]):
        until(zero + number * cell["every_us"] / 1e6)
        sender.send(struct.pack("QQ", number, time.monotonic_ns()) + filling)


def run(cell):
    """Runs the cell: number, delay in ns and time of arrival in ns of each datagram, in the order of arrival."""
    wires()
    for words in cell["commands"]:
        command("tc", "-n", "router", *words)
    enter("right")
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    receiver.bind(("10.0.2.1", PORT))
    receiver.settimeout(2.0)
    zero = time.monotonic() + SETTLE_S
    child = in_child("left", send, cell, zero)
    arrived = []
    while True:
        try:
            data = receiver.recv(2048)
        except TimeoutError:
            break
        now = time.monotonic_ns()
        number, sent = struct.unpack_from("QQ", data)
        arrived.append((number, now - sent, now - int(zero * 1e9)))
    joined(child)
    counted = Path("/proc/net/snmp").read_text().splitlines()
    udp = [line.split()[1:] for line in counted if line.startswith("Udp:")]
    return {
        "kernel": os.uname().release,
        "arrived": arrived,
        "udp": dict(zip(udp[0], map(int, udp[1]), strict=True)),
    }


if __name__ == "__main__":
    main(run)
