"""The `thalweg` command: exit codes, `--json`, messages, and what it does not import."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import thalweg as tw
from thalweg.cli import VERBS, call
from thalweg.cli.output import CommandError
from thalweg.cli.overrides import parse_params, parse_value

HEAVY = ("polars", "matplotlib", "numpy", "scipy")


def asked(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """The one JSON object that a command prints."""
    assert call([*words, "--json"]) == code, capsys.readouterr()
    answer = json.loads(capsys.readouterr().out)
    assert isinstance(answer, dict)
    return answer


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The message of a command that refuses, which must not be a traceback."""
    assert call(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    return shown.err


def test_clock_measures_every_interval_with_every_method_of_waiting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from thalweg import clocks

    monkeypatch.setattr(clocks, "INTERVALS_S", (1e-5, 1e-3))
    answer = asked(capsys, "clock", "--seconds", "0.02", "--out", str(tmp_path))
    assert [(row["interval_s"], row["way"]) for row in answer["rows"]] == [
        (interval_s, way.name) for interval_s in (1e-5, 1e-3) for way in clocks.WAIT_METHODS
    ]
    for row in answer["rows"]:
        # how many left in time is the machine's business: on a busy one perhaps none
        assert row["wanted"] == round(0.02 / row["interval_s"])
        assert 0 <= row["left"] <= row["wanted"]
        assert row["late_p50_s"] <= row["late_p99_s"] <= row["late_max_s"]
    assert Path(answer["picture"]).read_text().startswith("<svg")
    assert "from 0.01" in refused(capsys, "clock", "--seconds", "0")


def test_clock_checks_its_output_folder_before_it_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from thalweg import clocks

    monkeypatch.setattr(clocks, "pacing", lambda **_: pytest.fail("it measured"))
    file = tmp_path / "file"
    file.write_text("precious")
    assert "File exists" in refused(capsys, "clock", "--out", str(file))


def test_ctrl_c_during_start_up_is_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from thalweg import cli

    def early(_words: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "call", early)
    # a handler that is none of ours stays
    monkeypatch.setattr(signal, "getsignal", lambda _number: None)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_a_table_without_headings_begins_with_its_first_row(capsys: pytest.CaptureFixture[str]) -> None:
    from thalweg.cli.output import print_table

    print_table("", [("what", ""), ("value", "")], [{"what": "bytes", "value": "3 MB"}])
    assert [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()] == [
        ["bytes", "3", "MB"]
    ]


def test_messages_of_the_system_have_no_error_number(capsys: pytest.CaptureFixture[str]) -> None:
    from thalweg.cli.output import print_error

    assert print_error("x: No such file or directory (os error 2)", json=False) == 2
    assert capsys.readouterr().err == "error: x: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("beta", "not KEY=VALUE"),
        ("=1", "not KEY=VALUE"),
        ("betta=0.7", "no such parameter"),
        ("beta=7", "not a value of `beta`"),
        ("beta=nan", "not a value of `beta`"),
        ("beta=true", "not a value of `beta`"),
        ("beta=much", "not a value of `beta`"),
        ("counting=pebbles", "acks"),
    ],
)
def test_invalid_parameters_are_refused_with_the_valid_ones(text: str, said: str) -> None:
    with pytest.raises(CommandError) as refusal:
        parse_params([text], "cubic", "beta=0.8")
    assert said in f"{refusal.value.message} {refusal.value.hint}"


def test_parameters_are_numbers_words_and_quantities() -> None:
    assert parse_params(["beta=0.8", "fast_convergence=false"], "cubic", "") == {
        "beta": 0.8,
        "fast_convergence": False,
    }
    assert parse_params(["mode=background", "initial_rate=1 Mbit/s"], "cvihis", "") == {
        "mode": "background",
        "initial_rate": "1 Mbit/s",
    }


