"""What `import thalweg` costs, and what it offers."""

import subprocess
import sys

import thalweg as tw
from thalweg.cli import call
from thalweg.scheme import registered

HEAVY = {"polars", "pandas", "pyarrow", "matplotlib", "numpy", "scipy", "rich", "cyclopts"}


def fresh(program):
    """What a program prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_costs_little_and_loads_no_heavy_library():
    cpu_s, *loaded = fresh(
        "import sys, time; t = time.process_time(); import thalweg; print(time.process_time() - t, *sys.modules)"
    )
    assert float(cpu_s) < 0.2
    assert not HEAVY & set(loaded)


def test_running_a_scenario_loads_no_heavy_library():
    loaded = fresh("""if True:
        import sys
        import thalweg as tw
        wire = tw.Link(rate="1 Mbit/s", delay="5 ms")
        result = tw.Scenario(duration="1 s", topology=tw.Dumbbell(edge=wire, bottleneck=wire),
                             flows=[tw.Flow("f", scheme="reno")]).run()
        assert result["flow.f.goodput"] > 0
        print(*sys.modules)
    """)
    assert not HEAVY & set(loaded)


def test_listing_the_papers_loads_no_heavy_library():
    loaded = fresh("import sys; from thalweg import papers; print(*papers.names(), '|', *sys.modules)")
    assert {"mca", "cvihis", "agreement"} <= set(loaded[: loaded.index("|")])
    assert not (HEAVY | {"thalweg_papers"}) & set(loaded)


def test_finding_a_paper_loads_no_heavy_library():
    loaded = fresh("""if True:
        import sys
        from thalweg import papers
        print(*(papers.find(name).name for name in papers.names()), "|", *sys.modules)
    """)
    assert {"mca", "cvihis", "agreement"} <= set(loaded[: loaded.index("|")])
    assert not HEAVY & set(loaded)


def test_the_package_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "thalweg", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"thalweg {tw.__version__}"


def test_every_public_name_exists():
    for name in tw.__all__:
        assert getattr(tw, name) is not None
    assert set(tw.__all__) <= set(dir(tw))


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(tw, "Scenery")


def test_the_catalogue_lists_schemes_metrics_and_series():
    schemes = {scheme["name"]: scheme for scheme in tw.schemes()}
    assert schemes["reno"]["transport"] == "tcp"
    assert schemes["mca"]["transport"] == "stream"
    assert schemes["mircc"]["transport"] == "ndn"
    for scheme in schemes.values():
        if scheme["name"] in {*registered(), "agent"}:  # by other tests of this process
            continue
        assert scheme["sources"]
        assert all(param["doc"] and param["source"] for param in scheme["params"])
    assert {row["name"] for row in tw.series()} >= {"rate", "backlog", "utilisation"}
    assert {row["offered_by"] for row in tw.series()} >= {"any run", "tcp", "stream", "ndn", "forwarders"}
    assert {row["table"] for row in tw.metrics()} >= {"flows", "links", "summary"}
    assert "flows" in tw.schema()["properties"]


def test_without_papers_reproduce_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("thalweg.papers.GROUP", "thalweg.nothing")
    assert call(["reproduce", "mca"]) == 2
    said = capsys.readouterr().err
    assert "no papers are installed" in said
    assert "pip install thalweg-papers" in said


def test_without_matplotlib_only_pictures_are_missing(tmp_path):
    program = """if True:
        import sys
        sys.modules["matplotlib"] = None
        from thalweg.cli import call
        print(call(["new", "a.toml"]), call(["run", "a.toml"]), call(["report", "out/a/seed=1"]))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.splitlines()[-1] == "0 0 2"
    assert done.stderr.splitlines() == [
        "error: pictures need matplotlib, which is not installed",
        "hint: pip install matplotlib",
    ]
    assert not list(tmp_path.rglob("*.html"))
