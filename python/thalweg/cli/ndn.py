"""`thalweg ndn`: files over Named Data Networking (NDN), from and to NDN forwarders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from .output import CommandError, check_scheme, console, number, show_json
from .overrides import parse_params
from .progress import Meter

if TYPE_CHECKING:
    from ..ndn import Progress

HELP = """Fetch, serve and forward named data with the NDN packet format, over real networks.

Without `--face`, the address of the forwarder comes from NDN_CLIENT_TRANSPORT or client.conf; otherwise it is
thalweg-ndn.sock in $XDG_RUNTIME_DIR or /tmp (where `thalweg ndn forward --example` listens), or /run/nfd/nfd.sock.

Exit codes: 0 done; 1 the transfer failed or a socket cannot be used; 2 an error in the command; 130 interrupted.
"""

ndn = App(
    name="ndn",
    help=HELP,
    default_parameter=Parameter(negative=()),
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
VERBS = {
    "get": (
        "Fetch a file by name, at the rate that a congestion-control scheme allows.\n\nExit codes: 0 the file is "
        "complete; 1 it is not, or the forwarder cannot be reached; 2 an error in the command; 130 interrupted."
    ),
    "put": (
        "Serve a file by name until Ctrl-C.\n\nExit codes: 0 ended by Ctrl-C; 1 the file or the forwarder cannot be "
        "used; 2 an error in the command."
    ),
}
for _place, (_verb, _line) in enumerate(VERBS.items()):
    ndn.command(f"thalweg.cli.ndn:{_verb}", name=_verb, help=_line, sort_key=_place)
ndn.command(
    "thalweg.cli.ndn_forward:forward",
    name="forward",
    help=(
        "Run a forwarder between hosts and programs, with any strategy and scheme.\n\nExit codes: 0 ended by Ctrl-C or "
        "after `--seconds`; 1 an address cannot be used; 2 an error in the settings or the command."
    ),
    sort_key=len(VERBS),
)
ndn.command(
    "thalweg.cli.ndn_control:control",
    name="control",
    help=(
        "Run the SDN controller of a scenario for real forwarders.\n\nExit codes: 0 ended by Ctrl-C or after "
        "`--seconds`; 1 the address cannot be used; 2 an error in the scenario or the command."
    ),
    sort_key=len(VERBS) + 1,
)


def get(
    name: str,
    /,
    *,
    out: Annotated[str, Parameter(name=("--out", "-o"), allow_leading_hyphen=True)],
    face: str | None = None,
    scheme: str = "cubic",
    changes: Annotated[tuple[str, ...], Parameter(name="--set", show_default=False)] = (),
    discovery: Literal["metadata", "prefix", "none"] = "metadata",
    initial_window: int | None = None,
    ignore_marks: bool = False,
    lifetime: str | None = None,
    min_rto: str | None = None,
    access: str | None = None,
    patience: str | None = None,
    sha256: str | None = None,
    pcap: Path | None = None,
    json: bool = False,
) -> int:
    """Fetch a file in segments from an NDN forwarder. The file is created only when it is complete.

    Parameters
    ----------
    name
        Name of the file, such as /test/f; with a version at its end, such as /test/f/v=7, fetch exactly that version.
    out
        Write the content to this file; `-` writes it to standard output, in order, while it arrives.
    face
        Address of the forwarder: unix:///run/nfd/nfd.sock, udp://192.0.2.1 or udp://host:port.
    scheme
        Use this congestion-control scheme: one of the family ndn, see `thalweg schemes`.
    changes
        Set a parameter of the scheme, such as `--set beta=0.8`; may be repeated.
    discovery
        Find the version by metadata as ndnd and ndn-tools do, by any Data below the prefix, or not at all: segments then
        follow the name directly.
    initial_window
        Start with a congestion window of this number of segments; 2 by default.
    ignore_marks
        Ignore congestion marks.
    lifetime
        Set the lifetime of Interests; "4 s" by default.
    min_rto
        Set the minimum retransmission timeout; "200 ms" by default.
    access
        Set the capacity of this host's access link, such as "100 Mbit/s", for schemes that use it.
    patience
        Give up when no Data has arrived for this time; "15 s" by default.
    sha256
        Compare the SHA-256 of the file with this one. The digest of each segment is verified in any case.
    pcap
        Write sent and received packets to this capture file; the dissector in thalweg/wireshark reads it.
    json
        Print one JSON object.
    """
    from .. import ndn as library
    from ..errors import Interrupted, NdnError

    if json and out == "-":
        raise CommandError(
            "--json and the file cannot both go to standard output", "write the file to a path"
        )
    if initial_window is not None and initial_window < 1:
        raise CommandError(f"--initial-window {initial_window}: at least one")
    path = None if out == "-" else Path(out)
    if path is not None and not path.parent.is_dir():
        raise CommandError(f"{path.parent}: no such folder")
    if path is not None and path.is_dir():
        raise CommandError(f"{path}: a folder", f"-o {path / name.rstrip('/').rpartition('/')[2]}")
    check_scheme(scheme, "ndn", "consumers of named data")
    code = 0
    failure: NdnError | None = None
    with Meter(name, quiet=json) as meter:
        try:
            result = library.get(
                name,
                path,
                face=face,
                consumer=library.Consumer(
                    scheme=scheme,
                    params=parse_params(changes, scheme, "beta=0.8"),
                    initial_window=initial_window,
                    marks=not ignore_marks,
                    lifetime=lifetime,
                    min_rto=min_rto,
                    access=access,
                ),
                discovery=discovery,
                patience=patience,
                sha256=sha256,
                pcap=pcap,
                progress=lambda at: meter.show(at.bytes, at.total, _progress_text(at)),
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(str(error), code=1) from error
        except NdnError as error:
            code, result, failure = 1, error.result, error
        except Interrupted as stop:
            code, result = 130, stop.result
    if json:
        details = None if failure is None else {"message": str(failure), "hint": failure.hint}
        show_json({"out": out, "complete": code == 0, "scheme": scheme, **result, "error": details})
        return code
    _note_capture_failure(result)
    if result.get("segments"):
        _print_fetched(result, out, complete=code == 0)
    if failure is not None:
        raise CommandError(str(failure), failure.hint, code=1)
    return code


def put(
    name: str,
    file: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    face: str | None = None,
    version: int | None = None,
    segment: int | None = None,
    freshness: str | None = None,
    cost: int = 0,
    no_register: bool = False,
    pcap: Path | None = None,
    json: bool = False,
) -> int:
    """Serve a file in segments with digest signatures until Ctrl-C, and register its prefix with the forwarder.

    Parameters
    ----------
    name
        Name of the file, without a version, such as /test/f.
    file
        Serve this file; `-` reads standard input to its end first.
    face
        Address of the forwarder: unix:///run/nfd/nfd.sock, udp://192.0.2.1 or udp://host:port.
    version
        Use this version number, which must increase with each version; microseconds since 1970 by default.
    segment
        Set the payload of a segment in bytes, at most 8400; 8000 by default.
    freshness
        Set the freshness period: how long forwarders may answer requests for the latest version from their stores; "4 s"
        by default.
    cost
        Set the cost of the registered route.
    no_register
        Do not register the prefix; the route must exist already.
    pcap
        Write sent and received packets to this capture file; the dissector in thalweg/wireshark reads it.
    json
        Print one JSON object at the end.
    """
    from .. import ndn as library
    from ..errors import NdnError

    ready = False

    def show(at: Progress) -> None:
        nonlocal ready
        if at.ready and not ready:
            ready = True
            console(error=True).print(f"serving {name}: {_size(at.total)}; Ctrl-C ends this command")

    try:
        result = library.put(
            name,
            sys.stdin.buffer if file == "-" else file,
            face=face,
            producer=library.Producer(
                version=version, segment=segment, freshness=freshness, cost=cost, register=not no_register
            ),
            pcap=pcap,
            progress=show,
        )
    except ValueError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(str(error), code=1) from error
    except NdnError as error:
        if json and error.result.get("interests"):
            show_json({**error.result, "error": {"message": str(error), "hint": error.hint}})
            return 1
        raise CommandError(str(error), error.hint, code=1) from error
    if json:
        show_json({"name": name, "file": file, **result})
    else:
        console().print(
            f"{result['interests']:,} Interests; {result['segments']:,} segments with {_size(result['bytes'])} sent, "
            f"{result['metadata']:,} metadata packets; {result['unknown']:,} Interests for unknown names"
        )
        _note_capture_failure(result)
    return 0


def _note_capture_failure(result: dict[str, Any]) -> None:
    if result.get("capture_failure"):
        console(error=True).print(
            f"note: the capture is incomplete: {result['capture_failure']}", style="yellow"
        )


def _progress_text(at: Progress) -> str:
    if not at.ready:
        return "discovering the version"
    rate = at.bytes * 8 / at.wall_s if at.wall_s > 0 else 0.0
    of = f" of {_size(at.total)}" if at.total else ""
    return f"{_size(at.bytes)}{of}, {_rate(rate)}, {at.again} retransmitted"


def _print_fetched(result: dict[str, Any], out: str, *, complete: bool) -> None:
    # with the file on standard output, messages go to standard error
    screen = console(error=out == "-")
    state = "" if complete else " (incomplete)"
    screen.print(
        f"{result['name']}: {_size(result['bytes'])} in {result['segments_written']:,} of "
        f"{result['segments']:,} segments{state}"
    )
    if complete and result["sha256"] is not None:
        screen.print(f"sha256 {result['sha256']}")
    screen.print(
        f"{number(result['span_s'])} s, {number(result['finding_s'])} s of it for discovery; "
        f"goodput {_rate(result['goodput_bps'] or 0.0)}"
    )
    if result["rtt_mean_s"] is not None:
        screen.print(
            f"RTT: mean {number(result['rtt_mean_s'] * 1e3)} ms, minimum {number(result['rtt_min_s'] * 1e3)} ms; "
            f"maximum window {_size(result['window_max_bytes'] or 0)}"
        )
    lost = f"{result['retransmits']:,} retransmissions, {result['timeouts']:,} timeouts"
    screen.print(
        f"{lost}; {result['marks']:,} marks, {result['nacks']:,} NACKs, {result['episodes']:,} window reductions"
    )
    for key, words in {
        "damaged": "Data packets were damaged and requested again",
        "unverified": "Data packets have signatures that were not verified",
        "too_early": "Data packets arrived too early to be stored",
        "no_route": "Interests were answered by a NACK: no route",
    }.items():
        if result[key]:
            screen.print(f"note: {result[key]:,} {words}", style="yellow")


def _size(count: int) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count} B"


def _rate(bps: float) -> str:
    for unit, factor in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bps >= factor:
            return f"{bps / factor:.4g} {unit}"
    return f"{bps:.0f} bit/s"
