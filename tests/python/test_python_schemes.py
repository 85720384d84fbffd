"""Schemes written in Python: the same as in Rust, wherever a scheme can be named, and their mistakes."""

import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import thalweg as tw
from schemes_in_python import PyAimd, PyAimdControl
from thalweg.scheme import registered, sources_digest

FILE = Path(__file__).with_name("schemes_in_python.py")


@pytest.fixture(autouse=True)
def _registered():
    for scheme in (PyAimd, PyAimdControl):
        tw.register_scheme(scheme)


def network(scheme, params=None, **keys):
    """Two flows beside CUBIC, with losses, reordering, ECN marks, an application that pauses, and short transfers."""
    flow = {"scheme": scheme, "params": params or {}}
    defaults = {
        "seed": 3,
        "duration": "20 s",
        "topology": tw.Dumbbell(
            pairs=4,
            bottleneck=tw.Link(
                rate="20 Mbit/s",
                delay="15 ms",
                buffer="0.5 bdp",
                loss=0.002,
                impair={"jitter": "3 ms"},
            ),
        ),
        "flows": [
            tw.Flow(name="long", **flow),
            tw.Flow(name="limited", rate="3 Mbit/s", start="1 s", **flow),
            tw.Flow(name="short", size="200 kB", start="2 s", **flow),
            tw.Flow(name="cubic", scheme="cubic"),
        ],
    }
    return tw.Scenario(**(defaults | keys))


def first(method="on_ack", body="pass", base=tw.CongestionControl, **members):
    """A registered class with one method."""
    space = {"math": math, "time": time}
    exec(f"def {method}(self, *told):\n" + textwrap.indent(body, "    "), space)
    return tw.register_scheme(type("Probe", (base,), {method: space[method], **members}))


@pytest.mark.parametrize("name", ["py_aimd", "py_aimd_control"])
@pytest.mark.parametrize("params", [{}, {"a": 0.3, "b": 0.875}])
def test_aimd_in_python_is_that_in_rust_step_for_step(name, params):
    ours, theirs = network(name, params).run(), network("aimd", params).run()
    assert theirs.flows["retransmits"].sum() > 50
    assert ours.trace_hash == theirs.trace_hash
    assert ours.packet_hops == theirs.packet_hops


@pytest.mark.parametrize("name", ["py_aimd", "py_aimd_control"])
def test_it_is_the_same_with_marks_and_with_the_tcp_of_linux(name):
    keys = {
        "topology": tw.Dumbbell(
            pairs=1,
            bottleneck=tw.Link(
                rate="20 Mbit/s", delay="15 ms", buffer="1 bdp", queue={"kind": "codel", "mark": True}
            ),
        )
    }
    runs = []
    for scheme in (name, "aimd"):
        flows = [tw.Flow(name="marked", scheme=scheme, tcp={"like": "linux", "ecn": True})]
        runs.append(network(scheme, flows=flows, **keys).run())
    assert runs[1].flows["marks"].sum() > 5
    assert runs[0].trace_hash == runs[1].trace_hash


def test_sweeps_name_it_with_its_parameters_at_any_number_of_jobs():
    scenario = network("py_aimd", duration="4 s")
    grid = {"flows.long.scheme": ["py_aimd", "aimd"], "flows.long.params.b": [0.5, 0.8]}
    hashes = [
        [run.result.trace_hash for run in scenario.sweep(grid, runs=2).run(jobs=jobs).runs] for jobs in (1, 3)
    ]
    assert hashes[0] == hashes[1]
    assert hashes[0][:4] == hashes[0][4:]
    assert len(set(hashes[0])) == 4


def test_the_catalogue_has_it():
    [row] = [row for row in tw.schemes() if row["name"] == "py_aimd"]
    assert row["title"] == "AIMD as a window update"
    assert (row["families"], row["transport"]) == (["ip"], "tcp")
    assert [(param["name"], param["default"], param["range"]) for param in row["params"]] == [
        ("a", 1.0, [0.001, 100.0]),
        ("b", 0.5, [0.01, 0.99]),
    ]
    assert "py_aimd" in json.dumps(tw.schema())


