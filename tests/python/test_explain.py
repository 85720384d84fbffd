"""`thalweg explain`: known limits are named, and the numbers equal the tables of the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import thalweg as tw
from thalweg.cli import call
from thalweg.errors import ResultError
from thalweg.explanation import LIMITS, PHASES, explain


def alone(buffer: str = "1 bdp", **flow: Any) -> tw.Scenario:
    """One flow on 10 Mbit/s with a round trip of 44 ms."""
    return tw.Scenario.from_tree(
        {
            "duration": "20 s",
            "topology": {
                "kind": "dumbbell",
                "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms", "buffer": buffer},
            },
            "flows": [{"name": "bulk", "scheme": "reno", **flow}],
        }
    )


def pair() -> tw.Scenario:
    tree = alone().tree
    tree["flows"] = [{"name": "one", "scheme": "cubic"}, {"name": "two", "scheme": "reno", "count": 2}]
    return tw.Scenario.from_tree(tree)


@pytest.mark.parametrize(
    ("scenario", "limit"),
    [
        (alone(), "window"),
        (alone(tcp={"receive_window": "20 kB"}), "receiver"),
        (alone(rate="1 Mbit/s"), "application"),
        (alone("8 bdp", scheme="bbr"), "pacing"),
        (alone(scheme="tfrc"), "pacing"),
    ],
    ids=["window", "receiver", "application", "pacing", "stream"],
)
def test_the_known_limit_of_a_flow_is_the_largest(scenario: tw.Scenario, limit: str) -> None:
    answer = explain(scenario, "bulk")
    name, share = next(iter(answer.limits().items()))
    assert name == limit
    assert share > 0.7
    assert LIMITS[limit] in answer.sentence
    for shares in (answer.limits(), answer.phases()):
        assert sum(shares.values()) == pytest.approx(1)
    assert set(answer.phases()) <= set(PHASES)
    assert answer.active_s == pytest.approx(20, abs=0.1)


@pytest.mark.parametrize("stack", ["quinn", "noq"])
@pytest.mark.parametrize(
    ("flow", "limit"),
    [
        ({"quic": {"receive_window": "100 kB"}}, "flow_control"),
        ({"quic": {"receive_window": "30 kB"}}, "flow_control"),
        ({"quic": {"receive_window": "unlimited"}}, "window"),
        ({"quic": {"receive_window": "1 MB", "send_window": "50 kB"}}, "application"),
        ({"app": {"kind": "requests", "size": "2 kB", "think": "300 ms"}}, "application"),
    ],
    ids=["flow-control", "small-window", "no-flow-control", "send-buffer", "requests"],
)
def test_the_limit_of_a_quic_flow_is_its_window_its_flow_control_or_its_application(
    stack: str, flow: dict[str, Any], limit: str
) -> None:
    tree = alone(stack=stack, **flow).tree
    tree["duration"] = "5 s"
    answer = explain(tw.Scenario.from_tree(tree), "bulk")
    name, share = next(iter(answer.limits().items()))
    assert name == limit, answer.limits()
    assert share > 0.6
    assert LIMITS[limit] in answer.sentence


@pytest.mark.parametrize(
    ("scheme", "counted", "words"),
    [
        ("tfrc", ("reordered",), "overtaken"),
        ("cvihis", ("reordered", "late"), "taken for lost"),
        ("reno", ("spurious",), "spurious"),
    ],
)
def test_reordering_is_said_and_what_of_it_was_taken_for_loss(
    scheme: str, counted: tuple[str, ...], words: str
) -> None:
    tree = alone(scheme=scheme).tree
    tree["topology"]["bottleneck"]["impair"] = {"jitter": "5 ms"}
    answer = explain(tw.Scenario.from_tree(tree), "bulk")
    found = answer.reordering()
    for name in counted:
        assert found[name] > 0, (name, found)
    assert words in answer.sentence
    assert answer.as_json()["reordering"] == found
    in_order = explain(alone(scheme=scheme), "bulk")
    assert in_order.reordering() == {"reordered": 0, "late": 0, "spurious": 0}
    assert in_order.reordering_sentence() is None


def test_a_film_on_an_idle_path_is_limited_by_its_frames() -> None:
    answer = explain(alone(scheme="tfrc", source={"kind": "frames", "rate": "1 Mbit/s"}), "bulk")
    limits = answer.limits()
    # between the packets of a frame the rate limits it
    assert limits.keys() == {"application", "pacing"}
    assert limits["application"] > 0.6
    assert answer.phases().keys() == {"application_limited", "none"}


def test_phases_are_those_of_the_controller_and_of_the_scheme() -> None:
    reno = explain(alone(), "bulk")
    assert reno.phases()["congestion_avoidance"] > 0.7
    assert reno.states() == {}
    assert reno.congestion["loss"] >= reno._row("bulk")["episodes"] > 0
    bbr = explain(alone("8 bdp", scheme="bbr"), "bulk")
    assert next(iter(bbr.states())) == "ProbeBW"
    assert sum(bbr.states().values()) == pytest.approx(1)


def test_the_limits_of_the_phases_add_up_to_those_of_the_flow() -> None:
    answer = explain(alone(tcp={"receive_window": "60 kB"}), "bulk")
    found, phases = answer.limits_by_phase(), answer.phases()
    assert list(found) == list(phases)
    assert all(sum(shares.values()) == pytest.approx(1) for shares in found.values())
    for limit, share in answer.limits().items():
        parts = [phases[phase] * shares.get(limit, 0.0) for phase, shares in found.items()]
        assert sum(parts) == pytest.approx(share)
    assert next(iter(found["opening"])) != "receiver", "the initial window comes first"


def test_a_flow_with_an_end_is_explained_until_its_end() -> None:
    answer = explain(alone(size="1 MB"), "bulk")
    assert answer.active_s == pytest.approx(answer._row("bulk")["fct_s"], rel=0.01)


def test_losses_and_queues_agree_with_the_tables() -> None:
    answer = explain(pair(), "two.1")
    result = answer.result
    assert sum(row["packets"] for row in answer.losses()) == result["flow.two.1.drops"] > 0
    assert answer.losses()[0]["place"] == "link.bottleneck"
    assert sum(answer.queue_shares().values()) == pytest.approx(1)
    waiting = sum(
        row["throughput_bps"] * row["queueing_delay_s"] / 8 for row in result.flows.iter_rows(named=True)
    )
    queue = result.links.filter(result.links["link"] == "bottleneck")["queue_bytes"][0]
    assert waiting == pytest.approx(queue, rel=0.02), "Little's law"


def test_in_one_queue_the_shares_are_those_of_the_throughput() -> None:
    """A limited flow and an unlimited one wait equally long in one FIFO, so that each holds what it sends."""
    tree = alone("2 bdp").tree
    tree |= {"duration": "40 s", "warmup": "5 s"}
    tree["flows"] = [
        {"name": "limited", "scheme": "reno", "tcp": {"receive_window": "40 kB"}},
        {"name": "cubic", "scheme": "cubic"},
    ]
    answer = explain(tw.Scenario.from_tree(tree), "cubic")
    rates = {row["flow"]: row["throughput_bps"] for row in answer.result.flows.iter_rows(named=True)}
    shares = answer.queue_shares()
    assert rates["limited"] < 0.6 * rates["cubic"]
    for flow, share in shares.items():
        assert share == pytest.approx(rates[flow] / sum(rates.values()), abs=0.01), flow
    assert f"{100 * shares['cubic']:.0f} % of the bytes in queues" in answer.sentence
    counted, whole = (sum(row["packets"] for row in answer.losses(since)) for since in (5.0, 0.0))
    assert whole > counted == answer.result["flow.cubic.drops"], "the tables begin after the warm-up"
    assert f"{whole} of its packets are dropped, {whole - counted} of them in the warm-up" in answer.sentence


def test_the_figure_shows_who_filled_the_queues() -> None:
    tree = pair().tree
    tree["flows"][1]["count"] = 9
    answer = explain(tw.Scenario.from_tree(tree), "two.9")
    held, goodputs = answer.queue_shares(), answer.goodputs()
    rows = answer.holders()
    assert [name for name, _, _ in rows if name == "two.9"] == ["two.9"]
    assert rows[-1][0] == "3 others"
    assert sum(share for _, share, _ in rows) == pytest.approx(1)
    assert sum(share for _, _, share in rows) == pytest.approx(1)
    queue, goodput = answer.plot().axes[1].containers
    for (name, _, _), bar, other in zip(rows[:-1], queue, goodput, strict=False):
        assert bar.get_width() == pytest.approx(100 * held[name])
        assert other.get_width() == pytest.approx(100 * goodputs[name] / sum(goodputs.values()))
    bold = [
        label.get_text()
        for label in answer.plot().axes[1].get_yticklabels()
        if label.get_fontweight() == "bold"
    ]
    assert bold == ["two.9"]
    stream = explain(alone(scheme="tfrc"), "bulk").plot().axes[0]
    assert stream.get_ylabel() == "allowed rate (Mbit/s)", "it has no window"
    assert max(stream.lines[0].get_ydata()) > 5, "the line of a scheme that fills 10 Mbit/s"
    idle = explain(alone(size="1 kB"), "bulk")
    assert idle.holders() == []
    assert len(idle.plot().axes) == 1, "nothing waited"


def test_the_repetition_is_the_run(tmp_path: Path) -> None:
    run = pair().run(seed=5, out=tmp_path / "run")
    answer = explain(tw.Result.load(tmp_path / "run"), "one")
    assert answer.result.trace_hash == run.trace_hash
    assert answer.result.seed == 5
    assert answer.goodputs()["one"] == run["flow.one.goodput"]


def test_the_command_explains_a_folder_and_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair().run(out=tmp_path / "run")
    assert call(["explain", str(tmp_path / "run"), "--flow", "one"]) == 0
    said = capsys.readouterr().out
    assert "of its time it is limited by" in said
    assert "Phases, and what limited it in each" in said
    assert "congestion avoidance" in said
    assert "link.bottleneck" in said
    assert "<svg" in (tmp_path / "run" / "explain-one.svg").read_text("utf-8")
    file = tmp_path / "pair.toml"
    file.write_text(pair().toml)
    assert call(["explain", str(file), "--flow", "two.2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["flow"] == "two.2"
    assert sum(told["limits"].values()) == pytest.approx(1)
    assert Path(told["figure"]).exists()


def test_the_command_explains_a_flow_with_a_scheme_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scheme = tmp_path / "halving.py"
    starter = Path(tw.__file__).with_name("starters") / "scheme.py"
    scheme.write_text(starter.read_text("utf-8").replace("MyScheme", "HalvingToExplain"), encoding="utf-8")
    file = tmp_path / "pair.toml"
    file.write_text(pair().toml.replace('"cubic"', '"halving_to_explain"'))
    assert call(["explain", str(file), "--flow", "one"]) == 2
    assert "halving_to_explain" in capsys.readouterr().err
    assert call(["explain", str(file), "--flow", "one", "--scheme-file", str(scheme), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["flow"] == "one"


def test_mistakes_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ResultError, match=r"no flow 'onne'; did you mean one"):
        explain(pair(), "onne")
    plain = alone(scheme=None, source={"kind": "constant", "rate": "1 Mbit/s"}).tree
    del plain["flows"][0]["scheme"]
    with pytest.raises(ResultError, match="no congestion controller"):
        explain(tw.Scenario.from_tree(plain), "bulk")
    run = pair().run()
    run.record["emulation"] = {"valid": True}
    with pytest.raises(ResultError, match="cannot be repeated"):
        explain(run, "one")
    assert call(["explain", str(tmp_path), "--flow", "one"]) == 2
    assert "is an empty folder" in capsys.readouterr().err


def test_a_flow_without_spans_has_an_answer_and_a_figure() -> None:
    answer = explain(alone(), "bulk")
    empty = replace(answer, spans=answer.spans.clear())
    assert (empty.active_s, empty.phases(), empty.limits_by_phase()) == (0.0, {}, {})
    assert len(empty.plot().axes) == 2


def test_causes_have_colours_of_their_own_that_can_be_seen() -> None:
    from thalweg import plots
    from thalweg.explanation import CAUSE_COLOURS, CAUSES
    from thalweg.plots._colours import GROUNDS

    causes = {cause for words in CAUSES.values() for cause in words.values()}
    assert causes == set(CAUSE_COLOURS)
    shown = {
        cause: colour for cause, colour in CAUSE_COLOURS.items() if cause != CAUSES["limit"]["flow_control"]
    }
    assert len(set(shown.values())) == len(shown)
    assert plots.COLOURS[1] not in shown.values(), "the colour of data in flight"
    assert min(plots.contrast(colour, ground) for colour in shown.values() for ground in GROUNDS) >= 3


@pytest.mark.parametrize("scheme", ["cubic", "tfrc", "bbr"])
def test_rows_of_the_figure_have_names_and_each_cause_has_one_entry(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    answer = explain(alone(scheme=scheme), "bulk")
    # names of any length leave room for the legend
    other = "another-flow-with-a-very-long-name-of-many-words"
    held = [("bulk", 0.6, 0.5), (f"{other}.1", 0.3, 0.3), (f"{other}.2", 0.1, 0.2)]
    monkeypatch.setattr(type(answer), "holders", lambda _: held)
    figure = answer.plot()
    axes = figure.axes[0]
    rows = [tick.get_text() for tick in figure.axes[1].get_yticklabels()]
    assert len(set(rows)) == len(held), "names that begin alike differ in the figure"
    assert [tick.get_text() for tick in axes.get_yticklabels()][:2] == ["phase", "limit"]
    handles, labels = axes.get_legend_handles_labels()
    assert len(set(labels)) == len(labels)
    faces = [handle.get_facecolor()[0][:3].tolist() for handle in handles if hasattr(handle, "get_hatch")]
    assert len({tuple(face) for face in faces}) == len(faces)
    shares = {bar.get_facecolor()[:3] for bar in figure.axes[1].patches}
    assert len(shares) == 2
    assert not shares & {tuple(face) for face in faces}, "a colour has one meaning in a figure"
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    edge = figure.bbox
    texts = [*axes.get_yticklabels(), *axes.get_legend().get_texts(), *figure.axes[1].get_yticklabels()]
    for box in (text.get_window_extent(renderer) for text in texts if text.get_text()):
        assert edge.x0 <= box.x0 < box.x1 <= edge.x1
        assert edge.y0 <= box.y0 < box.y1 <= edge.y1
