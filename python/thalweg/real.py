"""Real endpoints: flows that can have the kernel's TCP, and hints for scenarios without a real endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .errors import EmulationError

if TYPE_CHECKING:
    from ._part import Keys
    from .scenario import Scenario

KERNEL_SCHEMES = ("reno", "cubic", "bbr")
"""Schemes with the same name in the Linux kernel."""

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def emulation_refusal() -> str | None:
    """The reason why emulation is impossible; None if it is possible."""
    from . import _native

    return _native.emulation_permitted()


def with_kernel(scenario: Scenario) -> tuple[Scenario, list[str], list[str]]:
    """A copy whose flows with a kernel scheme have `kernel`; their names, and the names of flows that stay simulated.

    Raises `EmulationError` if no flow has such a scheme, or the kernel lacks one of them.
    """
    mapped = [flow for flow in _flows(scenario) if _can_be_mapped(flow)]
    others = [
        str(flow["name"]) for flow in _flows(scenario) if not _can_be_mapped(flow) and not is_real(flow)
    ]
    if not mapped and not any(map(is_real, _flows(scenario))):
        schemes = ", ".join(KERNEL_SCHEMES)
        raise EmulationError(
            f"no flow has a scheme of the kernel's: {schemes}, over TCP to one receiver",
            endpoint_hint(scenario),
        )
    wanted = sorted({str(flow["scheme"]) for flow in mapped})
    if missing := [name for name in wanted if not kernel_has(name)]:
        raise EmulationError(
            f"the kernel of this host has no congestion control {', '.join(f'`{name}`' for name in missing)}",
            f"it has {', '.join(_available())}; load the module (`modprobe tcp_{missing[0]}`), or use another scheme",
        )
    changed = (
        scenario.with_({f"flows.{flow['name']}.kernel": flow["scheme"] for flow in mapped})
        if mapped
        else scenario
    )
    return changed, [str(flow["name"]) for flow in mapped], others


def is_real(flow: Keys) -> bool:
    """Whether programs, the kernel or live endpoints generate the traffic of a flow in an emulation."""
    return "kernel" in flow or "commands" in flow or bool(flow.get("live"))


def endpoint_hint(scenario: Scenario) -> str:
    """The keys to write in each flow, so that an emulation has a real endpoint."""
    flows = _flows(scenario)
    for flow in flows:
        if _can_be_mapped(flow):
            return (
                f'write kernel = "{flow["scheme"]}" in the flow `{flow["name"]}`, '
                "or add `--kernel`, which does so in each flow with reno, cubic or bbr"
            )
    for flow in flows:
        if ("stack" in flow or "scheme" in flow) and flow.get("network") != "ndn":
            return f"write live = true in the flow `{flow['name']}`: its endpoints then run over UDP sockets"
    for flow in flows:
        if flow.get("network", "ip") == "ip":
            return (
                f'write commands = {{ sender = "…", receiver = "…" }} in the flow `{flow["name"]}`: '
                "programs then generate its traffic"
            )
    return 'add a flow by address with kernel = "cubic"; named data cannot be emulated with real endpoints'


def _can_be_mapped(flow: Keys) -> bool:
    group = flow.get("multicast") or isinstance(flow.get("to"), list) or "*" in str(flow.get("to", ""))
    by_address = flow.get("network", "ip") == "ip" and not group
    return (
        by_address
        and "stack" not in flow
        and flow.get("scheme") in KERNEL_SCHEMES
        and not is_real(flow)
        and flow.get("count") != 0
    )


def _flows(scenario: Scenario) -> list[Keys]:
    flows: list[Keys] = scenario.tree.get("flows", [])
    return flows


def _available() -> list[str]:
    try:
        return AVAILABLE.read_text(encoding="utf-8").split()
    except OSError:
        return []


def kernel_has(name: str) -> bool:
    """Whether a socket accepts this congestion control; the request loads its module if that is permitted."""
    import socket

    if not hasattr(socket, "TCP_CONGESTION"):
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except PermissionError:
            return name in _available()
        except OSError:
            return False
    return True