def test_parameters_are_checked_as_those_of_any_scheme():
    with pytest.raises(tw.ScenarioError, match="`7` is out of range"):
        network("py_aimd", {"b": 7}).check()
    with pytest.raises(tw.ScenarioError, match="`py_aimd` has no parameter `c`"):
        network("py_aimd", {"c": 7}).check()
    with pytest.raises(tw.ScenarioError, match="did you mean `py_aimd`"):
        network("py_aimb").check()


def test_parameters_of_every_kind_reach_the_object():
    seen = []

    class Kinds(tw.CongestionControl):
        number = tw.Parameter(1)
        share = tw.Parameter(0.5)
        on = tw.Parameter(default=True)
        wait = tw.Parameter("20 ms", within=("1 ms", "1 s"))
        rate_at_first = tw.Parameter("2 Mbit/s")
        size = tw.Parameter("3 kB")
        word = tw.Parameter("one", choices=["one", "two"])

        def __init__(self):
            seen.append(
                (self.number, self.share, self.on, self.wait, self.rate_at_first, self.size, self.word)
            )

        def on_ack(self, ack):
            pass

    tw.register_scheme(Kinds)
    flow = tw.Flow(name="only", scheme="kinds", params={"wait": "40 ms", "word": "two", "number": 4})
    network("kinds", flows=[flow], duration="1 s").run()
    assert seen == [(4, 0.5, True, 0.04, 2_000_000, 3000, "two")]
    with pytest.raises(tw.ScenarioError, match="choose one, two"):
        network("kinds", {"word": "three"}).check()
    assert Kinds.share.default == 0.5


def test_rounds_and_intervals_sum_up_what_acknowledgements_say():
    seen = {"ack": 0, "round": [], "interval": [], "lost": 0}

    class Watch(tw.CongestionControl):
        interval = "50 ms"

        def on_ack(self, ack):
            seen["ack"] += ack.bytes
            self.window = 40 * self.segment_bytes

        def on_congestion(self, event):
            seen["lost"] += event.bytes

        def on_round(self, summary):
            seen["round"].append(summary)

        def on_interval(self, summary):
            seen["interval"].append(summary)

    tw.register_scheme(Watch)
    flow = tw.Flow(name="only", scheme="watch")
    result = network("watch", flows=[flow], duration="10 s").run()
    intervals, rounds = seen["interval"], seen["round"]
    assert len(intervals) == 200 - 1 or len(intervals) == 200
    assert {round(summary.duration_s, 9) for summary in intervals} == {0.05}
    last = intervals[-1].now_s
    assert sum(summary.acked_bytes for summary in intervals) <= seen["ack"]
    assert sum(summary.lost_bytes for summary in intervals) <= seen["lost"]
    assert sum(summary.acked_bytes for summary in intervals) > 0.98 * seen["ack"]
    goodput = result.flows["goodput_bps"][0]
    mean = sum(summary.delivery_rate_bps for summary in intervals) / len(intervals)
    assert mean == pytest.approx(goodput, rel=0.05)
    # a round trip takes as long as the round-trip time says
    assert len(rounds) > 100
    steady = rounds[20]
    assert steady.duration_s == pytest.approx(steady.rtt_mean_s, rel=0.3)
    assert steady.rtt_base_s <= steady.rtt_min_s <= steady.rtt_mean_s
    assert last <= 10.0


def test_a_paced_scheme_sends_at_its_rate():
    class Paced(tw.CongestionControl):
        interval = "100 ms"

        def __init__(self):
            self.window = math.inf
            self.rate = 4e6

        def on_interval(self, summary):
            self.rate = 8e6 if summary.now_s > 5 else 4e6

    tw.register_scheme(Paced)
    flow = tw.Flow(name="only", scheme="paced")
    keys = {
        "flows": [flow],
        "duration": "10 s",
        "topology": tw.Dumbbell(bottleneck={"rate": "20 Mbit/s", "delay": "20 ms"}),
    }
    run = network("paced", **keys).run()
    header = 1 - 1460 / 1500
    assert run.flows["goodput_bps"][0] == pytest.approx(6e6 * (1 - header), rel=0.05)


