"""An end of a session by aioquic, a QUIC stack that shares no code with ours.

`aioquic_peer.py client PORT streams|datagrams OPTIONS` sends; the option `chacha20` selects the cipher.
`aioquic_peer.py server streams|datagrams` receives, on a port that it prints. The client updates its keys and changes its
address on the way, the server updates its keys. Each prints what happened, as `name value` in lines.
"""

import datetime
import select
import socket
import ssl
import struct
import sys
import time

from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.tls import CipherSuite
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.x509.oid import NameOID

ALPN = "thalweg/1"
HELLO, OFFER, READY, FIRST, MESSAGE, MODE, DONE = range(1, 8)
SENDER, RECEIVER = 0, 1
LENGTH = 2_000_000
PACKETS = 300
#: Seconds after which an end gives up.
PATIENCE = 60


#: What is sent on the stream.
CONTENT = bytes(at * 31 % 251 for at in range(LENGTH))


#: The first two words of a label of CVIHIS: background mode, no round-trip time yet.
LABEL = struct.pack("!QQ", 0x43564944 << 32, 2**64 - 1)


def record(kind, body=b""):
    return struct.pack("!BH", kind, len(body)) + body


def offer(mode):
    name, flags, size = (b"cubic", 6, LENGTH) if mode == "streams" else (b"cvihis", 0, 0)
    body = struct.pack("!IBB", 0, 0, 0) + struct.pack("!BHQ", flags, 1248, size)
    return record(OFFER, body + struct.pack("!B", len(name)) + name + struct.pack("!BH", 0, 0))


def varint(value):
    return struct.pack("!Q", value | 3 << 62)


class Peer:
    """A connection, its socket and its control stream."""

    def __init__(self, mode, role):
        self.mode, self.role = mode, role
        self.quic = None
        self.sockets = [self.socket()]
        self.peer = None
        self.inbound = b""
        self.data = bytearray()
        self.seen = {"feedback": 0, "datagrams": 0}
        self.over = False
        self.began = time.monotonic()
        self.packets = 0
        self.sent = 0
        self.stream = None
        self.ready = False

    @staticmethod
    def socket():
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind(("127.0.0.1", 0))
        return one

    def say(self, bytes_):
        self.quic.send_stream_data(0, bytes_)

    def flush(self):
        for data, to in self.quic.datagrams_to_send(time.time()):
            self.sockets[-1].sendto(data, to)

    def run(self):
        while not self.over:
            if time.monotonic() - self.began > PATIENCE:
                sys.exit("gave up")
            if self.quic is not None:
                self.work()
                self.flush()
            wait = 0.002 if self.ready else 0.05
            readable, _, _ = select.select(self.sockets, [], [], wait)
            for one in readable:
                data, source = one.recvfrom(65536)
                if self.quic is None:
                    self.accept(source)
                self.quic.receive_datagram(data, source, time.time())
            if self.quic is None:
                continue
            timer = self.quic.get_timer()
            if timer is not None and timer <= time.time():
                self.quic.handle_timer(time.time())
            while (event := self.quic.next_event()) is not None:
                self.on_event(event)
            self.flush()
        for name, value in self.seen.items():
            print(name, value)

    def on_event(self, event):
        match event:
            case events.HandshakeCompleted():
                print("handshake", event.alpn_protocol)
                if self.role == SENDER:
                    self.say(record(HELLO, bytes([1, self.role]) + bytes(32)))
            case events.StreamDataReceived(stream_id=0):
                self.inbound += event.data
                self.records()
            case events.StreamDataReceived():
                self.data += event.data
                self.on_data()
            case events.DatagramFrameReceived():
                self.on_datagram(event.data)
            case events.ConnectionTerminated():
                print("closed", event.error_code, event.reason_phrase)
                self.over = True

    def records(self):
        while len(self.inbound) >= 3:
            kind, length = struct.unpack("!BH", self.inbound[:3])
            if len(self.inbound) < 3 + length:
                return
            body, self.inbound = self.inbound[3 : 3 + length], self.inbound[3 + length :]
            self.on_record(kind, body)


