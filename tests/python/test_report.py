"""Pages: what they show, that they ask for nothing, that the same input gives the same page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars
import pytest

import thalweg as tw
from cli_calls import asked
from conftest import ROOT
from thalweg import plots, report
from thalweg.cli import call
from thalweg.event_labels import event_labels, event_marks
from thalweg.report import network, save_papers, save_reproduction, write
from thalweg.report._charts import _common_warmup
from thalweg.report._compare import page as compare_page
from thalweg.report._page import (
    SETTLED,
    VERDICTS,
    WORST_FIRST,
    by_verdict,
    cell,
    numeric_columns,
    part,
    template_macro,
    with_units_kept,
)
from thalweg.report._run import lead
from thalweg.report._width import NAMES, divided, width_of
from thalweg.report._width import PAGE as WIDTH_OF_PAGE
from thalweg.report.columns import TABLES, by_importance, expected_text, table_rows, unit_of
from thalweg.report.comparison import by_scenario, differences, names, path_ends
from thalweg.report.numbers import number
from thalweg.report.sweep_index import _spans
from thalweg.report.sweep_rows import same_everywhere
from thalweg.report.sweeps import MAX_SEEDS, _durations, _seeds

VOID = {"meta", "input", "br", "hr", "img", "link", "wbr"}


class Tags(HTMLParser):
    """Checks that every element is closed, and collects ids and addresses."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.addresses += [value for name, value in attrs if name in {"href", "src"} and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def claim(number: int, verdict: str, **more: Any) -> dict[str, Any]:
    """A row of the claims table."""
    return {
        "id": f"S-{number:02}",
        "kind": "N",
        "source": "§4.1",
        "statement": f"Statement {number} with <angles> & ampersands.",
        "expected": "500 kbit/s",
        "measured": 498.21,
        "unit": "kbit/s",
        "low": 496.96,
        "high": 499.46,
        "n": 5,
        "checks": [
            {
                "check": "rate_kbps in 450..550",
                "mean": 498.21,
                "holds": True,
                "text": "rate 498.2 ± 1.2 kbit/s, limit 450 to 550 kbit/s",
            },
            {"check": "drops <= 0", "mean": 3.0, "holds": False, "text": "drops 3 ± 1, limit ≤ 0"},
        ],
        "verdict": verdict,
        "reason": None if verdict == "reproduced" else "because <this>",
        "evidence": "independent",
        "ratios": {"rate_kbps": 0.996},
        **more,
    }


@pytest.fixture
def reproduction() -> Any:
    """What a paper's reproduction leaves, in small."""
    frame = polars.DataFrame({"time_s": [0.0, 1.0, 2.0], "rate_kbps": [100.0, 400.0, 500.0]})
    table = SimpleNamespace(title="rate", frame=lambda: frame)
    rows = polars.DataFrame({"case": ["one", "two"], "rate_kbps": [1.5, None]})
    series = frame.select(
        "time_s",
        polars.lit("flow.mca").alias("subject"),
        polars.lit("rate").alias("series"),
        (polars.col("rate_kbps") * 1e3).alias("value"),
    )
    claims = [
        claim(1, "reproduced"),
        claim(2, "partly", evidence="fitted", why="chose the <period>", changed="was x in 1..9"),
        claim(3, "not reproduced", ratios={"one": 1.25, "other": None}),
        claim(4, "not testable", measured=None, low=None, high=None, checks=[], n=0, ratios={}),
    ]
    figure = SimpleNamespace(
        title="Rates of one flow",
        caption="Rates <over> time.",
        svg=plots.svg(plots.series(series, "rate")),
        tables={"rate": table},
    )
    done = SimpleNamespace(
        claims=claims,
        figures={"figure-8": figure, "figure-9": figure},
        tables={"table-1": SimpleNamespace(title="Table 1", frame=lambda: rows)},
    )
    done.as_dict = lambda: {
        "paper": "mca",
        "title": "A paper",
        "quick": True,
        "seed": 1,
        "counts": {"reproduced": 1, "partly": 0, "not": 1, "untestable": 1, "mutants_killed": "20/24"},
        "summary": ["Results: one <of> three.", "Fitted: none."],
        "by_evidence": {
            "independent": {"reproduced": 1, "partly": 0, "not reproduced": 1, "not testable": 1},
            "fitted": {"reproduced": 0, "partly": 1, "not reproduced": 0, "not testable": 0},
            "derived": {"reproduced": 5, "partly": 0, "not reproduced": 0, "not testable": 0},
        },
        "no_mutant_kills": ["S-03"],
        "notes": ["a note"],
        "choices": {"period": "counted from the last cut"},
        "claims": claims,
        "figures": [
            {"id": name, "title": plate.title, "caption": plate.caption}
            for name, plate in done.figures.items()
        ],
        "tables": [{"id": "table-1", "title": "Table 1", "rows": rows.to_dicts()}],
        "runs": [
            {"experiment": "star", "variant": "lossy", "seed": 1, "trace_hash": "00ff", "packet_hops": 12}
        ],
    }
    return done


def test_the_page_of_a_paper_shows_every_claim_with_its_verdict(reproduction: Any, tmp_path: Path) -> None:
    save_reproduction(reproduction, tmp_path)
    page = write(tmp_path).read_text(encoding="utf-8").replace("\u00a0", " ")
    tags = Tags(page)
    assert {"S-01", "S-02", "S-03", "S-04", "figure-8", "table-1", "method"} <= set(tags.ids)
    assert len(re.findall(r'<tr data-verdict="not reproduced"', page)) == 1
    assert "Statement 1 with &lt;angles&gt; &amp; ampersands." in page
    # what does not hold first
    assert (
        "<div>drops 3 ± 1, limit ≤ 0</div><div>rate 498.2 ± 1.2 kbit/s, limit 450 to 550 kbit/s</div><small>n&nbsp;=&nbsp;5"
        in page
    )
    assert "Figure 8: Rates of one flow" in page
    assert "rate <small>(kbit/s)</small>" in page
    assert "because &lt;this&gt;" in page
    assert '<p class="warn">a note</p>' in page
    assert "thalweg reproduce mca --seed 1 --quick" in page
    assert "1 of the 2 statements of the paper that can be tested are reproduced." in page
    assert '<span class="chip">fitted</span>' in page
    assert "<li>Results: one &lt;of&gt; three.</li><li>Fitted: none.</li>" in page
    assert "Evidence: chose the &lt;period&gt;" in page
    assert "Check changed: was x in 1..9" in page
    assert "1.25, –" in page


