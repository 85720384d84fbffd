"""What `import thalweg` costs, and what it offers."""

import inspect
import re
import subprocess
import sys

import pytest

import thalweg as tw
from thalweg import parts
from thalweg.cli import call
from thalweg.scheme import registered

HEAVY = {"polars", "pandas", "pyarrow", "matplotlib", "numpy", "scipy", "rich", "cyclopts"}


def fresh(program):
    """What a program prints in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_loads_no_heavy_library():
    assert not HEAVY & set(fresh("import sys, thalweg; print(*sys.modules)"))


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


# --- builders --------------------------------------------------------------------------------------------------------


def builders():
    """Every class of `thalweg.parts`."""
    return [getattr(parts, name) for name in parts.__all__] + [parts._files.File]


@pytest.mark.parametrize("builder", builders(), ids=lambda one: one.__name__)
def test_the_signature_of_a_builder_has_the_keys_of_its_table(builder):
    schema = tw.schema()
    name = builder.__name__
    if name == "File":
        keys = set(schema["properties"])
    elif name in schema["$defs"]:
        keys = set(schema["$defs"][name]["properties"])
    else:
        kinds = schema["$defs"]["Topology"]["allOf"]
        word = builder()["kind"]
        (row,) = [row for row in kinds if row["if"]["properties"]["kind"]["const"] == word]
        keys = set(row["then"]["propertyNames"]["enum"]) - {"kind"}
    parameters = inspect.signature(builder).parameters
    assert {key.removesuffix("_") for key in parameters} == keys
    assert all(one.kind is not one.VAR_KEYWORD for one in parameters.values())


def test_completion_of_a_notebook_offers_the_keys():
    from IPython.core.completer import IPCompleter, provisionalcompleter

    completer = IPCompleter(namespace={"tw": tw}, use_jedi=False)
    with provisionalcompleter():
        offered = {one.text for one in completer.completions("tw.Link(ra", 10)}
    assert "rate=" in offered


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tw.Link(rte="1 Mbit/s"), "did you mean `rate`"),
        (lambda: tw.Scenario(durtion="3 s"), "Scenario has no key 'durtion'"),
        (lambda: tw.Scenario(duration=30), "a text such as '60 s'"),
        (lambda: tw.Link(rate=20e6), "a text such as '50 Mbit/s'"),
        (lambda: tw.Flow("f", start=2), "a text such as"),
        (lambda: tw.Dumbbell(bottlneck={}), "did you mean `bottleneck`"),
    ],
)
def test_mistakes_are_refused_at_construction(make, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        make()


def test_numbers_where_numbers_belong_are_taken():
    assert tw.Link(loss=0.01, mark_above=20, classes=(1, 2)) == {
        "loss": 0.01,
        "mark_above": 20,
        "classes": [1, 2],
    }
    assert tw.Flow("f", count=3, from_="a") == {"name": "f", "count": 3, "from": "a"}
    assert tw.Scenario(seed=4, slow=True).tree == {"seed": 4, "slow": True}


def test_the_names_of_the_package_are_those_that_it_offers():
    assert dir(tw) == sorted(tw.__all__)
    assert set(tw._HOME) == set(tw.__all__)
    assert all(hasattr(tw, name) for name in tw.__all__)