def test_every_observation_of_a_scheme_in_rust_is_there():
    seen = {}

    class Everything(PyAimdControl):
        def on_ack(self, ack):
            seen["ack"] = ack
            super().on_ack(ack)

        def on_delivery(self, delivery):
            seen["delivery"] = delivery

        def on_lost(self, lost):
            seen["lost"] = lost

        def on_sent(self, sent):
            seen["sent"] = sent

        def on_handshake(self, rtt_s):
            seen["handshake"] = rtt_s

        def on_recovered(self, cause):
            seen["recovered"] = cause

    tw.register_scheme(Everything)
    watched = network("everything").run()
    assert set(seen) == {"ack", "delivery", "lost", "sent", "recovered"}
    assert 0.03 < seen["ack"].rtt_smoothed_s < 0.2
    assert seen["delivery"].rate_bps > 1e5
    assert seen["lost"].bytes == 1460
    assert seen["sent"].now_s == pytest.approx(20.0, abs=0.1)
    assert seen["recovered"] in {"loss", "timeout"}
    assert "rtt_smoothed_s" in repr(seen["ack"])
    # watching does not change the run
    assert watched.trace_hash == network("aimd").run().trace_hash


def test_random_numbers_are_those_of_seed_and_flow():
    draws = []

    class Dice(PyAimd):
        def congestion_avoidance(self, window, ack):
            draws.append(self.random.random())
            return window + draws[-1] / window

    tw.register_scheme(Dice)
    lists = []
    for seed in (1, 1, 2):
        network("dice", duration="2 s").run(seed=seed)
        lists.append(draws.copy())
        draws.clear()
    assert lists[0] == lists[1] != lists[2]
    assert len(set(lists[0])) == len(lists[0])


@pytest.mark.parametrize(
    ("scheme", "method", "message"),
    [
        (lambda: first(body="1 / 0"), "Probe.on_ack", "ZeroDivisionError: division by zero"),
        (
            lambda: first(body="return 5"),
            "Probe.on_ack",
            r"Probe.on_ack returned 5, of type int; expected nothing",
        ),
        (
            lambda: first(body="self.window = 'wide'"),
            "Probe.on_ack",
            "`window` of Probe is a number of bytes",
        ),
        (lambda: first(body="self.window = math.nan"), "Probe.on_ack", "not nan"),
        (
            lambda: first(body="self.rate = 0"),
            "Probe.on_ack",
            "`rate` of Probe is a number of bit/s, 1 or more; not 0",
        ),
        (
            lambda: first("congestion_avoidance", "return None", PyAimd),
            "Probe.congestion_avoidance",
            "returned None; expected the window in segments",
        ),
        (
            lambda: first("ssthresh", "return -1", PyAimd),
            "Probe.ssthresh",
            "returned -1, of type int; expected",
        ),
    ],
)
def test_a_mistake_ends_the_run_and_names_flow_time_and_method(scheme, method, message):
    scheme()
    with pytest.raises(tw.SchemeError, match=message) as caught:
        network("probe").run()
    error = caught.value
    assert (error.scheme, error.method, error.flow) == ("probe", method, "long")
    assert 0.0 < error.time_s < 20.0
    assert f"flow `long` at {error.time_s}"[:24] in str(error)
    assert error.__cause__ is not None


def test_an_exception_before_the_first_event_is_reported_too():
    first("__init__", "raise KeyError('weights')", PyAimd)
    with pytest.raises(tw.SchemeError, match=r"Probe.__init__: KeyError: 'weights'") as caught:
        network("probe").run()
    assert caught.value.flow is None
    assert caught.value.__cause__.__traceback__ is not None