@pytest.mark.parametrize(
    ("verdicts", "groups"),
    [
        (["reproduced", "partly"] * 5, []),
        (["reproduced", "partly"] * 6, ["partly", "reproduced"]),
        (["pass"] * 11, ["pass"]),
        (["fail"] * 11, []),
        (
            [*["pass"] * 9, "not testable", "fails", "undecided"],
            ["fails", "undecided", "not testable", "pass"],
        ),
    ],
)
def test_many_rows_are_together_by_verdict_the_worst_first(verdicts: list[str], groups: list[str]) -> None:
    rows = [{"verdict": verdict, "number": number} for number, verdict in enumerate(verdicts)]
    found = by_verdict(rows)
    assert [verdict for verdict, _ in found] == groups
    for verdict, among in found:
        assert among == [row for row in rows if row["verdict"] == verdict]


def test_every_verdict_has_its_place() -> None:
    assert set(WORST_FIRST) == set(VERDICTS)
    assert {verdict for verdict, (kind, _) in VERDICTS.items() if kind in ("good", "none")} == SETTLED


def test_a_page_of_the_first_format_counts_all_claims_equally(reproduction: Any, tmp_path: Path) -> None:
    save_reproduction(reproduction, tmp_path)
    file = tmp_path / "reproduction.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    record["counts"] = {"reproduced": 1, "partly": 1, "not reproduced": 1, "not testable": 1}
    del record["by_evidence"], record["no_mutant_kills"]
    for row in record["claims"]:
        del row["evidence"], row["ratios"]
    file.write_text(json.dumps(record), encoding="utf-8")
    page = write(tmp_path).read_text(encoding="utf-8")
    assert "1 of the 3 statements of the paper that can be tested are reproduced." in page
    assert "mutants" not in page


def test_a_page_loads_nothing_from_the_network_and_its_links_have_targets(
    reproduction: Any, tmp_path: Path
) -> None:
    save_reproduction(reproduction, tmp_path)
    page = write(tmp_path).read_text(encoding="utf-8")
    tags = Tags(page)
    assert len(tags.ids) == len(set(tags.ids)), "an id stands for one element"
    for address in tags.addresses:
        if address.startswith("#"):
            assert address[1:] in tags.ids
        else:
            assert (tmp_path / address).is_file()
    assert not re.findall(r'(?:src|href|@import|url\()\s*=?\s*["\']?(?:https?:)?//', page)


def test_buttons_say_which_rows_the_bar_leaves_out(reproduction: Any, tmp_path: Path) -> None:
    record = reproduction.as_dict()
    record["claims"].append(claim(5, "reproduced", standing="phase-dependent"))
    reproduction.as_dict = lambda: record
    save_reproduction(reproduction, tmp_path)
    page = write(tmp_path).read_text(encoding="utf-8")
    assert "among them are 1 fitted and 1 phase-dependent, which the bar above does not count" in page


def test_the_same_reproduction_gives_the_same_page(reproduction: Any, tmp_path: Path) -> None:
    pages = []
    for name in ("one", "two"):
        save_reproduction(reproduction, tmp_path / name)
        pages.append(write(tmp_path / name).read_text(encoding="utf-8"))
    assert pages[0] == pages[1]


def test_the_page_of_all_papers_has_cards_and_ratios_and_leads_to_claims_and_figures(
    reproduction: Any, tmp_path: Path
) -> None:
    marked = reproduction.as_dict()
    marked["figures"][0]["marks"] = True
    for paper in ("mca", "srmcc"):
        # ids of claims are unique over all papers
        claims = [{**row, "id": f"{paper}-{row['id']}"} for row in marked["claims"]]
        record = {**marked, "paper": paper, "title": f"Paper {paper}", "claims": claims}
        reproduction.as_dict = lambda record=record: {
            **record,
            **{kind: [dict(entry) for entry in record[kind]] for kind in ("figures", "tables")},
        }
        save_reproduction(reproduction, tmp_path / paper)
        write(tmp_path / paper)
    page = save_papers(["mca", "srmcc"], tmp_path).read_text(encoding="utf-8")
    tags = Tags(page)
    assert len(tags.ids) == len(set(tags.ids)), "an id stands for one element"
    own = {
        f"{paper}/report.html": Tags((tmp_path / paper / "report.html").read_text(encoding="utf-8")).ids
        for paper in ("mca", "srmcc")
    }
    for address in tags.addresses:
        file, _, anchor = address.partition("#")
        assert not file or (tmp_path / file).is_file(), address
        assert not anchor or anchor in own.get(file, tags.ids), address
    assert "6 statements of 2 papers, judged by 2 simulations. 2 of the 4" in page
    assert page.count('<a class="card"') == 2
    # what is not, or not wholly, reproduced has a line of its own, and a dot for each of its ratios
    verdicts = {row["id"]: row["verdict"] for row in marked["claims"]}
    for paper in ("mca", "srmcc"):
        for identity, verdict in verdicts.items():
            line = f'<td><a href="{paper}/report.html#{paper}-{identity}">'
            assert page.count(line) == (verdict in {"partly", "not reproduced"}), (paper, verdict)
    # a dot for each ratio of an independent or fitted row: 1.25 in both papers, and what `claim` gives the others
    ratios = [value for row in marked["claims"] for value in row["ratios"].values() if value]
    pictures = re.findall(
        r'<svg class="(broad|narrow)" viewBox="(\S+) \S+ (\S+) \S+"(.*?)</svg>', page, re.DOTALL
    )
    assert [name for name, *_ in pictures] == ["broad", "narrow"]
    for name, left, width, drawn in pictures:
        assert drawn.count("<circle") == 2 * len(ratios)
        assert all(
            float(left) < float(x) < float(left) + float(width) for x in re.findall(r'cx="([^"]+)"', drawn)
        )
        assert name == "broad" or float(width) < 340, "it has the width of a phone"
    assert {"mca/report.html#figure-8", "srmcc/report.html#figure-8"} <= set(tags.addresses)
    assert "mca/report.html#figure-9" not in tags.addresses, "it has no values of the paper"


