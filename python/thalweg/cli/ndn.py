"""`thalweg ndn`: files over named data networking, from and to forwarders that speak it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from .given import params_of
from .out import Refusal, check_scheme, console, number, show_json
from .progress import Meter

if TYPE_CHECKING:
    from ..ndn import Progress

HELP = """Named data over real networks, with forwarders that speak NDN's packets.

Without `--face` the forwarder is where NDN_CLIENT_TRANSPORT or client.conf say, at thalweg-ndn.sock in
$XDG_RUNTIME_DIR or /tmp (where `thalweg ndn forward --example` listens), or at /run/nfd/nfd.sock.
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
    "get": "Fetch a file by name, as fast as a scheme permits.",
    "put": "Serve a file by name until Ctrl-C.",
}
for _place, (_verb, _line) in enumerate(VERBS.items()):
    ndn.command(f"thalweg.cli.ndn:{_verb}", name=_verb, help=_line, sort_key=_place)
ndn.command(
    "thalweg.cli.ndn_forward:forward",
    name="forward",
    help="Forward between hosts and programs, with any strategy and link part.",
    sort_key=len(VERBS),
)
ndn.command(
    "thalweg.cli.ndn_control:control",
    name="control",
    help="Control forwarders from one place, as a scenario's [sdn] says.",
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
    """Fetch a file in segments from an NDN forwarder. The file is there only when it is whole; otherwise this ends with 1.

    Parameters
    ----------
    name
        Name of the file, such as /test/f; with a version at its end (/v=7) just that.
    out
        The file to write; `-` for standard output, in order as it comes.
    face
        Where the forwarder is: unix:///run/nfd/nfd.sock, udp://192.0.2.1 or udp://host:port.
    scheme
        A scheme of consumers: `thalweg schemes` lists those of the family ndn.
    changes
        A parameter of the scheme and its value, such as `--set beta=0.8`; may be repeated.
    discovery
        How the version is found: by metadata as ndnd and ndn-tools have them, by whatever is there below the name,
        or not at all: then segments stand right below the name.
    initial_window
        Segments; 2 when not given.
    ignore_marks
        Do not tell the scheme of congestion marks.
    lifetime
        How long Interests stay pending; "4 s" when not given.
    min_rto
        Segments are asked for again after so long at least; "200 ms" when not given.
    access
        The rate at which Data can reach this host, such as "100 Mbit/s", for schemes that want to know it.
    patience
        Given up when nothing has come for so long; "15 s" when not given.
    sha256
        What the SHA-256 of the file has to be. The digest of each segment is verified anyway.
    pcap
        Write what is sent and received to this file, for Wireshark with the dissector in thalweg/wireshark.
    json
        Print one JSON object.
    """
    from .. import ndn as library
    from ..errors import Interrupted, NdnError

    if json and out == "-":
        raise Refusal("--json and the file cannot both go to standard output", "write the file to a path")
    if initial_window is not None and initial_window < 1:
        raise Refusal(f"--initial-window {initial_window}: at least one")
    path = None if out == "-" else Path(out)
    if path is not None and not path.parent.is_dir():
        raise Refusal(f"{path.parent}: there is no such folder")
    if path is not None and path.is_dir():
        raise Refusal(f"{path}: a folder", f"-o {path / name.rstrip('/').rpartition('/')[2]}")
    check_scheme(scheme, "ndn", "consumers of named data")
    code = 0
    failure: NdnError | None = None
    with Meter(name, quiet=json) as meter:
        try:
            told = library.get(
                name,
                path,
                face=face,
                scheme=scheme,
                params=params_of(changes, scheme, "beta=0.8"),
                discovery=discovery,
                initial_window=initial_window,
                marks=not ignore_marks,
                lifetime=lifetime,
                min_rto=min_rto,
                access=access,
                patience=patience,
                sha256=sha256,
                pcap=pcap,
                progress=lambda at: meter.show(at.bytes, at.whole, _words(at)),
            )
        except ValueError as error:
            raise Refusal(str(error)) from error
        except OSError as error:
            raise Refusal(str(error), code=1) from error
        except NdnError as error:
            code, told, failure = 1, error.told, error
        except Interrupted as stop:
            code, told = 130, stop.result
    if json:
        said = None if failure is None else {"message": str(failure), "hint": failure.hint}
        show_json({"out": out, "whole": code == 0, "scheme": scheme, **told, "error": said})
        return code
    _note(told)
    if told.get("segments"):
        _print_fetched(told, out, whole=code == 0)
    if failure is not None:
        raise Refusal(str(failure), failure.hint, code=1)
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
    """Serve a file in segments, signed with their digests, until Ctrl-C; its prefix is registered with the forwarder.

    Parameters
    ----------
    name
        Name of the file, without a version, such as /test/f.
    file
        The file; `-` for standard input, which is read to its end first.
    face
        Where the forwarder is: unix:///run/nfd/nfd.sock, udp://192.0.2.1 or udp://host:port.
    version
        A number that grows; microseconds since 1970 when not given.
    segment
        Bytes of a segment, at most 8400; 8000 when not given.
    freshness
        For how long forwarders may answer with what they have seen when somebody asks for the newest; "4 s" when not given.
    cost
        Cost of the route that is registered.
    no_register
        Do not register the prefix: somebody else makes the route.
    pcap
        Write what is sent and received to this file, for Wireshark with the dissector in thalweg/wireshark.
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
            console(error=True).print(f"serving {name}: {_size(at.whole)}; Ctrl-C ends it")

    try:
        told = library.put(
            name,
            sys.stdin.buffer if file == "-" else file,
            face=face,
            version=version,
            segment=segment,
            freshness=freshness,
            cost=cost,
            register=not no_register,
            pcap=pcap,
            progress=show,
        )
    except ValueError as error:
        raise Refusal(str(error)) from error
    except OSError as error:
        raise Refusal(str(error), code=1) from error
    except NdnError as error:
        if json and error.told.get("interests"):
            show_json({**error.told, "error": {"message": str(error), "hint": error.hint}})
            return 1
        raise Refusal(str(error), error.hint, code=1) from error
    if json:
        show_json({"name": name, "file": file, **told})
    else:
        console().print(
            f"{told['interests']:,} Interests; {told['segments']:,} segments with {_size(told['bytes'])} sent, "
            f"{told['metadata']:,} times metadata; {told['unknown']:,} Interests were for what there is not"
        )
        _note(told)
    return 0


def _note(told: dict[str, Any]) -> None:
    if told.get("capture_failure"):
        console(error=True).print(
            f"note: the capture is not complete: {told['capture_failure']}", style="yellow"
        )


def _words(at: Progress) -> str:
    if not at.ready:
        return "looking for it"
    rate = at.bytes * 8 / at.wall_s if at.wall_s > 0 else 0.0
    of = f" of {_size(at.whole)}" if at.whole else ""
    return f"{_size(at.bytes)}{of}, {_rate(rate)}, {at.again} asked for again"


def _print_fetched(told: dict[str, Any], out: str, *, whole: bool) -> None:
    # with the file on standard output the words go elsewhere
    screen = console(error=out == "-")
    state = "" if whole else " — not whole"
    screen.print(
        f"{told['name']}: {_size(told['bytes'])} in {told['segments_written']:,} of {told['segments']:,} segments{state}"
    )
    if whole and told["sha256"] is not None:
        screen.print(f"sha256 {told['sha256']}")
    screen.print(
        f"{number(told['span_s'])} s, {number(told['finding_s'])} s of it to find it: {_rate(told['goodput_bps'] or 0.0)}"
    )
    if told["rtt_mean_s"] is not None:
        screen.print(
            f"round trip {number(told['rtt_mean_s'] * 1e3)} ms, at least {number(told['rtt_min_s'] * 1e3)} ms; "
            f"window up to {_size(told['window_max_bytes'] or 0)}"
        )
    lost = f"{told['retransmits']:,} segments asked for again, {told['timeouts']:,} timeouts"
    screen.print(
        f"{lost}; {told['marks']:,} marks, {told['refusals']:,} refusals, {told['episodes']:,} reductions"
    )
    for key, words in {
        "damaged": "Data came damaged and were asked for again",
        "unverified": "Data have signatures that were not verified",
        "too_early": "Data came too early to be kept",
        "no_route": "Interests were refused: there is no route",
    }.items():
        if told[key]:
            screen.print(f"note: {told[key]:,} {words}", style="yellow")


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