class Sender(Peer):
    """The client, which sends."""

    def __init__(self, mode, port, options):
        super().__init__(mode, SENDER)
        configuration = QuicConfiguration(
            is_client=True, alpn_protocols=[ALPN], verify_mode=ssl.CERT_NONE, server_name="thalweg"
        )
        configuration.max_datagram_frame_size = 65536
        if "chacha20" in options:
            configuration.cipher_suites = [CipherSuite.CHACHA20_POLY1305_SHA256]
        self.quic = QuicConnection(configuration=configuration)
        self.quic.connect(("127.0.0.1", port), now=time.time())

    def on_record(self, kind, body):
        if kind == HELLO:
            print("hello", *body[:2])
            self.say(offer(self.mode))
        elif kind == READY:
            self.ready = True
            if self.mode == "datagrams":
                self.say(record(FIRST, struct.pack("!IQ", 0, 0)))
        elif kind == MESSAGE:
            print("message", body[4:].decode())
            self.say(record(DONE))

    def on_datagram(self, data):
        if data[0] & 0xC0 == 0x40:
            self.seen["feedback"] += 1
        elif data[0] == 0xC0:
            print("message", data[5:].decode())
            self.say(record(DONE))

    def on_data(self):
        sys.exit("a receiver sends no data")

    def work(self):
        if not self.ready:
            return
        total = LENGTH if self.mode == "streams" else PACKETS
        if self.sent >= total:
            return
        before = self.sent
        if self.mode == "streams":
            if self.stream is None:
                self.stream = self.quic.get_next_available_stream_id(is_unidirectional=True)
                self.quic.send_stream_data(self.stream, struct.pack("!I", 0))
            piece = CONTENT[self.sent : self.sent + 50_000]
            self.quic.send_stream_data(self.stream, piece)
            self.sent += len(piece)
        else:
            numbers = time.monotonic_ns(), self.sent, self.sent * 1000
            head = bytes([0x03]) + b"".join(map(varint, numbers)) + LABEL
            self.quic.send_datagram_frame(head + self.sent.to_bytes(8, "big"))
            self.sent += 1
        if before < total // 3 <= self.sent:
            self.quic.request_key_update()
            print("key-update", 1)
        if before < total * 2 // 3 <= self.sent:
            self.flush()
            self.sockets.append(self.socket())
            self.quic.change_connection_id()
            print("migrated", 1)


class Receiver(Peer):
    """The server, which receives."""

    def __init__(self, mode):
        super().__init__(mode, RECEIVER)
        key = ed25519.Ed25519PrivateKey.generate()
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "thalweg")])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .sign(key, None)
        )
        self.configuration = QuicConfiguration(
            is_client=False, alpn_protocols=[ALPN], certificate=certificate, private_key=key
        )
        self.configuration.max_datagram_frame_size = 65536
        print("port", self.sockets[0].getsockname()[1], flush=True)

    def accept(self, source):
        self.peer = source
        self.quic = QuicConnection(
            configuration=self.configuration, original_destination_connection_id=self.first
        )

    def run(self):
        # the first datagram has the connection ID that the server must know
        data = self.sockets[0].recv(65536, socket.MSG_PEEK)
        self.first = data[6 : 6 + data[5]]
        super().run()

    def on_record(self, kind, body):
        if kind == HELLO:
            print("hello", *body[:2])
            self.say(record(HELLO, bytes([1, self.role]) + bytes(32)))
        elif kind == OFFER:
            self.say(record(READY, struct.pack("!I", 0)))
        elif kind == DONE:
            print("done", 1)
            self.quic.close(error_code=0)

    def work(self):
        pass

    def whole(self):
        message = struct.pack("!I", 0) + b"whole"
        if self.mode == "streams":
            self.say(record(MESSAGE, message))
        else:
            self.quic.send_datagram_frame(b"\xc0" + message)

    def on_data(self):
        if self.packets == 0 and len(self.data) > LENGTH // 3:
            self.packets = 1
            self.quic.request_key_update()
            print("key-update", 1)
        if len(self.data) == LENGTH + 4:
            print("right", int(self.data[4:] == CONTENT))
            self.whole()

    def on_datagram(self, data):
        self.seen["datagrams"] += data[0] & 0xC0 == 0
        if self.seen["datagrams"] >= 50 and self.seen["datagrams"] % 10 == 0:
            self.whole()


def main():
    if sys.argv[1] == "client":
        Sender(sys.argv[3], int(sys.argv[2]), sys.argv[4]).run()
    else:
        Receiver(sys.argv[2]).run()


main()