def test_data_are_in_files_beside_the_page(reproduction: Any, tmp_path: Path) -> None:
    save_reproduction(reproduction, tmp_path)
    assert polars.read_parquet(tmp_path / "tables" / "figure-8.rate.parquet").height == 3
    assert polars.read_parquet(tmp_path / "tables" / "table-1.parquet").height == 2
    record = json.loads((tmp_path / "reproduction.json").read_text(encoding="utf-8"))
    assert record["figures"][0]["data"] == [{"name": "rate", "file": "tables/figure-8.rate.parquet"}]


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tw.ResultError):
        write(tmp_path)
    with pytest.raises(tw.ResultError):
        write(tmp_path / "nowhere")


def test_the_page_of_a_run_is_well_formed_and_closed(small: Path, tmp_path: Path) -> None:
    tw.load(small).run(out=tmp_path / "run")
    page = write(tmp_path / "run").read_text(encoding="utf-8")
    tags = Tags(page)
    assert {"summary", "network", "flows", "links", "over-time", "method"} <= set(tags.ids)
    assert len(tags.ids) == len(set(tags.ids))
    assert "1 of 1 hold" in page


SDN = """
duration = "3 s"
[topology]
kind = "custom"
links = [
  { name = "a", ends = ["a", "s1"], rate = "10 Mbit/s", delay = "1 ms" },
  { name = "up", ends = ["s1", "s2"], like = "a" },
  { name = "d1", ends = ["s1", "s3"], rate = "10 Mbit/s", delay = "8 ms" },
  { name = "d2", ends = ["s3", "s2"], like = "d1" },
  { name = "x", ends = ["s2", "x"], like = "a" },
]
[sdn]
app = "least_loaded"
nodes = ["s1", "s2", "s3"]
[[flows]]
name = "ax"
scheme = "cubic"
from = "a"
to = "x"
[record]
events = true
"""

IN_BAND = 'nodes = ["s1", "s2"]\ncontroller = "s3"\nout_of_band = false'

FAILURE = """
[[events]]
at = "1 s"
link = "up"
up = false
"""


@pytest.mark.parametrize("failure", ["", FAILURE], ids=["no failure", "failure"])
def test_the_page_of_a_controller_says_that_plain_routing_moves_flows_too(
    failure: str, tmp_path: Path
) -> None:
    run = tw.Scenario.from_toml(SDN + failure).run()
    run.save(tmp_path)
    assert ((run["link.d1.utilisation"] or 0.0) > 0.3) == bool(failure)
    assert ("plain routing computes all routes again" in write(tmp_path).read_text(encoding="utf-8")) == bool(
        failure
    )


@pytest.mark.parametrize("apart", [True, False], ids=["links of its own", "in band"])
def test_the_lead_counts_links_of_a_controller_apart(apart: bool) -> None:
    scenario = SDN if apart else SDN.replace('nodes = ["s1", "s2", "s3"]', IN_BAND)
    run = tw.Scenario.from_toml(scenario).run()
    assert run.links["link"].n_unique() == (8 if apart else 5)
    links = "5 links and 3 links of the controller" if apart else "5 links"
    assert lead(run) == f"1 flow over {links}, 3 s simulated."


def test_the_page_of_a_network_by_name_shows_nodes_that_route_by_name(
    named: tw.Result, tmp_path: Path
) -> None:
    named.save(tmp_path)
    page = write(tmp_path).read_text(encoding="utf-8")
    assert "nodes" in Tags(page).ids
    assert "The diamond is the name resolution system" in page
    drawn = network(named)
    assert re.findall(r"<title>(\w+) \(router by name\)", drawn) == ["root", "inner1", "inner2"]
    assert re.findall(r"<polygon[^>]*><title>(\w+) \(name resolution system\)", drawn) == ["nrs"]
    assert drawn.count("<circle") == 4


def test_the_page_of_named_data_shows_consumers_and_forwarders(data: tw.Result, tmp_path: Path) -> None:
    data.save(tmp_path)
    page = write(tmp_path).read_text(encoding="utf-8")
    assert "Shaded squares forward named data" in page
    assert "The diamond is" not in page
    for word in ("/films/new", "Interests in", "hits", "Pending Interests", "forwarder"):
        assert word in page, word
    drawn = network(data)
    assert re.findall(r"<title>(\w+) \(receiver\)", drawn) == ["left1", "left2"]
    assert re.findall(r"<title>(\w+) \(source\)", drawn) == ["right1", "right2"]
    assert re.findall(r"<title>(\w+) \(router by name\)", drawn) == ["router_left", "router_right"]


def test_a_page_without_named_data_does_not_mention_names(small: Path, tmp_path: Path) -> None:
    tw.load(small).run(out=tmp_path / "run")
    page = write(tmp_path / "run").read_text(encoding="utf-8")
    assert "nodes" not in Tags(page).ids
    assert "The diamond is" not in page


CHANGING = """
title = "Things happen"
duration = "10 s"
[topology]
kind = "custom"
links = [
  { name = "acc", ends = ["c", "r"], rate = "10 Mbit/s", delay = "1 ms" },
  { name = "near", ends = ["r", "p1"], rate = "5 Mbit/s", delay = "5 ms" },
  { name = "far", ends = ["r", "p2"], rate = "5 Mbit/s", delay = "20 ms" },
]
[[producers]]
prefix = "/data"
node = ["p1", "p2"]
[[flows]]
name = "window"
network = "ndn"
scheme = "cubic"
from = "c"
prefix = "/data/a"
[[flows]]
name = "steady"
network = "ndn"
source = { kind = "constant", interests = 100 }
from = "c"
prefix = "/data/b"
[[events]]
at = "2 s"
link = "near"
up = false
[[events]]
at = "2 s"
flow = "steady"
action = "stop"
[[events]]
at = "4500 ms"
link = "near"
up = true
[[events]]
at = "6 s"
link = "far"
loss = 0.01
[[events]]
at = "8 s"
node = "r"
action = "reset"
[record]
every = "500 ms"
series = ["goodput"]
"""


