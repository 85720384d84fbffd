"""Both ends of an upload over QUIC by aioquic: `aioquic_upload.py receive PORT` and `aioquic_upload.py send HOST PORT`.

The sender opens one stream and writes to it until it is ended. The receiver reads and discards. Its certificate is made
when it starts, and the sender does not check it: both are in network namespaces of one emulation.
"""

import asyncio
import contextlib
import datetime
import ssl
import sys
import tempfile

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.x509.oid import NameOID

ALPN = ["upload"]
CHUNK = bytes(1 << 16)
#: Bytes that wait in the sender for acknowledgements: aioquic takes any number, and tells nobody when to write on.
WAITING = 4 << 20
#: Longest silence in seconds: the receiver is there before the sender.
IDLE = 600.0


def certificate(configuration):
    """Gives the receiver a certificate that it has signed itself."""
    key = ed25519.Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "upload")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    signed = (
        builder.not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, None)
    )
    pkcs8 = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with tempfile.NamedTemporaryFile() as file:
        file.write(signed.public_bytes(serialization.Encoding.PEM) + key.private_bytes(*pkcs8))
        file.flush()
        configuration.load_cert_chain(file.name, file.name)


async def receive(port):
    """Reads every stream of every connection."""
    configuration = QuicConfiguration(is_client=False, alpn_protocols=ALPN, idle_timeout=IDLE)
    certificate(configuration)
    await serve("0.0.0.0", port, configuration=configuration, create_protocol=Discarding)
    await asyncio.Event().wait()


class Discarding(QuicConnectionProtocol):
    """A connection of which the data are discarded."""

    def quic_event_received(self, event):
        """Ignores what happens: aioquic has granted the bytes to the sender again."""


async def send(host, port):
    """Writes to one stream."""
    configuration = QuicConfiguration(alpn_protocols=ALPN, verify_mode=ssl.CERT_NONE, idle_timeout=IDLE)
    async with connect(host, port, configuration=configuration) as connection:
        quic = connection._quic
        stream = quic.get_next_available_stream_id(is_unidirectional=True)
        while True:
            sender = quic._streams[stream].sender if stream in quic._streams else None
            if sender is None or sender._buffer_stop - sender._buffer_start < WAITING:
                quic.send_stream_data(stream, CHUNK)
                connection.transmit()
                await asyncio.sleep(0)
            else:
                await asyncio.sleep(0.005)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        match sys.argv[1:]:
            case ["receive", port]:
                asyncio.run(receive(int(port)))
            case ["send", host, port]:
                asyncio.run(send(host, int(port)))
            case _:
                sys.exit(__doc__)
