"""Lists of jobs: order, several at a time, what is kept, what is tried again, Ctrl-C."""

import threading

import numpy as np
import pytest

import thalweg as tw
from thalweg import jobs
from thalweg.jobs import Job, SampleFile


def test_outputs_are_in_the_order_of_the_jobs_and_the_number_of_running_jobs_is_limited():
    going, peak, lock = 0, 0, threading.Lock()

    def work(number):
        def carry_out(_control):
            nonlocal going, peak
            with lock:
                going += 1
                peak = max(peak, going)
            threading.Event().wait(0.002 * (12 - number))
            with lock:
                going -= 1
            return number

        return carry_out

    said = []
    outputs = jobs.run([Job(f"job {n}", work(n)) for n in range(12)], at_once=3, progress=said.append)
    assert outputs == list(range(12))
    assert peak == 3
    assert [at.done for at in said] == list(range(1, 13))
    assert all(at.total == 12 and at.running <= 3 for at in said)


def test_exclusive_jobs_run_alone_and_last():
    order = []
    listed = [Job(str(n), lambda _, n=n: order.append(n) or n, exclusive=n == 0) for n in range(4)]
    assert jobs.run(listed, at_once=2) == [0, 1, 2, 3]
    assert order[-1] == 0


def test_cached_outputs_are_not_computed_again(tmp_path):
    runs = []

    def job(name):
        def work(_control):
            runs.append(name)
            return {"times_s": np.arange(3.0), "rate_bps": 2.5, "name": name}

        return Job(name, work, SampleFile(tmp_path / f"{name}.npz"))

    first = jobs.run([job("a")])
    again = jobs.run([job("a"), job("b")], at_once=2)
    assert runs == ["a", "b"]
    np.testing.assert_array_equal(again[0].pop("times_s"), first[0].pop("times_s"))
    assert again[0] == first[0] == {"rate_bps": 2.5, "name": "a"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"], "nothing half written"


def test_a_job_is_repeated_while_it_must_be_and_only_valid_outputs_are_read_from_the_cache(tmp_path):
    tries = []

    def job():
        return Job(
            "late",
            lambda _: tries.append(1) or {"valid": len(tries) >= 3},
            SampleFile(tmp_path / "late.npz", is_valid=lambda sample: sample["valid"]),
            seconds=2.0,
            must_repeat=lambda sample: not sample["valid"] and len(tries) < 2,
        )

    said = []
    assert jobs.run([job()], progress=said.append) == [{"valid": False}]
    assert len(tries) == 2
    assert (said[-1].now_s, said[-1].total_s) == (4.0, 4.0)
    assert jobs.run([job()]) == [{"valid": True}], "what was kept did not hold"
    assert jobs.run([job()]) == [{"valid": True}]
    assert len(tries) == 3


def test_ctrl_c_stops_running_jobs_and_returns_finished_outputs(tmp_path):
    class Remembered:
        def load(self):
            return "of an earlier call"

        def save(self, output):
            return output

    stopped = []

    def until_stopped(control):
        while not control.stopped:
            threading.Event().wait(0.005)
        stopped.append(1)

    def interrupt(at):
        if at.done == 2:
            raise KeyboardInterrupt

    class Control:
        stopped, now_s = False, 0.0

        def stop(self):
            self.stopped = True

    listed = [
        Job("endless", until_stopped),
        Job("short", lambda _: "done"),
        Job("never begun", until_stopped),
        Job("kept", until_stopped, Remembered()),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "Control", Control)
        with pytest.raises(tw.Interrupted) as stop:
            jobs.run(listed, at_once=2, progress=interrupt)
    assert stop.value.result == [None, "done", None, "of an earlier call"]
    assert len(stopped) <= 2


def test_a_job_that_fails_stops_the_others():
    began = threading.Event()

    def endless(control):
        began.set()
        scenario = tw.Scenario(
            duration="1000000 s",
            topology=tw.Dumbbell(edge=WIRE, bottleneck=WIRE),
            flows=[tw.Flow("f", scheme="reno")],
        )
        assert not scenario.plan().carry_out(control).complete

    def failing(_control):
        began.wait(10)
        raise OSError("no more room")

    with pytest.raises(OSError, match="no more room"):
        jobs.run([Job("endless", endless), Job("failing", failing)], at_once=2)


WIRE = tw.Link(rate="1 Mbit/s", delay="5 ms", buffer="10 packets")


def test_one_job_at_a_time_is_the_minimum():
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        jobs.run([], at_once=0)


def test_a_digest_depends_on_the_borders_of_its_parts():
    assert jobs.digest("ab", "c") != jobs.digest("a", "bc")
    assert jobs.digest("a", b"b") == jobs.digest("a", "b")