def test_events_of_a_scenario_are_marked_in_pictures_and_listed(tmp_path: Path) -> None:
    result = tw.Scenario.from_toml(CHANGING).run(out=tmp_path)
    told = [
        (2.0, "near down"),
        (2.0, "steady stop"),
        (4.5, "near up"),
        (6.0, "far loss 1 %"),
        (8.0, "r reset"),
    ]
    assert event_labels(result.plan) == told
    axes = result.plot("goodput").axes[0]
    assert [text.get_text() for text in axes.texts] == ["near down +1", "near up", "far loss 1 %", "r reset"]
    upright = [line.get_xdata()[0] for line in axes.lines if len(set(line.get_xdata())) == 1]
    assert upright == [2.0, 4.5, 6.0, 8.0]
    page = write(tmp_path).read_text(encoding="utf-8")
    assert "What changes" in page
    assert "<td>r reset</td>" in page
    assert "fairness" not in page.split("<h2")[1], "one flow of a scheme has nobody to be fair to"
    many = {"events": [{"at": f"{n} s", "link": "l", "up": bool(n % 2)} for n in range(40)]}
    assert (len(event_labels(many)), event_marks(many)) == (40, [])


def test_a_flow_has_one_colour_in_every_picture(tmp_path: Path) -> None:
    result = tw.Scenario.from_toml(CHANGING).run(out=tmp_path)
    lines = {line.get_label(): line.get_color() for line in result.plot("goodput").axes[0].lines}
    assert (lines["window"], lines["steady"]) == (
        result.colours["flow.window"],
        result.colours["flow.steady"],
    )
    assert lines["window"] == plots.SCHEME_COLOURS["cubic"] != lines["steady"]
    assert result.plot("goodput", ["flow.steady"]).axes[0].lines[0].get_color() == lines["steady"]


@pytest.mark.parametrize("table", sorted(TABLES))
@pytest.mark.parametrize("digits", [1, 6, 14])
def test_tables_of_a_run_fit_on_a_page_and_keep_every_column(table: str, digits: int) -> None:
    columns = [(one.key, one.heading) for one in TABLES[table]]
    rows = [{key: "9" * digits for key, _ in columns}]
    first, more = divided(columns, rows, by_importance(table))
    assert sum(width_of(key, heading, rows) for key, heading in first) <= WIDTH_OF_PAGE
    assert [column for column in columns if column in first or column in more] == columns
    assert {key for key, _ in first} & {key for key, _ in more} <= NAMES, "only what names a row is repeated"
    assert bool(more) == (sum(width_of(key, heading, rows) for key, heading in columns) > WIDTH_OF_PAGE)
    kept = {key: width_of(key, heading, rows) for key, heading in first}
    order = by_importance(table)
    for key, heading in more:
        if key not in NAMES:
            before = sum(kept.get(other, 0.0) for other in order[: order.index(key)])
            assert before + width_of(key, heading, rows) > WIDTH_OF_PAGE, "there was no room for it"


