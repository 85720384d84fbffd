"""Schemes written in Python: base classes, parameters, registration, and files of them.

A class becomes a scheme of the catalogue of this process, usable by its name wherever a scheme of the library is::

    import thalweg as tw

    @tw.register_scheme
    class Gentle(tw.WindowUpdate):
        \"\"\"Additive increase by `a`, multiplicative decrease to `b`.\"\"\"

        a = tw.Parameter(1.0, within=(0.001, 100.0), about="Segments added per round trip.")
        b = tw.Parameter(0.5, within=(0.01, 0.99), about="Share of the window kept after a loss.")

        def congestion_avoidance(self, window, ack):
            return window + self.a * ack.packets / window

        def ssthresh(self, window, cut):
            return self.b * window

The simulator calls the methods; the same scenario, seed and class give the same trace hash, also beside other runs in
threads. A class must not read clocks or draw random numbers except from `Scheme.random`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import random
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from . import _native
from ._files import check_size
from ._native import Ack, Congestion, Cut, Delivery, Lost, Sent, Summary
from .errors import SchemeError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Ack",
    "Congestion",
    "CongestionControl",
    "Cut",
    "Delivery",
    "Lost",
    "Parameter",
    "Scheme",
    "Sent",
    "Summary",
    "WindowUpdate",
    "load_schemes",
    "register_scheme",
    "registered",
]


class Parameter:
    """A parameter of a scheme, as a class attribute; in an object the attribute is its value.

    The kind follows the default: a number, a whole number, true or false, a text of `choices`, or a time, rate or
    size as text with its unit, such as `"20 ms"`, whose value in an object is a number of seconds, bit/s or bytes.
    """

    def __init__(
        self,
        default: float | str,
        *,
        within: tuple[float | str, float | str] | None = None,
        choices: Sequence[str] = (),
        about: str = "",
        source: str = "",
    ) -> None:
        self.default = default
        self.within = within
        """Minimum and maximum."""
        self.choices = tuple(choices)
        """The accepted words, if it is one of several."""
        self.about = about
        """Its meaning, in a sentence."""
        self.source = source
        """Where the default comes from: paper and section."""
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        # an object that the simulator made has the value in place of this descriptor
        return self if instance is None else self.default


class Scheme:
    """What `WindowUpdate` and `CongestionControl` have in common.

    For each connection the simulator makes an object, sets `segment_bytes` and the parameters, and calls `__init__`
    without arguments.
    """

    name: ClassVar[str] = ""
    """Its name in scenarios; by default the name of the class in `snake_case`."""
    families: ClassVar[tuple[str, ...]] = ("ip",)
    """Where it runs: `"ip"` over TCP, `"ndn"` at consumers of named data."""
    files: ClassVar[tuple[str | Path, ...]] = ()
    """Files that the class reads, such as a trained policy: kept results are used again only while these are the same."""
    ecn: ClassVar[str | None] = None
    """Its ECN over TCP: `"classic"` (RFC 3168), `"dctcp"`, `"accurate"` (RFC 9768), `"l4s"`; None: as the scenario says."""
    rack: ClassVar[bool] = False
    """Whether its flows over TCP have RACK-TLP (RFC 8985) unless the scenario says otherwise."""

    segment_bytes: int = 0
    """Payload of a full segment; of named data the Data packet."""
    header_bytes: int = 0
    """Header of every packet."""
    initial_window_bytes: int = 0
    """The initial window."""
    stream: str | None = None
    """Key of the random stream: seed of the run, flow, start of the connection. None in `__init__`."""

    @cached_property
    def random(self) -> random.Random:
        """Random numbers of this connection: equal for the same seed of the run. Not available in `__init__`."""
        if self.stream is None:
            raise RuntimeError("`random` is available from the first event of the connection")
        return random.Random(self.stream)


class WindowUpdate(Scheme):
    """A loss-based window in segments: congestion avoidance and the reduction.

    Slow start, the threshold, the minimum window, one reduction per round trip and the undo of spurious reductions are
    the same as in the built-in schemes. For the undo an object is copied by `copy.copy` at each reduction: define
    `__copy__` if attributes such as lists change in place.
    """

    integer_cwnd: ClassVar[bool] = False
    """Whether the window is an integer number of segments, as in Linux: slow start then ends exactly at the threshold."""

    def congestion_avoidance(self, window: float, ack: Ack) -> float:
        """The window in segments after an acknowledgement, outside slow start and loss recovery."""
        raise NotImplementedError

    def ssthresh(self, window: float, cut: Cut) -> float:
        """The slow-start threshold in segments after a congestion event, once per round trip.

        It is also the new window, except after a timeout.
        """
        raise NotImplementedError

    def slow_start(self, window: float, step: float, ack: Ack) -> float | None:  # noqa: ARG002
        """The window in slow start, where RFC 5681 adds `step`; None ends slow start. Optional."""
        return window + step

    def pause(self, ack: Ack) -> None:
        """The window stays: in recovery, with a mark, or while the application limits the sender. Optional."""


class CongestionControl(Scheme, _native.Allowance):
    """Any window and rate: a callback sets `self.window` in bytes or `self.rate` in bit/s.

    Only callbacks that a class defines are called.

    `window` is at first the initial window; `rate` has no limit, that is no pacing, until it is set.
    """

    interval: ClassVar[str | None] = None
    """The time between two calls of `on_interval`: such as `"10 ms"`, or `"rtt"` for the smoothed round-trip time."""

    def on_ack(self, ack: Ack) -> None:
        """New data were acknowledged."""

    def on_round(self, summary: Summary) -> None:
        """A round trip ended: everything that was in flight at its start is acknowledged. Called after `on_ack`."""

    def on_interval(self, summary: Summary) -> None:
        """An `interval` ended. The first begins with the first packet."""

    def on_congestion(self, event: Congestion) -> None:
        """A loss, a mark or a timeout."""

    def on_delivery(self, delivery: Delivery) -> None:
        """A delivery-rate sample, after `on_ack` and after the losses of that acknowledgement. Over TCP only."""

    def on_lost(self, lost: Lost) -> None:
        """A packet was declared lost, after the `on_congestion` that reports it. Over TCP only."""

    def on_sent(self, sent: Sent) -> None:
        """A packet was sent."""

    def on_handshake(self, rtt_s: float) -> None:
        """The handshake took this round-trip time. Over TCP with a handshake only."""

    def on_recovered(self, cause: str) -> None:
        """An episode of losses, marks or a timeout is over. Over TCP only."""

    def on_spurious(self) -> None:
        """The last episode was spurious: nothing was lost."""

    def on_idle(self, idle_s: float) -> None:
        """Sending resumes after an idle time longer than a retransmission timeout."""


CALLBACKS = {
    WindowUpdate: ("slow_start", "pause"),
    CongestionControl: tuple(name for name in vars(CongestionControl) if name.startswith("on_")),
}
REQUIRED = ("congestion_avoidance", "ssthresh")

_REGISTERED: dict[str, type[Scheme]] = {}

Class = TypeVar("Class", bound=type[Scheme])


def registered() -> dict[str, type[Scheme]]:
    """The registered classes by their names."""
    return dict(_REGISTERED)


def register_scheme(scheme: Class) -> Class:
    """Adds a class to the catalogue of this process, or replaces the registered one of its name; usable as a decorator.

    Raises `ValueError` for a class that cannot be a scheme: it lacks a method, a callback is misspelt, or a built-in
    scheme has its name.
    """
    kinds = [base for base in CALLBACKS if isinstance(scheme, type) and issubclass(scheme, base)]
    if len(kinds) != 1:
        raise ValueError(f"{scheme!r} is no subclass of thalweg.WindowUpdate or thalweg.CongestionControl")
    [kind] = kinds
    title = scheme.__name__
    name = scheme.name or _snake_case(title)
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise ValueError(
            f"{title}: `{name}` is not in snake_case: lower-case words joined by _, as in `fast_tcp`"
        )
    callbacks = [name for name in CALLBACKS[kind] if _defines(scheme, kind, name)]
    _check_methods(scheme, kind, callbacks)
    interval = getattr(scheme, "interval", None)
    _native.register_scheme(
        scheme,
        name=name,
        title=(scheme.__doc__ or title).strip().partition("\n")[0].rstrip("."),
        families=list(scheme.families),
        params=[_row(parameter) for parameter in _parameters(scheme)],
        callbacks=callbacks,
        update=kind is WindowUpdate,
        interval=interval,
        ecn=scheme.ecn,
        rack=scheme.rack,
        integer_cwnd=getattr(scheme, "integer_cwnd", False),
    )
    _REGISTERED[name] = scheme
    _forget_catalogue()
    return scheme


def load_schemes(path: str | Path) -> list[str]:
    """Imports a Python file and registers its schemes: every class of it with one of the two bases. Returns their names.

    Raises `SchemeError` if the file raises or has no scheme, `OSError` if it cannot be read.
    """
    path = Path(path)
    path.open("rb").close()
    if not check_size(path):
        raise SchemeError(f"{path} is no file", hint="give a file, not a device or a pipe")
    module_name = f"thalweg_schemes_{re.sub(r'[^A-Za-z0-9]', '_', path.stem)}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise SchemeError(f"{path} is no Python file", hint="give a file whose name ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    before = dict(_REGISTERED)
    try:
        spec.loader.exec_module(module)
        own = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Scheme) and value.__module__ == module_name
        ]
        names = [name for name, scheme in _REGISTERED.items() if before.get(name) is not scheme]
        for scheme in own:
            if scheme not in _REGISTERED.values() and not inspect.isabstract(scheme) and _is_whole(scheme):
                register_scheme(scheme)
                names.append(scheme.name or _snake_case(scheme.__name__))
    except Exception as error:
        raise SchemeError(f"{path}: {type(error).__name__}: {error}") from error
    if not names:
        raise SchemeError(
            f"{path} has no scheme",
            hint="derive a class from thalweg.WindowUpdate or thalweg.CongestionControl",
        )
    return names


def sources_digest() -> str:
    """Digest of the source texts of the registered classes; empty without one. Kept results depend on it."""
    if not _REGISTERED:
        return ""
    found = hashlib.sha256("\0".join(map(_source, _REGISTERED.values())).encode())
    for scheme in _REGISTERED.values():
        for path in map(Path, scheme.files):
            found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


def _source(scheme: type[Scheme]) -> str:
    """The text of the file of a class, or of the class, if it has one."""
    try:
        module = inspect.getsourcefile(scheme)
        if module is not None and Path(module).is_file():
            return Path(module).read_text(encoding="utf-8")
        return inspect.getsource(scheme)
    except (OSError, TypeError):
        # defined in a session: this class is equal only to itself
        return f"{scheme.__qualname__} {id(scheme)}"


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _defines(scheme: type, kind: type, method: str) -> bool:
    return getattr(scheme, method) is not getattr(kind, method)


def _is_whole(scheme: type[Scheme]) -> bool:
    """Whether it is more than a base for other classes of its file."""
    if issubclass(scheme, WindowUpdate):
        return all(_defines(scheme, WindowUpdate, method) for method in REQUIRED)
    return True


def _check_methods(scheme: type[Scheme], kind: type, callbacks: list[str]) -> None:
    title = scheme.__name__
    if kind is WindowUpdate:
        missing = [method for method in REQUIRED if not _defines(scheme, kind, method)]
        if missing:
            raise ValueError(f"{title} has no method `{missing[0]}`")
        return
    from ._names import nearest

    for name in dir(scheme):
        if name.startswith("on_") and name not in CALLBACKS[CongestionControl]:
            raise ValueError(
                f"{title}.{name} would never be called: {nearest(name, CALLBACKS[CongestionControl])}"
            )
    if not callbacks:
        raise ValueError(f"{title} has no callback, such as `on_ack`")
    if ("on_interval" in callbacks) != (scheme.interval is not None):  # type: ignore[attr-defined]
        raise ValueError(f'{title}: `on_interval` and `interval = "10 ms"` go together')


def _parameters(scheme: type[Scheme]) -> list[Parameter]:
    found: dict[str, Parameter] = {}
    for base in reversed(scheme.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, Parameter):
                found[name] = value
            else:
                found.pop(name, None)
    return list(found.values())


def _row(parameter: Parameter) -> tuple[str, str, Any, Any, Any, list[str], str]:
    low, high = parameter.within or (None, None)
    return (
        parameter.name,
        parameter.about,
        parameter.default,
        low,
        high,
        list(parameter.choices),
        parameter.source,
    )


def _forget_catalogue() -> None:
    from . import catalogue

    catalogue.schemes.cache_clear()
    catalogue.schema.cache_clear()