def test_an_exception_ends_a_sweep():
    first(body="1 / 0")
    with pytest.raises(tw.SchemeError):
        network("probe", duration="1 s").sweep({"flows.long.params": [{}]}, runs=3).run(jobs=2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tw.register_scheme(int), "is no subclass of thalweg.WindowUpdate"),
        (lambda: first(name="cubic"), "a built-in scheme has this name"),
        (lambda: first(name="Cubic 2"), "not in snake_case"),
        (lambda: first("on_akc"), "Probe.on_akc would never be called: did you mean `on_ack`"),
        (lambda: first("hello"), "Probe has no callback"),
        (lambda: first("on_interval"), "go together"),
        (lambda: first("on_interval", interval="10"), "nor a time such as"),
        (lambda: first("ssthresh", base=tw.WindowUpdate), "Probe has no method `congestion_avoidance`"),
        (lambda: first(gain=tw.Parameter(2.0, within=(0.0, 1.0))), "default of `gain`: `2` is out of range"),
        (lambda: first(gain=tw.Parameter("fast")), "no time, rate or size"),
        (lambda: first(ecn="yes"), "ecn: `yes` is none of"),
        (lambda: first(families=("sdn",)), "families: `sdn`"),
    ],
)
def test_classes_that_cannot_be_schemes_are_refused(make, message):
    before = registered()
    with pytest.raises(ValueError, match=message):
        make()
    assert registered() == before


def test_a_scheme_states_its_ecn():
    class Marked(PyAimd):
        ecn = "accurate"

    tw.register_scheme(Marked)
    [flow] = network("marked", flows=[tw.Flow(name="only", scheme="marked")]).check()["flows"]
    assert (flow["tcp"]["ecn"], flow["tcp"]["ecn_feedback"]) == (True, "accurate")
    assert (flow["tcp"]["loss_detection"], flow["tcp"]["tail_probe"]) == ("count", False)


def test_a_scheme_states_its_loss_detection_and_a_scenario_can_say_otherwise():
    class Timed(PyAimd):
        rack = True

    tw.register_scheme(Timed)
    for given, planned in [
        ({}, ("time", True)),
        ({"loss_detection": "count"}, ("count", False)),
        ({"tail_probe": False}, ("time", False)),
        ({"sack": False}, ("count", False)),
    ]:
        [flow] = network("timed", flows=[tw.Flow(name="only", scheme="timed", tcp=given)]).check()["flows"]
        assert (flow["tcp"]["loss_detection"], flow["tcp"]["tail_probe"]) == planned, given


def test_kept_results_depend_on_the_text_of_the_classes(tmp_path):
    file = tmp_path / "changing.py"
    digests = []
    for gain in (1, 2):
        file.write_text(FILE.read_text().replace("PyAimd", "Changing") + f"\nGAIN = {gain}\n")
        assert tw.load_schemes(file) == ["changing", "changing_control"]
        digests.append(sources_digest())
    assert digests[0] != digests[1]


def test_files_that_hold_no_scheme_are_refused(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("x = 1 / 0\n")
    with pytest.raises(tw.SchemeError, match=r"mine\.py: ZeroDivisionError"):
        tw.load_schemes(file)
    file.write_text("x = 1\n")
    with pytest.raises(tw.SchemeError, match="has no scheme"):
        tw.load_schemes(file)
    with pytest.raises(FileNotFoundError):
        tw.load_schemes(tmp_path / "none.py")


@pytest.fixture
def files(tmp_path):
    """A scenario with a scheme of a file beside it."""
    (tmp_path / "mine.py").write_text(FILE.read_text().replace("PyAimd", "Mine"))
    (tmp_path / "x.toml").write_text(network("aimd", duration="2 s").toml.replace('"aimd"', '"mine"'))
    return tmp_path


def command(folder, *words, **keys):
    words = [sys.executable, "-m", "thalweg", *words]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, **keys)