def test_a_wide_table_is_set_smaller() -> None:
    columns = [(f"c{n}", f"column {n}") for n in range(14)]
    rows = [dict.fromkeys((key for key, _ in columns), 1)]
    assert 'class="wide"' in part("table", columns, rows)
    assert 'class=""' in part("table", columns[:5], rows)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (498.21, "498.2"),
        (0.00123456, "0.001235"),
        (12345.6, "12\u202f346"),
        (-3.5, "−3.5"),
        (2.5e9, "2.5·10⁹"),
        (1e-7, "1·10⁻⁷"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_have_four_digits_and_no_tail(value: float, text: str) -> None:
    assert number(value) == text


def test_cells_escape_what_they_show() -> None:
    assert "<td>&lt;b&gt;</td>" in part("table", [("a", "a")], [{"a": "<b>"}])
    assert cell(None) == "–"
    assert cell(True) == "yes"


def test_columns_without_information_are_omitted() -> None:
    frame = polars.DataFrame(
        {
            "flow": ["a"],
            "scheme": [""],
            "throughput_bps": [2e6],
            "rtt_s": [None],
            "retransmits": [0],
            "timeouts": [3],
        },
        schema_overrides={"rtt_s": polars.Float64},
    )
    columns, rows = table_rows(frame, "flows")
    assert [key for key, _ in columns] == ["flow", "throughput_bps", "timeouts"]
    assert rows == [{"flow": "a", "throughput_bps": 2.0, "timeouts": 3}]


def test_keys_of_the_summary_have_the_units_that_people_read() -> None:
    assert unit_of("flow.a.throughput") == ("Mbit/s", 1e-6)
    assert unit_of("link.x.backward.utilisation") == ("%", 100.0)
    assert unit_of("flows.fairness") == ("", 1.0)


def test_runs_are_named_by_the_shortest_distinct_path_suffixes(tmp_path: Path) -> None:
    assert path_ends([tmp_path / "a" / "seed=1", tmp_path / "b" / "seed=1"]) == ["a/seed=1", "b/seed=1"]
    assert path_ends([tmp_path / "one", tmp_path / "two"]) == ["one", "two"]
    same = path_ends([tmp_path / "one", tmp_path / "one"])
    assert len(set(same)) == 2


SEEDED = """
title = "Two flows that start at random"
duration = "2 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "5 ms", buffer = "20 packets" }
[[flows]]
name = "a"
scheme = "reno"
count = 2
start_spread = "500 ms"
"""


def test_runs_that_differ_only_by_seed_are_one_scenario() -> None:
    seeds = [tw.Scenario.from_toml(SEEDED).run(seed=seed) for seed in (1, 2, 3)]
    other = tw.Scenario.from_toml(SEEDED.replace("20 packets", "30 packets")).run(seed=1)
    runs = [*((f"small/seed={seed}", run) for seed, run in enumerate(seeds, 1)), ("large/seed=1", other)]
    # starts are drawn from the seed, so that the plans differ
    assert seeds[0].plan["flows"] != seeds[1].plan["flows"]
    assert not differences(runs[:3])
    assert len(differences(runs)) == 1
    grouped = by_scenario(runs)
    assert {name: len(listed) for name, listed in grouped.items()} == {"small": 3, "large/seed=1": 1}
    # the same run twice is one value
    assert len(by_scenario([*runs[:3], ("small/again", seeds[0])])["small"]) == 3


def test_runs_in_folders_with_digests_are_named_by_what_differs(tmp_path: Path) -> None:
    scenario = tw.Scenario.from_toml(SEEDED)
    swept = scenario.sweep({"topology.bottleneck.buffer": ["20 packets", "30 packets"]}, seeds=[1, 2]).run(
        out=tmp_path
    )
    runs = [run.result for run in swept.runs]
    found = names(runs)
    assert found == [f"buffer = {buffer} packets, seed={seed}" for buffer in (20, 30) for seed in (1, 2)]
    grouped = by_scenario(list(zip(found, runs, strict=True)))
    assert list(grouped) == ["buffer = 20 packets", "buffer = 30 packets"]
    # the seed is said only where it differs, the title too
    assert names([runs[0], runs[2]]) == ["buffer = 20 packets", "buffer = 30 packets"]
    assert names([runs[0], runs[1]]) == ["seed=1", "seed=2"]
    tw.Scenario.from_toml(SEEDED.replace("Two flows", "Some flows")).run(seed=1).save(tmp_path / "other")
    other = tw.Result.load(tmp_path / "other")
    assert names([runs[0], other]) == ["Two flows that start at random", "Some flows that start at random"]
    # files that differ, without an override; a flow more
    more = f'{SEEDED.replace("20 packets", "30 packets")}[[flows]]\nname = "b"\nscheme = "cubic"\n'
    place = tmp_path / "seed=1,plan=0123abcd"
    tw.Scenario.from_toml(more).run(seed=1).save(place)
    assert names([runs[0], tw.Result.load(place)]) == [
        "buffer = 20 packets, flows = a",
        "buffer = 30 packets, flows = a, b",
    ]
    # the same run twice has no difference but its number
    assert names([runs[0], runs[0]]) == [f"{runs[0].title} (1)", f"{runs[0].title} (2)"]
    # folders that the program named say the seed of whatever scenario; where nothing differs they are the names
    first = tw.Result.load(runs[0].save(tmp_path / "one" / "seed=1"))
    scheme = SEEDED.replace('"reno"', '"cubic"').replace("20 packets", "30 packets")
    assert scheme != SEEDED
    second = tw.Scenario.from_toml(scheme).run(seed=2)
    second = tw.Result.load(second.save(tmp_path / "another" / "seed=2"))
    assert names([first, second]) == [
        "buffer = 20 packets, scheme = reno, seed=1",
        "buffer = 30 packets, scheme = cubic, seed=2",
    ]
    titled = tw.Result.load(other.save(tmp_path / "titled" / "seed=1"))
    assert names([first, titled]) == ["Two flows that start at random", "Some flows that start at random"]
    twin = tw.Result.load(runs[0].save(tmp_path / "two" / "seed=1"))
    assert names([first, twin]) == ["one/seed=1", "two/seed=1"]
    # names that people gave stay
    assert names([other, other.load(other.save(tmp_path / "again"))]) == ["other", "again"]
    page = report.compare(list(zip(found, runs, strict=True)), tmp_path / "compare.html").read_text(
        encoding="utf-8"
    )
    assert runs[0].folder is not None
    assert f'{found[0]}\\": \\"{"/".join(runs[0].folder.parts[-2:])}\\"' in page


@pytest.mark.parametrize("titles", [("One", "One"), ("One", "Two")])
def test_a_comparison_lists_titles_only_if_they_differ(titles: tuple[str, str], tmp_path: Path) -> None:
    runs = []
    for title, scheme in zip(titles, ("cubic", "reno"), strict=True):
        text = f'title = "{title}"\n' + SDN.replace('"cubic"', f'"{scheme}"')
        tw.Scenario.from_toml(text).run().save(tmp_path / scheme)
        runs.append((scheme, tw.Result.load(tmp_path / scheme)))
    assert ("<th>title</th>" in compare_page(runs)) == (titles[0] != titles[1])


def test_a_comparison_of_single_runs_has_no_box_plots(tmp_path: Path) -> None:
    runs = [(f"seed={seed}", tw.Scenario.from_toml(SEEDED).run(seed=seed)) for seed in (1, 2)]
    text = report.compare(runs, tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "Over seeds" not in text
    assert 'id="thalweg-grids"' not in text


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_contrast_to_what_is_behind_it(theme: str) -> None:
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", template_macro("style.html", theme)))
    pairs = [(kind, f"{kind}-soft") for kind in ("good", "half", "bad", "none")]
    pairs += [
        (text, ground) for text in ("ink", "soft", "water") for ground in ("paper", "card", "water-soft")
    ]
    for text, ground in pairs:
        one, other = sorted((luminance(colours[text]), luminance(colours[ground])))
        assert (other + 0.05) / (one + 0.05) >= 4.5, f"{text} on {ground}"


def test_code_in_prose_is_code_and_nothing_else_is_markup():
    from thalweg.report._page import prose

    assert prose("`--full` runs <all>, `one") == "<code>--full</code> runs &lt;all&gt;, `one"


def test_metrics_that_a_sweep_does_not_change_are_said_once(small: Path, tmp_path: Path) -> None:
    rows = [
        {"a": 1, "n": 1, "flows.fairness": (1.0, None, None), "flows.throughput": (0.5, None, None)},
        {"a": 2, "n": 1, "flows.fairness": (1.0, None, None), "flows.throughput": (0.6, None, None)},
    ]
    assert same_everywhere(rows, ["flows.fairness", "flows.throughput"]) == {"flows.fairness": "1"}
    assert same_everywhere(rows, ["flows.throughput"]) == {}
    # one flow that never fills a queue of either size
    text = small.read_text(encoding="utf-8")
    grid = '"topology.bottleneck.buffer" = ["400 packets", "500 packets"]'
    small.write_text(f"{text}\n[sweep]\n{grid}\n", encoding="utf-8")
    assert call(["run", str(small), "--out", str(tmp_path / "swept"), "--json"]) in (0, 1)
    page = write(tmp_path / "swept").read_text(encoding="utf-8")
    line = re.search(r"<p>(The same at all points: .*?)</p>", page)
    assert line is not None
    assert "link.bottleneck.utilisation 100\u00a0%" in re.sub("<.*?>", "", line[1])
    assert 'id="thalweg-grids"' not in page
    assert 'id="grid-' not in page


@pytest.mark.parametrize(
    ("texts", "numeric"),
    [
        (["0.95 ± 0.01", "0.950 [0.912, 1.000]", "–"], True),
        (["(2.34 ± 0.12)·10⁻⁵", "3·10⁻⁵", "1\u202f020 ± 300"], True),
        (["+3 %", "−2 %", "same", "from 0", "× 205"], True),
        (["10 packets", "60 packets"], False),
        (["reno", "2"], False),
    ],
)
def test_columns_of_numbers_are_aligned_by_their_ends(texts: list[str], numeric: bool) -> None:
    rows = [{"x": text.replace(" ", "\u00a0")} for text in texts]
    assert numeric_columns([("x", "x")], rows) == ({"x"} if numeric else set())


def test_a_queue_discipline_with_details_is_a_value_of_a_sweep(small: Path, tmp_path: Path) -> None:
    # a queue that fills, so that the disciplines differ
    text = (
        small.read_text(encoding="utf-8")
        .replace('"1 bdp", loss = 0.001', '"60 packets"')
        .replace('"4 s"', '"12 s"')
    )
    grid = '["fifo", { kind = "red", adaptive = true, packet = "1500 B" }]'
    small.write_text(f'{text}\n[sweep]\n"topology.bottleneck.queue" = {grid}\n', encoding="utf-8")
    assert call(["run", str(small), "--out", str(tmp_path / "swept"), "--json"]) in (0, 1)
    words = "red, adaptive, packet = 1500 B"
    done = tw.SweepResult.load(tmp_path / "swept")
    assert set(done.summary["topology.bottleneck.queue"]) == {"fifo", words}
    page = write(tmp_path / "swept").read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script[^>]* id="thalweg-grids">(.*?)</script>', page)[1])
    points = data["charts"][0]["lines"][0]["points"]
    assert [point[1] for point in points] == ["fifo", words]
    # each has the value of its run, for the box plots
    assert [len(point[-1]) for point in points] == [1, 1]


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ([3], "3"),
        ([1, 2], "1 to 2"),
        # of several points, in any order
        ([5, 4, 3, 2, 1, 1, 2], "1 to 5"),
        ([1, 2, 4], "1, 2, 4"),
        ([7, 30_000], "7, 30000"),
        ([*range(1, 2 * MAX_SEEDS, 2), 100], ", ".join(map(str, range(1, 2 * MAX_SEEDS, 2))) + ", …"),
    ],
)
def test_a_sweep_says_which_seeds_it_has(seeds: list[int], text: str) -> None:
    assert _seeds(seeds) == f"per point: {text}"


