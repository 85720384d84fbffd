"""Fetches and serves files with the Go forwarder ndnd as the peer, and measures both clients.

    tools/interop.py build            builds ndnd, pinned, with Go and its module proxy
    tools/interop.py check            one small file each way, as the test does
    tools/interop.py run [RUNS [SCHEME …]]   20 MB by each client in turn, and a table; `--only=Unix` takes one network

Everything happens in a network namespace of its own that has nothing but a loopback. Where something that is
needed is missing it says so and ends with 0. `--json` prints one object.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = "v1.5.3"
PACKAGE = "github.com/named-data/ndnd"
FOLDER = ROOT / "target" / "interop"
NDND = FOLDER / f"ndnd-{VERSION}"
INSIDE = "THALWEG_INTEROP_INSIDE"
TICK = os.sysconf("SC_CLK_TCK")


def missing_tools() -> str | None:
    """The missing program; None if none is missing."""
    if not NDND.exists():
        return f"{NDND.relative_to(ROOT)} is not built: make interop"
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "there is no unshare or no ip"
    if subprocess.run([*unshare(), "true"], capture_output=True).returncode != 0:
        return "this process may not make a network namespace"
    return None


def unshare() -> list[str]:
    return ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]


def build() -> str | None:
    """Builds ndnd; why it cannot be, if it cannot."""
    if NDND.exists():
        return None
    go = shutil.which("go")
    if go is None:
        return "there is no Go"
    work = FOLDER / "build"
    work.mkdir(parents=True, exist_ok=True)
    (work / "go.mod").write_text("module interop\n\ngo 1.24\n")
    (work / "tools.go").write_text(f'//go:build tools\n\npackage tools\n\nimport _ "{PACKAGE}/cmd/ndnd"\n')
    for words in (
        ["get", f"{PACKAGE}@{VERSION}"],
        ["mod", "tidy"],
        ["build", "-o", str(NDND), f"{PACKAGE}/cmd/ndnd"],
    ):
        done = subprocess.run([go, *words], cwd=work, capture_output=True, text=True)
        if done.returncode != 0:
            return (
                f"go {words[0]}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}"
            )
    return None


CONFIG = """
core: {{ log_level: WARN }}
faces:
  udp: {{ enabled_unicast: {udp}, enabled_multicast: false, port_unicast: {port} }}
  tcp: {{ enabled: false }}
  unix: {{ enabled: true, socket_path: {socket} }}
  websocket: {{ enabled: false }}
  http3: {{ enabled: false }}
tables:
  content_store: {{ capacity: 0, admit: false, serve: false }}
"""


class Forwarder:
    """An ndnd, with a Unix socket, and UDP where it has a port."""

    def __init__(self, folder: Path, name: str, port: int = 0) -> None:
        self.socket = folder / f"{name}.sock"
        self.face = f"unix://{self.socket}"
        settings = folder / f"{name}.yml"
        udp = "true" if port else "false"
        settings.write_text(CONFIG.format(udp=udp, port=port or 6363, socket=self.socket))
        self.process = subprocess.Popen(
            [str(NDND), "fw", "run", str(settings)],
            stdout=subprocess.DEVNULL,
            stderr=(folder / f"{name}.log").open("w"),
            env={**os.environ, "HOME": str(folder)},
        )
        until(lambda: self.socket.exists(), f"forwarder {name}")

    def ask(self, *words: str) -> str:
        """A command to it, and what it says."""
        done = subprocess.run(
            [str(NDND), "fw", *words],
            capture_output=True,
            text=True,
            env={**os.environ, "NDN_CLIENT_TRANSPORT": self.face},
        )
        return done.stdout

    def interests(self) -> int:
        """Interests that came so far, this question among them."""
        found = re.search(r"nInInterests=(\d+)", self.ask("status"))
        return int(found.group(1)) if found else 0

    def has_route(self, prefix: str) -> bool:
        """Whether it has a route to just this prefix."""
        return f"prefix={prefix} " in self.ask("route-list")

    def cpu_s(self) -> float:
        """Processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def stop(self) -> None:
        """Ends it."""
        self.process.terminate()
        self.process.wait(10)


def until(done: object, what: str, limit_s: float = 30.0) -> None:
    """Waits until `done()`."""
    end = time.monotonic() + limit_s
    while not done():  # type: ignore[operator]
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not ready after {limit_s:g} s")
        time.sleep(0.05)


