"""Builders: software-defined networking.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, TypedDict, Unpack

    class SdnKeys(TypedDict, total=False):
        """Keys of `Sdn`."""

        app: str | None
        app_params: Mapping[str, Any] | None
        controller: str | None
        out_of_band: bool | None
        link: Mapping[str, Any] | None
        nodes: Iterable[str] | None
        period: str | None
        detection: str | None
        phase: str | None
        message: str | None
        initial_rto: str | None
        max_age: str | None

    class ControlLinkKeys(TypedDict, total=False):
        """Keys of `ControlLink`."""

        rate: str | None
        delay: str | None
        loss: float | None
        buffer: str | None


class Sdn(Part):
    """An SDN controller, its app, and the agents on nodes.

    - `app` (`least_loaded`, `ndnsieve`): The control app: a scheme with a part in the controller.
    - `app_params` (table): Parameters of the app, where they differ from the default.
    - `controller` (text): The node that runs the controller. It must not be the end of a flow or run anything
      else. Default: a new node `controller`, with its own link to every node of `nodes`.
    - `out_of_band` (true or false): The links of the controller carry only control messages, and no route
      uses them. Default: true if no `controller` is given; otherwise false, and control messages share links
      with all packets.
    - `link` (`ControlLink`): The southbound links that are added if no `controller` is given.
    - `nodes` (list of text): Nodes with an SDN agent, or patterns such as "r*". Default: all nodes that
      forward named data, and all nodes with more than one link.
    - `period` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Time between two status reports of a port. Default:
      500 ms.
    - `detection` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Time between two decisions of a node on signals,
      which are by the load in that time. Default: signals are sent with status reports, by the load that is
      reported.
    - `phase` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Start of the first period, after the start of the
      run. Default: 0 s.
    - `message` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Size of a control message on the wire. Default:
      100 B.
    - `initial_rto` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Retransmission timeout of commands; exponential
      backoff up to eight times this value. Default: 100 ms.
    - `max_age` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Maximum age on arrival of status reports and
      signals; older ones are ignored. Default: 1 s.
    """

    KEYS: ClassVar = {
        "app": ("str | None", "least_loaded"),
        "app_params": ("Mapping[str, Any] | None", ""),
        "controller": ("str | None", ""),
        "out_of_band": ("bool | None", ""),
        "link": ("Mapping[str, Any] | None", ""),
        "nodes": ("Iterable[str] | None", ""),
        "period": ("str | None", "60 s"),
        "detection": ("str | None", "60 s"),
        "phase": ("str | None", "60 s"),
        "message": ("str | None", "1500 B"),
        "initial_rto": ("str | None", "60 s"),
        "max_age": ("str | None", "60 s"),
    }

    def __init__(self, **keys: Unpack[SdnKeys]) -> None:
        super().__init__(keys)


class ControlLink(Part):
    """A southbound link, between the controller and a node; both directions.

    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Rate of each direction. Default: 1 Gbit/s.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Propagation delay. Default: 0 s.
    - `loss` (number): Probability that a message is lost. Default: 0.
    - `buffer` (such as `"100 packets"`, `"1 bdp"`, `"64 kB"`): Queue limit: packets or bytes. Default: 1000
      packets.
    """

    KEYS: ClassVar = {
        "rate": ("str | None", "50 Mbit/s"),
        "delay": ("str | None", "60 s"),
        "loss": ("float | None", ""),
        "buffer": ("str | None", "100 packets"),
    }

    def __init__(self, **keys: Unpack[ControlLinkKeys]) -> None:
        super().__init__(keys)
