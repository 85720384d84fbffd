# mypy: ignore-errors
"""Runs a cell inside the guest whose applications pause: short transfers, a source with a rate, and requests.

    python inside_loads.py CELL.json RESULT.json

Networks, taps and results are those of `inside.py`; `times_s` has the arrival of the last byte of each transfer, from
the start of the cell, and the times of the requests that were answered after the warm-up.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from inside import FIRST_SOURCE_PORT, PORT, in_child, main, read, report, run, until

HEADER_B, MSS_B = 66, 1448


def started(function, *arguments):
    """Starts a thread: many processes take too long to make in the guest."""
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def connection(flow, cell):
    """A socket of a sender, with the controller of the cell."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cell["controller"].encode())
    made.bind(("10.0.1.1", FIRST_SOURCE_PORT + flow["number"]))
    return made


def transfer(flow, cell, zero):
    """Sends `size_b`, or without end; at `rate_bps`, a segment at a time, where there is one."""
    sender = connection(flow, cell)
    until(zero + flow["start_s"])
    sender.connect(("10.0.2.1", PORT))
    if flow["rate_bps"]:
        began, written = time.monotonic(), 0
        while True:
            until(began + 8 * written / flow["rate_bps"])
            sender.sendall(bytes(MSS_B))
            written += MSS_B
    if flow["size_b"] is None:
        while True:
            sender.sendall(bytes(1 << 16))
    sender.sendall(bytes(flow["size_b"]))
    sender.close()


def transfers(flows, cell, zero):
    """Starts the transfers, each at its time."""
    for flow in sorted(flows, key=lambda one: one["start_s"]):
        until(zero + flow["start_s"])
        started(transfer, flow, cell, zero)
    threading.Event().wait()


def take(connection, port, cell, zero, results):
    """Receives a transfer."""
    payload, at = read(connection, zero + cell["warmup_s"], zero + cell["seconds"])
    report(results, port, payload, [] if at is None else [at - zero])


def listen(cell, zero, results):
    """Accepts the transfers until the end of the cell."""
    end = zero + cell["seconds"]
    listener = socket.create_server(("10.0.2.1", PORT), backlog=64)
    takers = []
    while (rest := end - time.monotonic()) > 0:
        listener.settimeout(rest)
        try:
            connection, (_, port) = listener.accept()
        except TimeoutError:
            break
        takers.append(started(take, connection, port, cell, zero, results))
    for taker in takers:
        taker.join()


def answer(flow, cell):
    """Answers each request of `request_b` with `answer_b`."""
    listener = connection(flow, cell)
    listener.listen(1)
    client, _ = listener.accept()
    waiting = 0
    while received := client.recv(1 << 16):
        waiting += len(received)
        while waiting >= flow["request_b"] - HEADER_B:
            waiting -= flow["request_b"] - HEADER_B
            client.sendall(bytes(flow["answer_b"]))


def request(flow, cell, zero, results):
    """Requests, waits for the whole answer, thinks, and requests again."""
    begin, end = zero + cell["warmup_s"], zero + cell["seconds"]
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    client.bind(("10.0.2.1", PORT))
    until(zero + flow["start_s"])
    client.connect(("10.0.1.1", FIRST_SOURCE_PORT + flow["number"]))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 200_000))
    room, payload, times = bytearray(1 << 18), 0, []
    while time.monotonic() < end:
        asked, missing = time.monotonic(), flow["answer_b"]
        client.sendall(bytes(flow["request_b"] - HEADER_B))
        while missing and time.monotonic() < end:
            try:
                length = client.recv_into(room, min(missing, len(room)))
            except BlockingIOError:
                continue
            missing -= length
            payload += length if begin <= time.monotonic() < end else 0
        now = time.monotonic()
        if not missing and begin <= now < end:
            times.append(now - asked)
        until(min(now + flow["think_s"], end))
    report(results, FIRST_SOURCE_PORT + flow["number"], payload, times)


def ask(flows, cell, zero, results):
    """Runs the applications that request."""
    for thread in [started(request, flow, cell, zero, results) for flow in flows]:
        thread.join()


def traffic(cell, zero, results):
    """Starts the applications: the processes of the senders, and the one of the receivers, which ends by itself."""
    flows = [{"number": number, **flow} for number, flow in enumerate(cell["flows"])]
    if cell["load"] == "requests":
        servers = [in_child("left", answer, flow, cell) for flow in flows]
        return servers, in_child("right", ask, flows, cell, zero, results)
    return [in_child("left", transfers, flows, cell, zero)], in_child("right", listen, cell, zero, results)


if __name__ == "__main__":
    main(lambda cell: run(cell, traffic))
