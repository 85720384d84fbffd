"""Writes `python_ndn.txt`: packets made by python-ndn 0.5.2, one a line, as `name bytes`.

pip install python-ndn==0.5.2 && python crates/wire/tests/python_ndn.py > crates/wire/tests/python_ndn.txt
"""

from unittest import mock

from ndn.app_support.nfd_mgmt import make_command_v2
from ndn.encoding import Component, InterestParam, MetaInfo, Name, make_data, make_interest
from ndn.encoding.ndnlp_v2 import CachePolicy, LpPacket, LpPacketValue, NackReason, make_network_nack
from ndn.security import DigestSha256Signer, HmacSha256Signer


def put(name, packet):
    """Prints a line: the name of a vector and its bytes."""
    print(name, bytes(packet).hex())


def linked(fragment, **fields):
    """A link packet around a fragment, with the fields given."""
    packet = LpPacket()
    packet.lp_packet = LpPacketValue()
    packet.lp_packet.fragment = fragment
    for name, value in fields.items():
        setattr(packet.lp_packet, name, value)
    return packet.encode()


def main():
    """Prints all vectors."""
    named = [Component.from_str("test"), Component.from_version(7), Component.from_segment(300)]
    plain = make_interest("/a/b", InterestParam(nonce=0x01020304))
    put("interest", plain)
    put(
        "interest.full",
        make_interest(
            named,
            InterestParam(
                can_be_prefix=True,
                must_be_fresh=True,
                nonce=0xFFFFFFFF,
                lifetime=60_000,
                hop_limit=255,
                forwarding_hint=[Name.from_str("/isp")],
            ),
        ),
    )
    put("interest.parameters", make_interest("/a", InterestParam(nonce=1), app_param=b"hello"))
    module = "ndn.security.signer.sha256_digest_signer"
    clock = mock.patch(f"{module}.timestamp", return_value=1_600_000_000_000)
    nonce = mock.patch(f"{module}.gen_nonce_64", return_value=0x0102030405060708)
    with clock, nonce:
        signer = DigestSha256Signer(for_interest=True)
        put("interest.signed", make_interest("/a", InterestParam(nonce=2), app_param=b"hello", signer=signer))
        register = make_command_v2("rib", "register", name=Name.from_str("/test/f"), cost=10)
        parameters = InterestParam(must_be_fresh=True, nonce=3, lifetime=1000)
        put("command", make_interest(register, parameters, app_param=b"", signer=signer))
    meta = MetaInfo(freshness_period=4000, final_block_id=Component.from_segment(300))
    data = make_data(named, meta, content=b"hello", signer=DigestSha256Signer())
    put("data", data)
    put("data.empty", make_data("/a", MetaInfo(), signer=DigestSha256Signer()))
    put(
        "data.long",
        make_data("/a", MetaInfo(content_type=3), content=bytes(2000), signer=DigestSha256Signer()),
    )
    put("data.hmac", make_data("/a", MetaInfo(), content=b"x", signer=HmacSha256Signer("/key", b"secret")))
    put("link.nack", make_network_nack(plain, NackReason.NO_ROUTE))
    put("link.token", linked(data, pit_token=bytes(range(6))))
    put("link.marked", linked(data, incoming_face_id=300, congestion_mark=1))
    policy = CachePolicy()
    policy.cache_policy_type = 1
    put("link.policy", linked(data, next_hop_face_id=4, cache_policy=policy))


if __name__ == "__main__":
    main()