def test_a_sweep_says_how_long_its_runs_were_and_how_much_of_them_was_measured() -> None:
    runs = [{"run.ended": 10.0, "run.measured": 8.0}, {"run.ended": 10.0, "run.measured": 5.0}]
    done: Any = SimpleNamespace(runs=[SimpleNamespace(result=SimpleNamespace(values=run)) for run in runs])
    assert _spans(done) == {"ended": [10.0, 10.0], "measured": [5.0, 8.0]}
    assert _durations(_spans(done)) == [("a run", "10 s", "measured over 5 s to 8 s, after the warm-up")]
    # of a version that did not write it
    assert _durations({}) == []


@pytest.mark.parametrize(
    ("warmups", "shaded_s"),
    [(["2 s", "2000 ms"], 2.0), (["2 s", "3 s"], 0.0), ([None, None], 0.0), ([None, "2 s"], 0.0)],
)
def test_a_comparison_shades_the_warm_up_only_if_all_runs_have_the_same(
    warmups: list[str | None], shaded_s: float
) -> None:
    plans = [{} if text is None else {"warmup": text} for text in warmups]
    runs: Any = [(str(number), SimpleNamespace(plan=plan)) for number, plan in enumerate(plans)]
    assert _common_warmup(runs) == shaded_s


SHARED = """
title = "Two flows share a link"
duration = "6 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "60 packets" }
[[flows]]
name = "slow"
source = { kind = "constant", rate = "10 kbit/s" }
[[flows]]
name = "reno"
scheme = "reno"
[record]
series = ["rate", "backlog"]
"""


def test_a_comparison_says_which_scheme_a_flow_has_in_each_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tw.Scenario.from_toml(SHARED)
    scenario.run(out=tmp_path / "one")
    scenario.with_({"flows.reno.scheme": "bbr"}).run(out=tmp_path / "two")
    page = tmp_path / "compared.html"
    call(["compare", str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(page)])
    assert "in flows.reno.scheme (bbr, not reno)" in " ".join(capsys.readouterr().err.split())
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="thalweg-charts">(.*?)</script>', text, re.DOTALL)
    assert found
    charts = {chart["name"]: chart["subjects"] for chart in json.loads(found[1])["charts"]}
    # in the order of the scenario, although the second flow is the larger one; a flow near zero is a result
    labels = ["one: slow", "two: slow", "one: reno (reno)", "two: reno (bbr)"]
    assert [subject["label"] for subject in charts["rate"]] == labels
    assert not any(subject["quiet"] for subject in charts["rate"])
    # the one line of a run that is not near zero has the name of its link
    shown = [subject["label"] for subject in charts["backlog"] if not subject["quiet"]]
    assert shown == ["one: bottleneck", "two: bottleneck"]
    assert "reno (reno, bbr)" in text, "the label of the bars"
    assert "<code>reno</code> is reno in one, bbr in two.</p>" in text


