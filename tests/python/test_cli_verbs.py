"""The other verbs of `thalweg`: reports, papers, catalogues, measurements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import thalweg as tw
from cli_calls import asked, refused, refused_after
from thalweg.cli import MODULES, VERBS, call
from thalweg.cli.usage import usage


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
    assert {
        "id",
        "source",
        "statement",
        "expected",
        "measured",
        "low",
        "high",
        "limit",
        "n",
        "verdict",
        "reason",
    } <= set(answer["claims"][0])
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
    assert "Only claim S004-15 was judged" in " ".join(answer["notes"])
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
    assert 'href="mca/report.html' in (tmp_path / "papers.html").read_text(encoding="utf-8")
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


@pytest.mark.parametrize("ending", ["csv", "CSV", "tsv", "json", "xlsx", "parquet"])
def test_a_figure_is_not_written_to_a_file_of_numbers(
    small: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb, option in (
        (["plot", str(small), "queue"], "--csv"),
        (["explain", str(small), "--flow", "none"], "--json"),
    ):
        assert call([*verb, "--out", f"x.{ending}"]) == 2
        told = capsys.readouterr().err
        assert option in told
        assert ".svg" in told


@pytest.mark.parametrize(("name", "hint"), [("mine.py", "--like scheme"), ("mine", "as in mine.toml")])
def test_a_scenario_is_not_written_to_a_file_of_another_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, hint: str
) -> None:
    said = refused_after(capsys, "new", str(tmp_path / name))
    assert "ends in .toml" in said
    assert hint in said
    assert not (tmp_path / name).exists()


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


def test_a_command_without_its_name_lists_the_names(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, swept = str(small.parent / "results"), str(small.parent / "swept")
    assert call(["run", str(small), "--out", out]) == 0
    assert call(["run", str(small), "--runs", "3", "--out", swept]) == 0
    said = refused_after(capsys, "plot", out)
    assert "`thalweg plot` needs WHAT" in said
    assert f"`thalweg plot {out} rate`; its series are backlog, rate, window" in said
    said = refused(capsys, "plot", swept)
    assert "its metrics are" in said
    assert "link.bottleneck.utilisation" in said
    said = refused(capsys, "explain", out)
    assert f"`thalweg explain {out} --flow reno`; the flows are reno" in said
    # as people write it first
    assert "--flow reno`" in refused(capsys, "explain", out, "reno")
    assert "the flows are reno" in refused(capsys, "explain", str(small))
    said = refused(capsys, "report", out, swept)
    assert f"`thalweg compare {out} {swept}`" in said
    answer = asked(capsys, "plot", out, code=2)
    assert "its series are" in answer["error"]["hint"]


@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"ndn"}))
def test_every_command_says_how_it_is_written(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib

    word = MODULES.get(verb, verb)
    written = usage(verb, getattr(importlib.import_module(f"thalweg.cli.{word}"), word))
    assert written.startswith(f"thalweg {verb}")
    needed = written.split()[2:]
    if not needed or needed[0].startswith("[") or needed[1:2] == ["…"]:
        return
    said = refused(capsys, verb)
    assert f"`thalweg {verb}` needs {needed[0]}" in said
    assert f"`{written}`" in said