def command(
    words: list[str], face: str, stdin: Path | None = None, stdout: Path | None = None
) -> dict[str, object]:
    """Runs a client to its end: its exit code, processor time, and what it said."""
    with tempfile.TemporaryFile("w+") as stderr_file, tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(
            words,
            stdin=stdin.open("rb") if stdin else subprocess.DEVNULL,
            stdout=stdout.open("wb") if stdout else printed,
            stderr=stderr_file,
            env={**os.environ, "NDN_CLIENT_TRANSPORT": face},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stderr_file.seek(0)
        printed.seek(0)
        return {
            "code": process.returncode,
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "said": stderr_file.read(),
            "printed": printed.read(),
        }


def thalweg(*words: str) -> list[str]:
    return [sys.executable, "-m", "thalweg", "ndn", *words]


def start_client(words: list[str], face: str, stdin: Path | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        stdin=stdin.open("rb") if stdin else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NDN_CLIENT_TRANSPORT": face},
    )


def wait_client(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(10)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def dropped_datagrams() -> int:
    """Datagrams that this namespace's sockets had no room for."""
    lines = [
        line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line.startswith("Udp:")
    ]
    return int(dict(zip(lines[0], lines[1], strict=True))["RcvbufErrors"])


def fetch(client: str, name: str, face: str, out: Path) -> dict[str, object]:
    """Fetches by `ndnd`, or by a scheme of ours: goodput, processor time, and what the client said of itself."""
    out.unlink(missing_ok=True)
    if client == "ndnd":
        ran = command([str(NDND), "cat", name], face, stdout=out)
        rate = re.search(r"Throughput: ([0-9.]+) Mbit/s", str(ran["said"]))
        return {**ran, "goodput_bps": float(rate.group(1)) * 1e6 if rate else 0.0, "again": None}
    ran = command(thalweg("get", name, "--face", face, "--scheme", client, "-o", str(out), "--json"), face)
    try:
        client_report = json.loads(str(ran["printed"]))
    except ValueError:
        client_report = {}
    return {
        **ran,
        "goodput_bps": client_report.get("goodput_bps") or 0.0,
        "again": client_report.get("retransmits"),
        "marks": client_report.get("marks"),
        "fetch_cpu_s": client_report.get("cpu_s"),
        "error": client_report.get("error"),
    }


def topologies(folder: Path) -> dict[str, tuple[list[Forwarder], str, str]]:
    """By name: the forwarders, the consumer's face, the producer's face."""
    one = Forwarder(folder, "one")
    near, far = Forwarder(folder, "near", 6363), Forwarder(folder, "far", 6364)
    near.ask("face-create", "remote=udp4://127.0.0.1:6364", "persistency=permanent")
    near.ask("route-add", "prefix=/test", "face=udp4://127.0.0.1:6364")
    return {
        "one forwarder, Unix sockets": ([one], one.face, one.face),
        "two forwarders, UDP between them": ([near, far], near.face, far.face),
        "one forwarder, consumer over UDP": ([far], "udp://127.0.0.1:6364", far.face),
    }


def run_in_namespace(size: int, runs: int, clients: tuple[str, ...], only: str) -> list[dict[str, object]]:
    """All of it, in a namespace of its own."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(prefix="thalweg-interop-") as text:
        folder = Path(text)
        file, out = folder / "file", folder / "out"
        file.write_bytes(random.Random(7).randbytes(size))
        right = digest(file)
        forwarders: list[Forwarder] = []
        try:
            networks = topologies(folder)
            forwarders = list({id(one): one for used, _, _ in networks.values() for one in used}.values())
            for producer in ("ndnd", "thalweg"):
                for place, (used, consumer_face, producer_face) in networks.items():
                    if only not in place:
                        continue
                    name = f"/test/{producer}"
                    words = (
                        [str(NDND), "put", name] if producer == "ndnd" else thalweg("put", name, str(file))
                    )
                    serving = start_client(words, producer_face, file if producer == "ndnd" else None)
                    until(lambda at=used[-1], name=name: at.has_route(name), f"{producer} put {name}")
                    try:
                        for run in range(runs):
                            for client in clients:
                                # its client takes no pieces, and a check is no place for a client that gives up
                                checks = size < 2_000_000 and "UDP" in place
                                if client == "ndnd" and (checks or consumer_face.startswith("udp")):
                                    continue
                                rows.append(
                                    one_run(
                                        producer,
                                        place,
                                        client,
                                        run,
                                        used,
                                        (name, consumer_face),
                                        (out, right),
                                    )
                                )
                    finally:
                        wait_client(serving)
        finally:
            for forwarder in forwarders:
                forwarder.stop()
    return rows


def one_run(
    producer: str,
    place: str,
    client: str,
    run: int,
    used: list[Forwarder],
    asked: tuple[str, str],
    wanted: tuple[Path, str],
) -> dict[str, object]:
    (name, face), (out, right) = asked, wanted
    # what the questions themselves add
    first = used[0].interests()
    before = used[0].interests()
    cpu, lost = sum(one.cpu_s() for one in used), dropped_datagrams()
    got = fetch(client, name, face, out)
    cpu, lost = sum(one.cpu_s() for one in used) - cpu, dropped_datagrams() - lost
    interests = used[0].interests() - before - (before - first)
    return {
        "producer": producer,
        "place": place,
        "client": client,
        "run": run,
        "whole": got["code"] == 0 and out.exists() and digest(out) == right,
        "goodput_bps": got["goodput_bps"],
        "interests": interests,
        "again": got["again"],
        "marks": got.get("marks"),
        "datagrams_dropped": lost,
        "cpu_forwarders_s": cpu,
        "cpu_client_s": got["cpu_s"],
        "cpu_fetch_s": got.get("fetch_cpu_s"),
        "said": None if got["code"] == 0 else str(got["said"])[-400:] + str(got.get("error") or ""),
    }


def table(rows: list[dict[str, object]], segments: int) -> str:
    """Medians of the runs, by producer, place and client."""
    lines = [
        f"{'producer':9} {'place':34} {'client':7} {'whole':>6} {'Mbit/s: median (min-max)':>28} "
        f"{'again':>7} {'dropped':>8} {'CPU s: forwarders':>18} {'client':>7} {'fetch':>6} {'a Gbit, min':>13}"
    ]
    groups: dict[tuple[object, object, object], list[dict[str, object]]] = {}
    for row in rows:
        groups.setdefault((row["producer"], row["place"], row["client"]), []).append(row)
    for (producer, place, client), group in groups.items():
        rates = sorted(float(str(row["goodput_bps"])) / 1e6 for row in group)

        def middle(key: str, group: list[dict[str, object]] = group) -> float:
            return statistics.median(float(str(row[key])) for row in group if row[key] is not None)

        again = max(middle("interests") - segments - 1, 0) if client == "ndnd" else middle("again")
        span = f"{statistics.median(rates):.1f} ({rates[0]:.1f}-{rates[-1]:.1f})"
        whole = f"{sum(bool(row['whole']) for row in group)}/{len(group)}"
        fetch = "" if client == "ndnd" else f"{middle('cpu_fetch_s'):6.3f}"
        # of ours without the start of Python
        cpu = "cpu_client_s" if client == "ndnd" else "cpu_fetch_s"
        minimum = min(
            (float(str(row[cpu])) for row in group if row["whole"] and row[cpu] is not None), default=0.0
        )
        gbit = segments * 8000 * 8 / 1e9
        lines.append(
            f"{producer:9} {place:34} {client:7} {whole:>6} {span:>28} {again:7.0f} {middle('datagrams_dropped'):8.0f} "
            f"{middle('cpu_forwarders_s'):18.2f} {middle('cpu_client_s'):7.2f} {fetch:>6} {minimum / gbit:13.3f}"
        )
    return "\n".join(lines)


def main() -> int:
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    as_json = "--json" in sys.argv
    only = next((word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")), "")
    verb = words[0] if words else "run"
    if os.environ.get(INSIDE):
        size, runs, clients, only = json.loads(os.environ[INSIDE])
        print(json.dumps(run_in_namespace(size, runs, tuple(clients), only)))
        return 0
    if verb == "build":
        why = build()
        print(f"skipped: {why}" if why else f"{NDND.relative_to(ROOT)} is there")
        return 0
    why = missing_tools()
    if why:
        print(json.dumps({"skipped": why}) if as_json else f"skipped: {why}")
        return 0
    if verb == "check":
        size, runs, clients = 1_000_000, 1, ("ndnd", "cubic")
    else:
        size, runs = 20_000_000, int(words[1]) if len(words) > 1 else 5
        clients = ("ndnd", *(words[2:] or ("cubic", "aimd")))
    done = subprocess.run(
        [*unshare(), sys.executable, __file__],
        env={**os.environ, INSIDE: json.dumps([size, runs, clients, only])},
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode != 0:
        return 1
    rows = json.loads(done.stdout)
    # over UDP ndnd's own client gives up now and then: a hundred segments of six pieces each overflow the next socket
    whole = all(row["whole"] for row in rows if row["client"] != "ndnd" or "Unix" in str(row["place"]))
    if as_json:
        print(json.dumps({"rows": rows}))
    else:
        print(table(rows, -(-size // 8000)))
        for row in rows:
            if row["said"]:
                print(f"{row['client']} from {row['producer']}, {row['place']}: {row['said']}")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
