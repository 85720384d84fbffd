"""Runs on the workers of a Dask cluster: the same results, workers and schedulers that end, other versions, Slurm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import thalweg as tw
from thalweg import cluster, dataset, jobs, scheme
from thalweg.cli import call
from thalweg.errors import ClusterError
from thalweg.jobs import Job

pytestmark = pytest.mark.processes

distributed = pytest.importorskip("distributed")
dask_config = pytest.importorskip("dask.config")

PATIENCE_S = 900.0
"""For what takes seconds on an idle host."""

DASK = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
WORKER = [sys.executable, "-m", "distributed.cli.dask_worker"]


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self) -> None:
        self.port = _free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        words = [*DASK, "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        self.scheduler = _start(words)
        _until(self.answers)

    def answers(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        return False

    def start_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        words = [*WORKER, self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        self.workers.append(_start(words, **environment))
        return self.workers[-1]

    def kill(self, process: subprocess.Popen[bytes] | None) -> None:
        assert process is not None
        process.kill()
        process.wait()

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None:
                self.kill(process)


def _start(words: list[str], **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        words,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _until(ready: Callable[[], bool]) -> None:
    """Waits until a program that was started is ready, for as long as a busy host may need."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if ready():
            return
        time.sleep(0.1)
    raise AssertionError("a program does not start")


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A scheduler; a test starts its workers."""
    monkeypatch.setattr(cluster, "CONNECT_S", PATIENCE_S)
    monkeypatch.setattr(cluster, "PATIENCE_S", PATIENCE_S)
    there = Cluster()
    there.start_scheduler()
    yield there
    there.stop()


def files(folder: Path) -> dict[str, bytes]:
    """Every file of the runs below a folder, without the records, which contain times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".json" and path.name != dataset.RUNS
    }


def test_a_plan_that_was_pickled_gives_the_same_run_without_its_files(small: Path) -> None:
    import pickle

    trace = small.with_name("rate.csv")
    folder = small.parent / "scenarios" / "own"
    folder.mkdir(parents=True)
    trace.write_text("0,5 Mbit/s\n1,2 Mbit/s\n", encoding="utf-8")
    text = small.read_text().replace('rate = "5 Mbit/s"', 'trace = "../../rate.csv"')
    (folder / "lte.toml").write_text(text, encoding="utf-8")
    plan = tw.load(folder / "lte.toml").with_({"flows.reno.count": 2}).plan(5)
    expected = plan.run()
    packed = pickle.dumps(plan)
    trace.unlink()
    result = pickle.loads(packed).run()
    assert result.trace_hash == expected.trace_hash
    assert (result.plan_toml, result.scenario_toml) == (expected.plan_toml, expected.scenario_toml)
    assert (result.overrides, result.seed) == ({"flows.reno.count": 2}, 5)
    again = pickle.loads(pickle.dumps(result))
    assert again.flows.equals(expected.flows)
    assert again.values == expected.values