def test_the_command_takes_files_of_schemes(files):
    without = command(files, "run", "x.toml")
    assert without.returncode == 2
    assert "`mine`" in without.stderr
    ran = command(files, "run", "x.toml", "--scheme-file", "mine.py", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["trace_hash"] == network("aimd", duration="2 s").run().trace_hash
    shown = command(files, "schemes", "mine", "--scheme-file", "mine.py")
    assert "AIMD as a window update" in shown.stdout
    checked = command(files, "check", "x.toml", "--scheme-file", "mine.py")
    assert 'scheme = "mine"' in checked.stdout
    swept = command(files, "run", "x.toml", "--scheme-file", "mine.py", "--runs", "3", "--jobs", "2")
    assert swept.returncode == 0, swept.stderr
    # the results are read without the file
    page = command(files, "report", "out/x/seed=3")
    assert page.returncode == 0, page.stderr


def test_runs_that_are_kept_are_not_those_of_a_changed_file(files):
    evaluated = [
        *("evaluate", "mine", "--scheme-file", "mine.py", "--quick", "--json"),
        *("--row", "rfc9743/7.5-high-delay", "--against", "reno"),
    ]
    swept = ["run", "x.toml", "--scheme-file", "mine.py", "--runs", "2"]

    def both():
        card, ran = command(files, *evaluated), command(files, *swept)
        assert (card.returncode, ran.returncode) == (0, 0), card.stderr + ran.stderr
        record = json.loads(card.stdout)
        [row] = record["batteries"][0]["rows"]
        return record["cpu_s"], row["measured"]["mean"], len(list(files.glob("out/x/**/plan.toml")))

    first = both()
    assert first[0] > 0
    assert both() == (0, *first[1:])
    text = (files / "mine.py").read_text()
    (files / "mine.py").write_text(text.replace("return self.b * window", "return 0.2 * window"))
    changed = both()
    assert changed[0] > 0
    assert changed[1] < first[1], "it keeps less of its window"
    assert changed[2] == 2 * first[2]
    (files / "mine.py").write_text(text)
    assert both() == (0, first[1], changed[2])


def test_a_search_does_not_go_on_with_what_a_changed_file_measured(files):
    words = [
        "break",
        "mine",
        "--scheme-file",
        "mine.py",
        "--property",
        "loss",
        "--trials",
        "2",
        "--against",
        "none",
    ]
    assert command(files, *words).returncode == 0
    (files / "mine.py").write_text((files / "mine.py").read_text() + "# changed\n")
    refused = command(files, *words)
    assert refused.returncode == 2
    assert "is the log of another search: remove it, or choose another folder" in refused.stderr


def test_the_command_prints_the_traceback_of_a_scheme(files):
    text = (files / "mine.py").read_text()
    (files / "mine.py").write_text(text.replace("return self.b * window", "return self.beta * window"))
    ran = command(files, "run", "x.toml", "--scheme-file", "mine.py")
    assert ran.returncode == 1
    assert "return self.beta * window" in ran.stderr
    assert "mine.py" in ran.stderr
    assert "error: scheme `mine`, Mine.ssthresh of flow `" in ran.stderr
    assert "Traceback" in ran.stderr
    assert "thalweg/cli" not in ran.stderr


def test_ctrl_c_ends_a_run_with_a_scheme_in_python_and_keeps_its_results(files):
    words = ["run", "x.toml", "--scheme-file", "mine.py", "--set", "duration=100000 s"]
    with subprocess.Popen(
        [sys.executable, "-m", "thalweg", *words],
        cwd=files,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as program:
        while not list(files.glob("out/**/plan.toml")):
            assert program.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate()
    assert program.returncode == 130, err
    assert "interrupted at" in out


def test_emulation_refuses_it():
    flow = tw.Flow(name="only", scheme="py_aimd", live=True)
    with pytest.raises((tw.EmulationError, tw.ScenarioError), match="py_aimd"):
        network("py_aimd", flows=[flow]).emulate()