@pytest.mark.parametrize(
    "words", [["--help"], *([verb, "--help"] for verb in VERBS), ["schemes"], ["--version"]]
)
def test_help_and_catalogue_load_no_heavy_library(words: list[str]) -> None:
    program = (
        "import sys\nfrom thalweg.cli import call\n"
        f"assert call({words!r}) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert done.stdout.strip()


def test_help_answers_at_once() -> None:
    # Processor time, so that a busy machine does not matter much; the minimum of three.
    spent = []
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, "-m", "thalweg", "--help"], capture_output=True, check=True)
        after = os.times()
        spent.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
    assert min(spent) < 0.6


def test_run_prints_tables_and_keeps_results(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = small.parent / "results"
    assert call(["run", str(small), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "throughput" in shown
    assert "bottleneck" in shown
    assert "✓ holds" in shown
    assert str(out) in shown
    assert (out / "run.json").is_file()


def test_run_as_json(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(capsys, "run", str(small), "--seed", "9", "--out", str(small.parent / "results"))
    assert answer["seed"] == 9
    assert answer["status"] == "complete"
    assert answer["passed"] is True
    assert answer["flows"][0]["flow"] == "reno"
    assert answer["summary"]["link.bottleneck.utilisation"] > 0.5


def test_equal_seeds_give_equal_traces_from_command_and_python(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import thalweg as tw

    answer = asked(capsys, "run", str(small), "--out", str(small.parent / "results"))
    assert answer["trace_hash"] == tw.load(small).run().trace_hash


def test_set_changes_a_key(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(small.parent / "results")
    changes = ["--set", "topology.bottleneck.rate=2 Mbit/s", "--set", "flows.reno.count=2"]
    answer = asked(capsys, "run", str(small), *changes, "--out", out)
    assert [flow["flow"] for flow in answer["flows"]] == ["reno.1", "reno.2"]
    bottleneck = next(row for row in answer["links"] if row["link"] == "bottleneck")
    assert bottleneck["rate_bps"] == 2e6


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ("1 bdp", "1 bdp"),
        ("[1, 2]", [1, 2]),
        ("reno", "reno"),
        ("2020-01-01", "2020-01-01"),
    ],
)
def test_values_of_set_are_read_as_toml_or_text(text: str, value: object) -> None:
    assert parse_value(text) == value


def test_an_expectation_that_fails_gives_exit_code_1(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small.write_text(small.read_text().replace(">= 0.5", ">= 1.5"), encoding="utf-8")
    out = small.parent / "results"
    assert call(["run", str(small), "--out", str(out)]) == 1
    assert "✗ fails" in capsys.readouterr().out
    assert asked(capsys, "run", str(small), "--out", str(out), code=1)["passed"] is False


def test_a_sweep_runs_every_cell_with_every_seed(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small.open("a", encoding="utf-8") as file:
        file.write('\n[sweep]\n"topology.bottleneck.buffer" = ["0.5 bdp", "2 bdp"]\n')
    out = small.parent / "sweep"
    answer = asked(capsys, "run", str(small), "--runs", "2", "--jobs", "2", "--out", str(out))
    assert [(run["values"], run["seed"]) for run in answer["runs"]] == [
        ({"topology.bottleneck.buffer": buffer}, seed) for buffer in ("0.5 bdp", "2 bdp") for seed in (3, 4)
    ]
    assert (out / "summary.parquet").is_file()
    assert call(["run", str(small), "--runs", "2", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "0.5 bdp" in shown
    assert "±" in shown


def test_jobs_do_not_change_results(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hashes = [
        [
            run["trace_hash"]
            for run in asked(
                capsys, "run", str(small), "--runs", "3", "--jobs", jobs, "--out", str(small.parent / jobs)
            )["runs"]
        ]
        for jobs in ("1", "2")
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == 3


def test_check_prints_the_plan_with_relative_units_filled_in(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asked(capsys, "check", str(small))
    assert answer["duration_s"] == 4.0
    assert "bdp" not in json.dumps(answer["plan"]["topology"])
    assert call(["check", str(small)]) == 0
    assert 'title = "One Reno flow"' in capsys.readouterr().out


def test_check_takes_set_as_run_does(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(capsys, "check", str(small), "--set", "flows.reno.count=3", "--set", "duration=2 s")
    assert answer["duration_s"] == 2.0
    assert len(answer["plan"]["flows"]) == 3
    assert "did you mean `duration`" in refused(capsys, "check", str(small), "--set", "duraton=2 s")


def test_check_lists_the_names_that_generators_give(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = asked(capsys, "check", str(small), "--set", "flows.reno.count=3")
    left, right = ([f"{side}{n}" for n in (1, 2, 3)] for side in ("left", "right"))
    assert answer["nodes"] == [*left, "router_left", "router_right", *right]
    assert answer["links"] == ["bottleneck", *left, *right]
    assert call(["check", str(small), "--set", "flows.reno.count=3"]) == 0
    shown = capsys.readouterr().out
    assert "# nodes: left1 … left3, router_left, router_right, right1 … right3\n" in shown
    assert "# links: bottleneck, left1 … left3, right1 … right3\n" in shown
    assert tw.Scenario.from_toml(shown).plan().seed == answer["seed"]


def test_warnings_are_printed_once_are_in_the_json_and_change_no_exit_code(
    small: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    late = ["--set", "record.every='1 h'"]
    for words in (
        ["check", str(small), *late],
        ["run", str(small), *late, "--out", str(tmp_path / "one")],
        ["run", str(small), *late, "--out", str(tmp_path / "many"), "--runs", "2"],
    ):
        assert call(words) == 0
        shown = capsys.readouterr()
        assert shown.err.count("nothing is recorded") == 1
        assert "record.every" in shown.err
        assert "1 warning: the scenario runs nevertheless" in shown.err
        (warning,) = asked(capsys, *words)["warnings"]
        assert warning["key"] == "record.every"
        assert warning["line"] is not None
        assert "shorter interval" in warning["hint"]
        assert capsys.readouterr().err == ""
    assert asked(capsys, "check", str(small))["warnings"] == []


def test_every_help_text_begins_with_a_verb_and_exit_codes_are_stated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    verbs = {
        *(
            "Check",
            "Compare",
            "Fetch",
            "Find",
            "Forward",
            "Give",
            "Ignore",
            "Import",
            "Control",
            "Do",
            "Listen",
            "List",
            "Log",
        ),
        *("Measure", "Poll", "Print", "Read", "Remove", "Report", "Reproduce", "Run", "Serve", "Set", "Show"),
        *("Start", "Stop", "Study", "Use", "Watch", "Write"),
    }
    nouns = {"Path", "Name", "Address"}
    for module, name in (
        *(
            (verb, verb)
            for verb in ("check", "clock", "doctor", "emulate", "metrics", "new", "reproduce", "run")
        ),
        *((verb, verb) for verb in ("schema", "schemes", "trace")),
        *(("ndn", verb) for verb in ("get", "put")),
        ("ndn_control", "control"),
        ("ndn_forward", "forward"),
    ):
        function = getattr(importlib.import_module(f"thalweg.cli.{module}"), name)
        about, _, options = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
        assert about.split()[0] in verbs, (name, about)
        lines = options.splitlines()
        for option, line in pairwise(lines):
            if not option.startswith(" ") and line.startswith(" "):
                assert line.split()[0] in verbs | nouns, (name, option, line)
    ndn = (["ndn", verb] for verb in ("get", "put", "forward", "control"))
    for command in (["run"], ["check"], ["emulate"], ["reproduce"], ["doctor"], *ndn):
        assert call([*command, "--help"]) == 0
        assert "Exit codes" in capsys.readouterr().out


def test_report_writes_one_page_that_loads_nothing(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = small.parent / "results"
    assert call(["run", str(small), "--out", str(out)]) == 0
    capsys.readouterr()
    answer = asked(capsys, "report", str(out))
    page = Path(answer["report"]).read_text(encoding="utf-8")
    assert page.count("<svg") >= 4
    assert "Over time" in page
    for sign in ("<script src", "<link", "url(http", "@import", 'src="http'):
        assert sign not in page


def test_compare_puts_runs_side_by_side_and_warns(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(small.parent / name) for name in ("one", "two")]
    assert call(["run", str(small), "--out", folders[0]]) == 0
    assert call(["run", str(small), "--set", "topology.bottleneck.delay=40 ms", "--out", folders[1]]) == 0
    capsys.readouterr()
    page = small.parent / "compare.html"
    answer = asked(capsys, "compare", *folders, "--out", str(page))
    assert "topology" in answer["warnings"][0]
    metric = next(row for row in answer["metrics"] if row["metric"] == "flows.reno.rtt")
    assert metric["values"]["two"] > metric["values"]["one"] + 50
    assert page.is_file()
    assert call(["compare", *folders, "--out", str(page)]) == 0
    shown = capsys.readouterr()
    assert "warning: the scenario of two differs from that of one" in shown.err
    assert "flows.reno.rtt" in shown.out


def test_reproduce_judges_the_claims_of_a_figure_and_writes_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mca"
    words = ["reproduce", "mca", "--figure", "figure-8", "--quick", "--out", str(out)]
    answer = asked(capsys, *words)
    assert {"id", "source", "statement", "expected", "measured", "ci95", "n", "verdict", "reason"} <= set(
        answer["claims"][0]
    )
    assert {claim["verdict"] for claim in answer["claims"]} <= {
        "reproduced",
        "partly",
        "not reproduced",
        "not testable",
    }
    assert Path(answer["report"]).is_file()
    assert call(words) == 0
    shown = capsys.readouterr().out
    assert answer["claims"][0]["id"] in shown
    assert "report.html" in shown.replace("\n", "")


def test_reproduce_one_claim_runs_what_it_needs_and_judges_it_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "mca", "--claim", "s004-15", "--quick", "--out", str(tmp_path)]
    answer = asked(capsys, *words)
    assert [claim["id"] for claim in answer["claims"]] == ["S004-15"]
    assert answer["claim"] == "S004-15"
    assert not answer["figures"]
    assert {run["experiment"] for run in answer["runs"]} == {"one bottleneck"}
    assert "Only what S004-15 needs was run" in " ".join(answer["notes"])
    assert call(["reproduce", "mca", "--claim", "S004-99"]) == 2
    assert "did you mean S004-" in capsys.readouterr().err
    assert call(["reproduce", "mca", "--claim", "S004-15", "--figure", "8"]) == 2
    assert "exclude each other" in capsys.readouterr().err


def test_reproduce_all_has_the_counts_of_every_paper_in_one_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from thalweg import papers

    mca, comparison = papers.find("mca"), papers.find("scaling")

    class OneFigure:
        name, of_paper = "mca", True

        def reproduce(self, **settings: Any) -> Any:
            return mca.reproduce(figure="figure-8", **settings)

    monkeypatch.setattr(papers, "names", lambda: ["mca", "scaling"])
    monkeypatch.setattr(papers, "find", lambda name: OneFigure() if name == "mca" else comparison)
    words = ["reproduce", "--all", "--quick", "--out", str(tmp_path)]
    answer = asked(capsys, *words)
    assert list(answer["papers"]) == ["mca"]
    counts = answer["papers"]["mca"]
    assert {
        *("reproduced", "partly", "not", "untestable", "by_construction", "fitted", "mutants_killed"),
    } <= set(counts)
    killed, total = map(int, counts["mutants_killed"].split("/"))
    assert 0 < killed <= total
    assert counts["no_mutant_kills"] == []
    assert Path(counts["report"]) == tmp_path / "mca" / "report.html"
    assert Path(answer["report"]) == tmp_path / "papers.html"
    assert 'data-paper="mca"' in (tmp_path / "papers.html").read_text(encoding="utf-8")
    assert call(words) == 0
    assert f"{killed}/{total}" in capsys.readouterr().out


def test_schemes_lists_and_shows(capsys: pytest.CaptureFixture[str]) -> None:
    names = [row["name"] for row in asked(capsys, "schemes")["schemes"]]
    assert {"reno", "mca"} <= set(names)
    scheme = asked(capsys, "schemes", "mca")["scheme"]
    assert {"name", "doc", "kind", "default", "range", "source"} <= set(scheme["params"][0])
    assert call(["schemes", "mca"]) == 0
    assert "keep_loss" in capsys.readouterr().out
    assert call(["schemes", "mircc"]) == 0
    assert "stamping_rate" in capsys.readouterr().out
    strategy = asked(capsys, "schemes", "asf")["strategy"]
    assert "probing_interval" in [row["name"] for row in strategy["params"]]
    assert call(["schemes", "asf"]) == 0
    assert 'strategy = "asf" under [ndn]' in capsys.readouterr().out


def test_trace_lists_the_models_and_writes_one_that_a_link_follows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = asked(capsys, "trace")["models"]
    assert len(models) == 13
    assert call(["trace"]) == 0
    assert "lte_driving" in capsys.readouterr().out
    assert call(["trace", "dsl"]) == 0
    assert capsys.readouterr().out.startswith("time_s,rate_bps\n0.000,16000000\n")
    written = asked(
        capsys, "trace", "leo", "--seed", "3", "--format", "mahimahi", "--out", str(tmp_path / "leo.up")
    )
    assert written == {"model": "leo", "seed": 3, "format": "mahimahi", "file": str(tmp_path / "leo.up")}
    times = [int(line) for line in (tmp_path / "leo.up").read_text(encoding="utf-8").splitlines()]
    assert times == sorted(times)
    assert times[-1] == 600_000
    scenario = tmp_path / "leo.toml"
    scenario.write_text(
        'duration = "1 s"\n[topology]\nkind = "dumbbell"\nbottleneck = { trace = "leo.up", delay = "20 ms" }\n'
        '[[flows]]\nname = "one"\nscheme = "cubic"\n',
        encoding="utf-8",
    )
    links = asked(capsys, "check", str(scenario))["plan"]["topology"]["links"]
    assert [link["trace"] for link in links if "trace" in link] == ["leo.up"]


def test_systems_without_public_rules_are_listed_and_have_no_scheme(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = asked(capsys, "schemes")
    rows = answer["systems"]
    names = [row["name"] for row in rows]
    assert names == sorted(names)
    assert {"GMCC", "ERMCC", "R-COPSS", "GSC", "LE-SBCC", "RMTPSI", "LQCC", "CM2"} <= set(names)
    assert all(
        set(row) == {"name", "text", "named_by", "known", "missing"} and all(row.values()) for row in rows
    )
    built = {row["name"] for row in answer["schemes"]}
    assert not built & {name.lower().replace("-", "_") for name in names}
    assert call(["schemes"]) == 0
    assert "R-COPSS" in capsys.readouterr().out


def test_schema_metrics_doctor_and_new_answer_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "properties" in asked(capsys, "schema")
    file = tmp_path / "scenario.schema.json"
    assert asked(capsys, "schema", "--out", str(file)) == {"file": str(file)}
    assert json.loads(file.read_text())
    assert {row["table"] for row in asked(capsys, "metrics", "flows")["metrics"]} == {"flows"}
    assert asked(capsys, "doctor")["can"]["simulate, draw, report"] is True
    assert asked(capsys, "new", str(tmp_path / "mine.toml")) == {"file": str(tmp_path / "mine.toml")}


def test_the_scenario_to_start_from_meets_its_own_expectations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    assert call(["new", str(file)]) == 0
    assert call(["run", str(file), "--out", str(tmp_path / "results")]) == 0
    assert "overwritten" in refused_after(capsys, "new", str(file))


def test_every_scenario_to_begin_with_is_listed_and_runs(tmp_path, capsys):
    listed = asked(capsys, "new", "--list")["scenarios"]
    assert [row["name"] for row in listed] == ["tcp", "sweep", "call", "multicast"]
    assert all(row["question"].endswith("?") for row in listed)
    for row in listed:
        file = tmp_path / f"{row['name']}.toml"
        assert call(["new", str(file), "--like", row["name"]]) == 0
        scenario = tw.load(file)
        assert scenario.warnings == []
        assert scenario.with_({"duration": "2 s", "warmup": "0 s"}).run().flows.height > 0
    assert "did you mean `call`?" in refused_after(capsys, "new", str(tmp_path / "x.toml"), "--like", "cal")


def refused_after(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """As `refused`, forgetting what was printed before."""
    capsys.readouterr()
    return refused(capsys, *words)


def test_a_broken_scenario_is_a_message_with_its_place(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write_text(small.read_text().replace('rate = "5 Mbit/s"', 'rte = "5 Mbit/s"'), encoding="utf-8")
    for verb in ("run", "check"):
        message = refused(capsys, verb, str(small))
        assert "rte" in message
        assert "rate" in message
        assert f"{small}:9:" in message or "small.toml:9" in message
    problems = asked(capsys, "run", str(small), code=2)["error"]["problems"]
    assert problems[0]["line"] == 9
    assert problems[0]["hint"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["check", "nowhere.toml"], "nowhere.toml"),
        (["rn"], "run"),
        (["run"], "SCENARIO"),
        (["schemes", "rno"], "did you mean `reno`?"),
        (["trace", "lte_drivin"], "did you mean `lte_driving`?"),
        (["trace", "leo", "--seed", "-1"], "out of range"),
        (["metrics", "througput_bps"], "did you mean `throughput_bps`?"),
        (["metrics", "orders_repeated"], "`orders_repeated` was renamed to `commands_retransmitted`"),
        (["reproduce", "mac"], "mca"),
        (["reproduce"], "--all"),
        (["reproduce", "mca", "--all"], "thalweg reproduce --all"),
        (["reproduce", "--all", "--figure", "8"], "thalweg reproduce --all"),
        (["reproduce", "mca", "--figure", "figure-99"], "figure-8"),
        (["reproduce", "named-dat"], "named-data"),
        (["reproduce", "mca", "--jobs", "0"], "at least one"),
        (["report", "nowhere"], "nowhere"),
        (["compare", "nowhere"], "two runs"),
        (["compare", "nowhere", "neither"], "nowhere"),
        (["doctor", "--jsn"], "Did you mean"),
    ],
)
def test_errors_of_users_are_messages_with_exit_code_2(
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, *words)
    error = asked(capsys, *words, code=2)["error"] if "--jsn" not in words else {"message": said}
    assert error["message"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "duration"], "KEY=VALUE"),
        (["--set", "flows.cubic.count=2"], "reno"),
        (["--set", "duration=5"], "unit"),
        (["--set", "topology.nodes=[2020-01-01]"], "not date"),
        (["--jobs", "0"], "at least one"),
        (["--runs", "0"], "at least one"),
        (["--seed", "first"], "first"),
        (["--seed", "-1"], "from 0"),
        (["--seed", "99999999999999999999999"], "from 0"),
    ],
)
def test_options_of_run_that_make_no_sense_are_refused(
    words: list[str], said: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, "run", str(small), *words)


@pytest.mark.parametrize("name", ["run.json", "sweep.json", "reproduction.json"])
@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_folder_that_was_spoiled_is_refused(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert str(tmp_path) in refused(capsys, "report", str(tmp_path))


def test_a_sweep_has_a_page_of_its_own(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with small.open("a", encoding="utf-8") as file:
        file.write('\n[sweep]\n"topology.bottleneck.buffer" = ["0.5 bdp", "2 bdp"]\n')
    out = small.parent / "sweep"
    assert call(["run", str(small), "--runs", "2", "--out", str(out)]) == 0
    capsys.readouterr()
    page = Path(asked(capsys, "report", str(out))["report"]).read_text(encoding="utf-8")
    assert "2 points of a grid over topology.bottleneck.buffer, 4 runs" in page
    assert page.count("<figure>") >= 2
    (out / "sweep.json").unlink()
    assert "runs below it" in refused_after(capsys, "report", str(out))


def test_ctrl_c_keeps_the_results_so_far(small: Path) -> None:
    text = small.read_text().replace('"4 s"', '"100000 s"').replace('"5 Mbit/s"', '"500 Mbit/s"')
    small.write_text(text, encoding="utf-8")
    out = small.parent / "results"
    words = [
        sys.executable,
        "-m",
        "thalweg",
        "run",
        str(small),
        "--out",
        str(out),
        "--set",
        'record.every="10 s"',
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        assert "real time" in run.stderr.readline()  # it is well under way
        run.send_signal(signal.SIGINT)
        shown, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    assert "Traceback" not in errors
    assert "interrupted" in shown
    assert json.loads((out / "run.json").read_text())["status"] == "interrupted"
    assert (out / "flows.parquet").is_file()


@pytest.mark.parametrize(
    "words",
    [["schemes"], ["schemes", "--json"], ["metrics"], ["schema"], ["--help"], ["run", "--help"], ["doctor"]],
)
def test_a_reader_that_closes_the_pipe_is_no_error(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "thalweg", *words], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("words", [[], ["--json"], ["--runs", "2", "--json"]])
def test_a_run_whose_output_is_not_read_to_its_end_keeps_its_results(words: list[str], small: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    out = small.parent / "results"
    done = subprocess.run(
        [sys.executable, "-m", "thalweg", "run", str(small), "--out", str(out), *words],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")
    assert (out / ("sweep.json" if "--runs" in words else "run.json")).is_file()


SHORT = """
[[flows]]
name     = "short"
scheme   = "reno"
arrivals = { rate = 100.0, size = "3 kB" }

[sweep]
"topology.bottleneck.buffer" = ["0.5 bdp", "1 bdp", "2 bdp"]
"""


def test_the_json_of_a_sweep_is_bounded_and_names_the_tables_that_have_the_rest(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import polars

    with small.open("a", encoding="utf-8") as file:
        file.write(SHORT)
    words = ["run", str(small), "--out", str(small.parent / "sweep"), "--json"]
    assert call(words) == 0
    shown = capsys.readouterr().out
    assert len(shown) < 10_000
    answer = json.loads(shown)
    assert "link.bottleneck.utilisation" in answer["metrics"]
    assert [list(run["summary"]) for run in answer["runs"]] == [answer["metrics"]] * 3
    assert len(answer["summary"]) == 3 * len(answer["metrics"])
    every = polars.read_parquet(answer["tables"]["summary"])
    assert every.height > 3 * 300 * 20
    flows = polars.read_parquet(Path(answer["runs"][0]["folder"]) / "flows.parquet")
    assert flows.height > 200


def test_the_json_of_a_run_with_many_flows_is_bounded_and_counts_omitted_rows(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import polars

    from thalweg.cli.json_output import MAX_ROWS

    with small.open("a", encoding="utf-8") as file:
        file.write(SHORT)
    answer = asked(capsys, "run", str(small), "--no-sweep", "--out", str(small.parent / "results"))
    assert len(answer["flows"]) == MAX_ROWS
    flows = polars.read_parquet(answer["tables"]["flows"])
    assert flows.height == MAX_ROWS + answer["left_out"]["flows"]
    named = {key.removeprefix("flow.").rpartition(".")[0] for key in answer["summary"] if key[:5] == "flow."}
    assert named == set(flows["flow"][:MAX_ROWS])
    assert "flows.short.throughput" in answer["summary"]
    every = polars.read_parquet(answer["tables"]["summary"])
    assert every.height == len(answer["summary"]) + answer["left_out"]["summary"]