def test_a_sweep_on_two_workers_is_the_same_as_here_though_one_is_killed(
    machines: Cluster, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = machines.start_worker()
    machines.start_worker()
    sweep = tw.load(small).sweep({"flows.reno.count": [1, 2]}, runs=6)
    killed = []

    def kill(ready: int, _total: int, _label: str) -> None:
        if ready >= 3 and not killed:
            killed.append(first.pid)
            machines.kill(first)

    with distributed.Client(machines.address, timeout=PATIENCE_S, set_as_default=False) as client:
        client.wait_for_workers(2)
        there = sweep.run(on=client, out=tmp_path / "there", progress=kill)
        assert client.status == "running", "a client of the user stays open"
    assert killed
    assert there.complete
    sweep.run(out=tmp_path / "here")
    assert files(tmp_path / "there") == files(tmp_path / "here")
    assert (
        call(
            [
                "run",
                str(small),
                "--runs",
                "2",
                "--on",
                machines.address,
                "--json",
                "--out",
                str(tmp_path / "two"),
            ]
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert [run["trace_hash"] for run in answer["runs"]] == [
        run.result.trace_hash for run in tw.load(small).sweep(runs=2).run().runs
    ]


def test_a_scheduler_that_ends_costs_nothing_that_is_finished(
    machines: Cluster, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset, "BATCH", 10)
    worker = machines.start_worker()
    sweep = tw.load(small).sweep(runs=35)
    ended, started, done = [], [], []

    def end(ready: int, _total: int, label: str) -> None:
        done.append(ready)
        if ready >= 12 and not ended:
            ended.append(ready)
            machines.kill(machines.scheduler)
            machines.kill(worker)
        elif label == "waiting for the scheduler" and not started:
            started.append(ready)
            machines.start_scheduler()
            machines.start_worker()

    study = sweep.run(on=machines.address, out=tmp_path / "study", progress=end)
    assert ended
    assert started
    assert done == sorted(done)
    assert study.complete
    assert [part.name for part in sorted((tmp_path / "study").glob("part-*"))] == [
        f"part-{number:06}" for number in range(4)
    ]
    here = sweep.run(out=tmp_path / "here")
    assert files(tmp_path / "study") == files(tmp_path / "here")
    assert study.summary.equals(here.summary)


def test_a_worker_with_another_core_is_refused(
    machines: Cluster, small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machines.start_worker()
    monkeypatch.setattr(cluster, "native_digest", lambda: "0" * 64)
    assert (
        call(
            ["run", str(small), "--runs", "2", "--on", machines.address, "--out", str(small.with_name("out"))]
        )
        == 1
    )
    error = capsys.readouterr().err
    assert f"another core: thalweg {tw.__version__}" in error
    assert "instead of 000000000000" in error
    assert "install the same wheel" in error


def test_ctrl_c_stops_the_runs_of_workers(machines: Cluster, small: Path, tmp_path: Path) -> None:
    machines.start_worker()
    scenario = tw.load(small)
    endless = scenario.with_({"duration": "1000000 s", "record.every": "1000 s"})

    def stop(ready: int, _total: int, _label: str) -> None:
        if ready == 2:
            raise KeyboardInterrupt

    with pytest.raises(tw.Interrupted) as stopped:
        tw.run_many(
            [(scenario, 1), (scenario, 2), (endless, 1), (endless, 2)],
            on=machines.address,
            progress=stop,
            out=tmp_path,
        )
    assert [result is not None for result in stopped.value.result] == [True, True, False, False]
    # the worker is free again
    assert tw.run_many([(scenario, 3)], on=machines.address)[0].complete


def test_exclusive_jobs_stay_here(machines: Cluster) -> None:
    machines.start_worker()
    listed = [Job("there", lambda _: os.getpid()), Job("here", lambda _: os.getpid(), exclusive=True)]
    there, here = jobs.run(listed, on=machines.address)
    assert here == os.getpid() != there
    with pytest.raises(ZeroDivisionError):
        jobs.run([Job("wrong", lambda _: 1 // 0)], on=machines.address)


def test_processes_of_this_host_are_a_cluster(small: Path, tmp_path: Path) -> None:
    sweep = tw.load(small).sweep(runs=2)
    assert sweep.run(on="local:1", out=tmp_path / "there").complete
    sweep.run(out=tmp_path / "here")
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_processes_of_this_host_take_jobs_from_the_command_only() -> None:
    with cluster.Workers("local:1") as workers:
        address = str(workers._client.scheduler.address)
        listening = [address, *workers._client.scheduler_info()["workers"]]
        assert len(listening) == 2
        for one in listening:
            assert one.startswith("tls://127.0.0.1:")
            without_keys = {"address": one.replace("tls://", "tcp://")}
            with_others = {"address": one, "security": distributed.Security.temporary()}
            for stranger in (without_keys, with_others):
                with pytest.raises(OSError, match=r"closed|certificate"):
                    distributed.Client(**stranger, timeout=5, set_as_default=False)
        assert workers._client.submit(os.getpid).result() != os.getpid()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--runs", "2", "--on", "elsewhere"], "neither the address of a scheduler nor a cluster"),
        (["--runs", "2", "--on", "slurm"], "needs a number of batch jobs above 0"),
        (["--runs", "2", "--on", "local:0"], "needs a number of workers above 0"),
        (["--runs", "2", "--on", "local:2", "--jobs", "2"], "leave out one of them"),
        (["--on", "local:2"], "--on is for many runs"),
    ],
)
def test_a_cluster_that_cannot_be_is_refused(
    small: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["run", str(small), *words]) in (1, 2)
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_scheduler_that_does_not_answer_is_an_error(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        assert call(["run", str(small), "--runs", "2", "--on", address]) == 1
    assert f"no scheduler answers at {address}" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:notaport", "tcp://", "http://127.0.0.1:1"])
def test_what_is_no_address_is_an_error_at_once(
    address: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["run", str(small), "--runs", "2", "--on", address]) == 1
    assert f"no scheduler answers at {address}" in capsys.readouterr().err


def test_the_address_of_a_worker_is_an_error(
    machines: Cluster, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machines.start_worker()
    client = distributed.Client(machines.address, set_as_default=False)
    with client:
        client.wait_for_workers(1)
        (worker,) = client.scheduler_info()["workers"]
    assert call(["run", str(small), "--runs", "2", "--on", worker]) == 1
    assert "it is of type Worker" in " ".join(capsys.readouterr().err.split())


def test_a_worker_without_thalweg_is_named(
    machines: Cluster, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thalweg.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'thalweg'\", name='thalweg')\n", encoding="utf-8"
    )
    machines.start_worker(PYTHONPATH=str(tmp_path))
    assert call(["run", str(small), "--runs", "2", "--on", machines.address]) == 1
    error = capsys.readouterr().err
    assert "a worker has no thalweg" in error
    assert "install the same wheels" in error


BATCH = {"cores": 1, "processes": 1, "memory": "500MB", "walltime": "00:10:00", "queue": "normal"}


@pytest.mark.parametrize(
    ("sbatch", "reason"),
    [("echo sbatch: error: invalid partition >&2; exit 1", "invalid partition"), (None, "sbatch")],
)
def test_jobs_that_a_batch_system_refuses_are_an_error(
    sbatch: str | None,
    reason: str,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("dask_jobqueue")
    if sbatch is not None:
        (tmp_path / "sbatch").write_text(f"#!/bin/sh\n{sbatch}\n", encoding="utf-8")
        (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with dask_config.set({f"jobqueue.slurm.{key}": value for key, value in BATCH.items()}):
        assert call(["run", str(small), "--runs", "2", "--on", "slurm:2"]) == 1
    error = capsys.readouterr().err
    assert "slurm:2: no job was accepted" in error
    assert reason in error
    assert "Traceback" not in error


def test_a_setting_that_dask_does_not_know_is_an_error() -> None:
    pytest.importorskip("dask_jobqueue")
    settings = {**BATCH, "waltime": "1:00"}
    with (
        dask_config.set({f"jobqueue.slurm.{key}": value for key, value in settings.items()}),
        pytest.raises(ClusterError, match="no setting `waltime`") as refused,
        cluster.Workers("slurm:1"),
    ):
        pass
    assert refused.value.hint == "did you mean `walltime`?"


def test_ctrl_c_does_the_same_with_a_batch_system() -> None:
    pytest.importorskip("dask_jobqueue")
    before = signal.getsignal(signal.SIGINT)
    sys.modules.pop("dask_jobqueue.runner", None)
    sys.modules.pop("dask_jobqueue", None)
    with pytest.raises(ClusterError), cluster.Workers("slurm:1"):
        pass
    assert signal.getsignal(signal.SIGINT) is before


class Slurm:
    """A controller and one node of Slurm on this host, with a munge of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        folder.chmod(0o755)
        (folder / "key").write_bytes(os.urandom(1024))
        (folder / "key").chmod(0o600)
        host = socket.gethostname().partition(".")[0]
        settings = {
            "ClusterName": "test",
            "SlurmctldHost": f"{host}(127.0.0.1)",
            "SlurmctldPort": _free_port(),
            "SlurmdPort": _free_port(),
            "AuthInfo": f"socket={folder}/munge",
            "SlurmUser": "root",
            "ProctrackType": "proctrack/pgid",
            "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none",
            "MpiDefault": "none",
            "SelectType": "select/cons_tres",
            "SelectTypeParameters": "CR_Core",
            "StateSaveLocation": folder / "state",
            "SlurmdSpoolDir": folder / "spool",
            "SlurmctldPidFile": folder / "slurmctld.pid",
            "SlurmdPidFile": folder / "slurmd.pid",
            "SlurmctldLogFile": folder / "slurmctld.log",
            "SlurmdLogFile": folder / "slurmd.log",
            "NodeName": f"{host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=2000 State=UNKNOWN",
            "PartitionName": "normal Nodes=ALL Default=YES State=UP",
        }
        lines = [f"{key}={value}" for key, value in settings.items()]
        (folder / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for name in ("state", "spool"):
            (folder / name).mkdir()

    def start(self) -> None:
        munge = [f"--{name}={self.folder}/{name}" for name in ("pid-file", "log-file", "seed-file")]
        munge += [f"--socket={self.folder}/munge", f"--key-file={self.folder}/key"]
        for words in (["munged", "--foreground", "--force", *munge], ["slurmctld", "-D"], ["slurmd", "-D"]):
            self.processes.append(_start(words, SLURM_CONF=str(self.folder / "slurm.conf")))
            _until((self.folder / "munge").exists)
        _until(lambda: "idle" in subprocess.run(["sinfo", "-h"], capture_output=True, text=True).stdout)

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


@pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("munged", "slurmctld", "slurmd", "sbatch"))
    or os.geteuid() != 0,
    reason="Slurm and munge are not installed, or this is not root",
)
def test_a_sweep_runs_as_jobs_of_slurm(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("dask_jobqueue")
    # the path of a socket is short
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    slurm = Slurm(folder)
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    monkeypatch.chdir(tmp_path)
    try:
        slurm.start()
        with dask_config.set({f"jobqueue.slurm.{key}": value for key, value in BATCH.items()}):
            assert call(["run", str(small), "--runs", "4", "--on", "slurm:1", "--json", "--out", "out"]) == 0
        answer = json.loads(capsys.readouterr().out)
        here = tw.load(small).sweep(runs=4).run()
        assert [run["trace_hash"] for run in answer["runs"]] == [run.result.trace_hash for run in here.runs]
        jobs_left = subprocess.run(["squeue", "-h", "-t", "PD,R"], capture_output=True, text=True, check=True)
        assert jobs_left.stdout == "", "the jobs end with the command"
        assert list(tmp_path.glob("slurm-*.out")), "a job of Slurm has run"
    finally:
        slurm.stop()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_scheme_written_in_python_is_refused(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = tw.load(small).sweep(runs=2)
    # as if a class of this process had its name
    monkeypatch.setattr(scheme, "registered", lambda: {"reno": object})
    with pytest.raises(ClusterError, match=r"flow `reno.*`: `reno` is written in Python"):
        sweep.run(on="local:1")


def test_a_batch_system_without_settings_names_the_file() -> None:
    with pytest.raises(ClusterError, match="cores") as refused, cluster.Workers("slurm:1"):
        pass
    assert "jobqueue.yaml" in str(refused.value.hint)
