# mypy: ignore-errors
"""Runs one cell inside the guest: three network namespaces, a bottleneck, TCP flows, and taps on both sides of the queue.

    python inside.py CELL.json RESULT.json

The guest starts it as its first process. It uses the standard library only, since it runs with the Python of the host's
system, and it never polls: in virtual time a process that spins stops the clock.

    left ── l0 r0 ── router ── r1 x0 ── right

HTB at r1 has the rate of the bottleneck and the queue discipline of the cell below it. HTB takes a packet from the queue
when the transmission of the packet before it is over, as a link does; TBF would take one packet too early (it peeks).
netem at x0 delays the acknowledgements by the whole round-trip time, so that it does not hold packets of a sender.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import socket
import struct
import subprocess
import sys
import time
import traceback
from pathlib import Path

PORT = 5001
FIRST_SOURCE_PORT = 40001
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
POWER_OFF = 0x4321FEDC
SETTLE_S = 0.5
"""Time from the start of the processes to time zero of the cell."""

# linux/if_packet.h
SOL_PACKET, PACKET_RX_RING, PACKET_VERSION, TPACKET_V2 = 263, 5, 10, 1
ETH_P_IP, ETH_P_ALL = 0x0800, 0x0003
FRAME, BLOCK = 128, 1 << 16
FRAMES_PER_BLOCK = BLOCK // FRAME


def command(*words):
    """Runs a program and returns its output."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def enter(namespace):
    """Moves this process into a network namespace."""
    with open(f"/run/netns/{namespace}", "rb") as file:
        if LIBC.setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {namespace}")


def in_child(namespace, function, *arguments):
    """Forks a process that runs a function in a namespace; returns its id."""
    child = os.fork()
    if child:
        return child
    try:
        enter(namespace)
        function(*arguments)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def joined(child):
    """Waits for a child that must not fail."""
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("a process in the guest failed")