def test_flows_that_get_nothing_are_hidden_only_if_they_are_many() -> None:
    links = {"link.a": 10.0, "link.b": 0.01}
    flows = {"flow.a": 10.0, **{f"flow.b.{number}": 0.01 for number in range(plots.MAX_FLOWS - 1)}}
    assert plots.quiet_subjects(links) == {"link.b"}
    assert plots.quiet_subjects(flows) == set()
    assert len(plots.quiet_subjects({**flows, "flow.c": 0.0})) == plots.MAX_FLOWS
    assert plots.quiet_subjects({}) == set()


def test_one_line_stands_for_many_that_are_zero_all_the_time(tmp_path: Path) -> None:
    assert plots.quiet_subjects(dict.fromkeys(["link.a", "link.b", "link.c"], 0.0)) == {"link.b", "link.c"}
    assert plots.quiet_subjects({"flow.a": 0.0}) == set()
    scenario = tw.Scenario(
        duration="3 s",
        topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="10 ms")),
        flows=[tw.Flow(name="a", source={"kind": "constant", "rate": "1 Mbit/s"})],
        record=tw.Record(series=["drops", "utilisation"]),
    )
    scenario.run(out=tmp_path / "run")
    text = report.write(tmp_path / "run").read_text(encoding="utf-8")
    [drops, utilisation] = re.findall(r"<strong>(?:Drops|Utilisation)</strong>.*", text)
    assert "All of them are zero all the time." in drops
    assert "zero" not in utilisation
    found = re.search(r'<script type="application/json" id="thalweg-charts">(.*?)</script>', text, re.DOTALL)
    assert found
    charts = {chart["name"]: chart["subjects"] for chart in json.loads(found[1])["charts"]}
    assert [subject["quiet"] for subject in charts["drops"]] == [False, *[True] * 5]
    shown = [subject["label"] for subject in charts["utilisation"] if not subject["quiet"]]
    assert shown == ["bottleneck"]


@pytest.mark.parametrize(
    ("key", "expected", "shown"),
    [
        ("link.b.utilisation", ">= 0.9", ">= 90 %"),
        ("link.b.utilisation", ">= 90 %", ">= 90 %"),
        ("link.b.utilisation", "<= 1e-3", "<= 0.1 %"),
        ("link.b.utilisation", "0.4 .. 0.65", "40 % .. 65 %"),
        ("link.b.utilisation", "0.4..0.65", "40 %..65 %"),
        ("link.b.utilisation", "40 % .. 0.65", "40 % .. 65 %"),
        ("link.b.utilisation", ">= 1", ">= 100 %"),
        ("flow.f.missing", "<= 50", "<= 50"),
        ("flow.f.throughput", ">= 3 Mbit/s", ">= 3 Mbit/s"),
    ],
)
def test_shares_are_expected_in_percent_as_they_are_shown(key: str, expected: str, shown: str) -> None:
    assert expected_text(key, expected) == shown


def test_dropped_packets_are_the_sum_of_their_reasons(tmp_path: Path) -> None:
    from thalweg.report._run import overview

    result = tw.load(ROOT / "scenarios" / "name-multicast.toml").run(out=tmp_path)
    rows = {name: (value, words) for name, value, words in overview(result)}
    value, words = rows["dropped packets"]
    counts = [int(count) for count in re.findall(r"(\d+) [a-z]", words.split("by reason: ")[1])]
    # a router that is reset drops what it has no route for
    assert len(counts) == 2
    assert int(value) == sum(counts) == result.flows["drops"].sum()
    assert "on links and at nodes" in words


NO_ROUTE = """
duration = "4 s"
[topology]
kind = "custom"
links = [
  { name = "ab", ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms", loss = 0.002 },
  { name = "bc", ends = ["b", "c"], rate = "10 Mbit/s", delay = "5 ms" },
]
[[flows]]
name = "f"
scheme = "cubic"
from = "a"
to = "c"
[[flows]]
name = "g"
scheme = "cubic"
from = "b"
to = "c"
start = "1 s"
stop = "3 s"
[[events]]
at = "2 s"
link = "ab"
up = false
[[events]]
at = "3 s"
link = "ab"
up = true
"""


def test_every_drop_has_a_reason_that_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    from thalweg.report._run import overview

    result = tw.Scenario.from_toml(NO_ROUTE).run()
    unheard = int(result.flows["drops_not_listening"].sum())
    assert unheard > 0
    value, words = next(
        (value, words) for name, value, words in overview(result) if name == "dropped packets"
    )
    reasons, _, besides = words.split("by reason: ")[1].partition("; ")
    counts = {reason: int(count) for count, reason in re.findall(r"(\d+) ([a-z ]+)", reasons)}
    assert set(counts) == {"queue full", "random loss", "link down", "no route"}
    assert int(value) == sum(counts.values()) == result.flows["drops"].sum()
    assert besides == f"not counted: {unheard} not listening"
    for reason in counts:
        found = {row["name"] for row in asked(capsys, "metrics", reason)["metrics"]}
        assert f"drops_{reason.replace(' ', '_')}" in found
    # the tables have them too, each with a heading
    headings = {heading for _, heading in table_rows(result.flows, "flows")[0]}
    assert {"drops, no route", "not listening"} <= headings
    headings = {heading for _, heading in table_rows(result.links, "links")[0]}
    assert {"drops, queue full", "drops, random loss", "drops, link down"} <= headings


def test_the_chart_of_drops_says_how_many_are_in_no_series(tmp_path: Path) -> None:
    recorded = '[record]\nevery = "100 ms"\nseries = ["drops"]\n'
    run = tw.Scenario.from_toml(NO_ROUTE + recorded).run()
    run.save(tmp_path)
    at_nodes = int(run.flows["drops_no_route"].sum())
    assert at_nodes > 1
    said = f" {at_nodes} more were dropped at nodes, which have no series of drops."
    page = write(tmp_path).read_text(encoding="utf-8")
    assert said in page
    assert "<p>No route: a packet was at a node that knew no link" in page
    # all drops are in a line of the chart, or in that sentence
    assert run.series["value"].sum() + at_nodes == run.flows["drops"].sum()
    other = tmp_path / "links-only"
    tw.Scenario.from_toml(NO_ROUTE.partition("[[events]]")[0] + recorded).run().save(other)
    assert not re.search("dropped at nodes|No route:", write(other).read_text(encoding="utf-8"))