def network(cell):
    """Makes the namespaces, the links, the bottleneck and the delay."""
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
        joined(in_child(name, command, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"))
        command("ip", "-n", name, "addr", "add", f"{own}/24", "dev", device)
        command("ip", "-n", name, "link", "set", device, "up")
        command("ip", "-n", name, "neigh", "replace", other, "lladdr", mac(number), "dev", device)
    command("ip", "-n", "left", "route", "add", "default", "via", "10.0.1.2")
    command("ip", "-n", "right", "route", "add", "default", "via", "10.0.2.2")
    for name in ("left", "router", "right"):
        joined(in_child(name, configure, cell["sysctl"]))
    rate = f"{cell['rate_bps']}bit"
    command(
        "tc", "-n", "router", *("qdisc", "add", "dev", "r1", "root", "handle", "1:", "htb", "default", "1")
    )
    shape = ("htb", "rate", rate, "ceil", rate, "burst", "1", "cburst", "1")
    command("tc", "-n", "router", *("class", "add", "dev", "r1", "parent", "1:", "classid", "1:1"), *shape)
    command(
        "tc", "-n", "router", *("qdisc", "add", "dev", "r1", "parent", "1:1", "handle", "10:"), *cell["queue"]
    )
    delay = ("netem", "delay", f"{cell['delay_us']}us", "limit", "100000")
    command("tc", "-n", "right", *("qdisc", "add", "dev", "x0", "root", "handle", "1:"), *delay)


def configure(settings):
    """Writes settings of the namespace."""
    for name, value in {"net.ipv4.ip_forward": 1, **settings}.items():
        Path("/proc/sys", *name.split(".")).write_text(f"{value}\n", encoding="ascii")


def until(moment):
    """Sleeps until a time of the monotonic clock."""
    while (rest := moment - time.monotonic()) > 0:
        time.sleep(rest)


def receive(listener, count, zero, cell, results):
    """Accepts the connections; a process per connection reads, counts and takes the time."""
    children = []
    for _ in range(count):
        connection, (_, port) = listener.accept()
        child = os.fork()
        if child == 0:
            payload, at = read(connection, zero + cell["warmup_s"], zero + cell["seconds"])
            report(results, port, payload, [] if at is None else [at - zero])
            os._exit(0)
        connection.close()
        children.append(child)
    for child in children:
        joined(child)


def report(results, port, payload, times):
    """Tells the payload of a flow within the span and its times, in seconds."""
    os.write(results, f"{json.dumps([port, payload, [round(one, 6) for one in times]])}\n".encode())


def read(connection, begin, end):
    """Bytes that arrive in order between two moments, and when the last byte of a connection that ended arrived."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 200_000))
    room, total, before, last = bytearray(1 << 18), 0, 0, None
    while True:
        try:
            length = connection.recv_into(room)
            if length == 0:
                return total - before, last
        except BlockingIOError:
            length = 0
        now = time.monotonic()
        if now >= end:
            return total - before, None
        if length:
            last = now
        total += length
        if now < begin:
            before = total


def send(number, controller, at):
    """Sends without end."""
    flow = socket.socket()
    flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
    flow.bind(("10.0.1.1", FIRST_SOURCE_PORT + number))
    until(at)
    flow.connect(("10.0.2.1", PORT))
    block = bytes(1 << 16)
    while True:
        flow.sendall(block)


class Tap:
    """Times of the packets that pass a device, in a ring that the kernel fills and that is read after the run."""

    def __init__(self, device, packets, *, incoming):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        blocks = packets // FRAMES_PER_BLOCK + 1
        self.frames = blocks * FRAMES_PER_BLOCK
        self.socket.setsockopt(
            SOL_PACKET, PACKET_RX_RING, struct.pack("IIII", BLOCK, blocks, FRAME, self.frames)
        )
        self.ring = mmap.mmap(self.socket.fileno(), blocks * BLOCK)
        # only a tap of all protocols sees packets that leave
        self.socket.bind((device, ETH_P_IP if incoming else ETH_P_ALL))

    def data(self):
        """Nanoseconds, source port, identification and sequence number of each data packet, in order."""
        for at in range(0, self.frames * FRAME, FRAME):
            status, length, _, mac, _, seconds, nanoseconds = struct.unpack_from("IIIHHII", self.ring, at)
            if not status & 1:
                return
            identification, source, target, sequence = struct.unpack_from(
                "!H14xHHI", self.ring, at + mac + 18
            )
            header = 4 * (self.ring[at + mac + 46] >> 4)
            if target == PORT and length > 34 + header:
                yield seconds * 1_000_000_000 + nanoseconds, source, identification, sequence
        raise RuntimeError("the ring of a tap is too small for the cell")


def counters():
    """The statistics of the queue discipline under test."""
    found = json.loads(command("tc", "-s", "-j", "qdisc", "show", "dev", "r1"))
    return next(one for one in found if one["handle"] == "10:")


def waited(before, after, begin_ns, end_ns):
    """Time in the queue, in ns, of each packet that left between two moments, by source port."""
    entered, times = {}, {}
    for at, *packet in before.data():
        entered[tuple(packet)] = at
    for at, *packet in after.data():
        since = entered.get(tuple(packet))
        if since is not None and begin_ns <= at < end_ns:
            times.setdefault(packet[0], []).append(at - since)
    return times


def quantiles(values):
    """Median and 95th percentile in seconds, by nearest rank, and the mean."""
    ordered = sorted(values)
    if not ordered:
        return {"packets": 0}
    rank = lambda share: ordered[max(0, -(-share * len(ordered) // 100) - 1)] / 1e9  # noqa: E731
    return {
        "packets": len(ordered),
        "p50_s": rank(50),
        "p95_s": rank(95),
        "mean_s": sum(ordered) / len(ordered) / 1e9,
    }


def endless(cell, zero, results):
    """Starts flows without end: the processes of the senders, and the process of the receivers, which ends by itself."""

    def serve():
        listener = socket.create_server(("10.0.2.1", PORT), backlog=64)
        receive(listener, len(cell["starts_s"]), zero, cell, results)

    server = in_child("right", serve)
    senders = [
        in_child("left", send, number, cell["controller"], zero + start)
        for number, start in enumerate(cell["starts_s"])
    ]
    return senders, server


def run(cell, traffic=endless):
    """Runs the cell."""
    network(cell)
    expected = int(cell["rate_bps"] * cell["seconds"] / (8 * 1514)) + 5000
    enter("router")
    before, after = Tap("r0", 2 * expected, incoming=True), Tap("r1", 3 * expected, incoming=False)
    zero = time.monotonic() + SETTLE_S
    offset_ns = time.time_ns() - int(time.monotonic() * 1e9)
    output, results = os.pipe()
    senders, server = traffic(cell, zero, results)
    until(zero + cell["warmup_s"])
    first = counters()
    until(zero + cell["seconds"])
    last = counters()
    for sender in senders:
        os.kill(sender, 9)
    joined(server)
    os.close(results)
    with os.fdopen(output) as lines:
        flows = {port: (payload, times) for port, payload, times in map(json.loads, lines)}
    begin, end = (int((zero + cell[key]) * 1e9) + offset_ns for key in ("warmup_s", "seconds"))
    times = waited(before, after, begin, end)
    span = cell["seconds"] - cell["warmup_s"]
    ports = [FIRST_SOURCE_PORT + number for number in range(len(cell["starts_s"]))]
    flows = {port: (0, []) for port in ports} | flows
    return {
        "kernel": os.uname().release,
        "goodputs_bps": [8 * flows[port][0] / span for port in ports],
        "times_s": [flows[port][1] for port in ports],
        "queueing": quantiles([one for port in ports for one in times.get(port, [])]),
        "flows": [quantiles(times.get(port, [])) for port in ports],
        "counters": [first, last],
    }


def main(run=run):
    """Runs the cell of the arguments and turns the guest off."""
    cell, result = map(Path, sys.argv[1:])
    try:
        found = run(json.loads(cell.read_text(encoding="utf-8")))
    except BaseException as error:
        traceback.print_exc()
        found = {"error": f"{type(error).__name__}: {error}"}
    result.write_text(json.dumps(found), encoding="utf-8")
    os.sync()
    LIBC.reboot(POWER_OFF)


if __name__ == "__main__":
    main()