def test_a_picture_labels_rates_and_delays_that_change_as_means() -> None:
    changes = NO_ROUTE + '[[events]]\nat = "1 s"\nlink = "bc"\ndelay = "9 ms"\n'
    drawn = network(tw.Scenario.from_toml(changes).run())
    assert "ab: mean 7.5 Mbit/s · 5 ms" in drawn
    assert "bc: 10 Mbit/s · mean 8 ms" in drawn
    fixed = NO_ROUTE.partition("[[events]]")[0]
    assert "mean" not in network(tw.Scenario.from_toml(fixed).run())
    traced = fixed.replace('"c"], rate = "10 Mbit/s"', '"c"], trace = "lte_driving"')
    assert re.search(r"bc: mean [\d.]+ Mbit/s · 5 ms", network(tw.Scenario.from_toml(traced).run()))


def test_that_queues_were_full_is_said_once_in_a_table_of_links() -> None:
    result = tw.Scenario.from_toml(NO_ROUTE.partition("[[events]]")[0].replace(", loss = 0.002", "")).run()
    assert result.links["drops_queue_full"].sum() > 0
    assert [heading for _, heading in table_rows(result.links, "links")[0] if "drops" in heading] == ["drops"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<p>received over 25 s after</p>", "<p>received over 25~s after</p>"),
        ("<td>−5.4 ± 2.7 %</td>", "<td>−5.4 ± 2.7~%</td>"),
        ("<p>1.5 Mbit/s, limit ≥ 0.99</p>", "<p>1.5~Mbit/s, limit ≥~0.99</p>"),
        ("<p>3 seeds, 4 settings, 2 bits</p>", "<p>3 seeds, 4 settings, 2 bits</p>"),
        ('<a title="5 s">5</a> s <b>5</b> ms', '<a title="5 s">5</a> s <b>5</b> ms'),
        ("<code>at = 5 s</code> 5 s", "<code>at = 5 s</code> 5~s"),
        (
            "<script>5 s</script><svg><text>5 s</text></svg>",
            "<script>5 s</script><svg><text>5 s</text></svg>",
        ),
    ],
)
def test_a_number_and_its_unit_stay_in_one_line(text: str, kept: str) -> None:
    assert with_units_kept(text) == kept.replace("~", "\u00a0")


def test_the_completion_of_one_transfer_has_no_percentile(tmp_path: Path) -> None:
    for count, words in ((1, "the one transfer"), (2, "mean of 2 of 2; p95 ")):
        scenario = tw.Scenario(
            duration="5 s",
            topology=tw.Dumbbell(bottleneck=tw.Link(rate="10 Mbit/s", delay="10 ms")),
            flows=[tw.Flow(name="a", scheme="reno", size="100 kB", count=count)],
        )
        scenario.run(out=tmp_path / f"run{count}")
        page = report.write(tmp_path / f"run{count}").read_text(encoding="utf-8")
        fact = page[page.index("<dt>completion time") :]
        fact = fact[: fact.index("</dd>")]
        assert words in fact
        assert ("p95" in fact) == (count > 1)


def test_a_wide_table_of_a_sweep_has_what_fits_and_the_rest_folded(tmp_path: Path) -> None:
    flows = "".join(f'[[flows]]\nname = "flow{number}"\nscheme = "reno"\n' for number in range(7))
    keys = [f"flow.flow{number}.{word}" for number in range(6, -1, -1) for word in ("drops", "marks")]
    expected = "".join(f'"{key}" = ">= 0"\n' for key in keys)
    file = tmp_path / "many.toml"
    file.write_text(
        'duration = "3 s"\n[topology]\nkind = "dumbbell"\nbottleneck = { rate = "10 Mbit/s", delay = "10 ms" }\n'
        f"{flows}[expect]\n{expected}[sweep]\n"
        '"topology.bottleneck.buffer" = ["20 packets", "60 packets"]\n',
        encoding="utf-8",
    )
    assert call(["run", str(file), "--runs", "3", "--out", str(tmp_path / "swept"), "--jobs", "1"]) == 0
    page = write(tmp_path / "swept").read_text(encoding="utf-8")
    section = page[page.index("Means over seeds</h2>") :]
    section = re.sub(r"<(?!/?t[hr]\b)[^>]*>", "", section[: section.index("Every metric of every point")])
    first, _, more = section.partition("more column")
    headings = [re.findall(r"<th[^>]*>([^<]*)</th>", part) for part in (first, more)]
    key = "topology.bottleneck.buffer"
    assert [listed[0] for listed in headings] == [key, key], "the key is in both"
    columns = {re.sub(r" \(.*", "", heading) for listed in headings for heading in listed} - {key, "seeds"}
    record = json.loads((tmp_path / "swept" / "sweep.json").read_text(encoding="utf-8"))
    assert columns == set(record["metrics"])
    assert len(headings[1]) > 2
    assert headings[0][1].startswith("flow.flow6.drops"), "what is expected comes first"


def test_an_entry_of_a_list_has_one_key_however_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "one.toml"
    file.write_text(SEEDED, encoding="utf-8")
    runs = []
    for key, scheme in (("flows.0.scheme", "reno"), ("flows.0.scheme", "cubic"), ("flows.a.scheme", "bbr")):
        folder = tmp_path / scheme
        assert call(["run", str(file), "--set", f"{key}={scheme}", "--out", str(folder), "--json"]) == 0
        runs.append((scheme, tw.Result.load(folder)))
    for one, two in ((0, 1), (0, 2), (1, 2)):
        [words] = differences([runs[one], runs[two]])
        assert words.endswith(f" in flows.a.scheme ({runs[two][0]}, not {runs[one][0]})"), words
