"""The editor of the studio: diagnostics, texts that are not saved, completion."""

import re

import pytest

import thalweg as tw
from conftest import ROOT

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from thalweg.studio.app import Studio
from thalweg.studio.completion import complete
from thalweg.studio.files import Folder


def test_diagnostics_are_those_of_the_command_with_their_places(client, small):
    text = small.read_text().replace('scheme = "reno"', 'scheme = "ren"').replace("[record]", "[recrd]")
    said = client.post("api/check", json={"file": "small.toml", "text": text}).json()
    with pytest.raises(tw.ScenarioError) as refused:
        tw.Scenario.from_toml(text, "small.toml").plan()
    found = [(one["line"], one["column"], one["message"], one["hint"]) for one in said["diagnostics"]]
    assert found == [(one.line, one.column, one.message, one.hint) for one in refused.value.problems]
    assert len(found) == 2
    assert {one["severity"] for one in said["diagnostics"]} == {"error"}
    assert said["about"] is None


def test_a_valid_text_is_described(client, small):
    said = client.post("api/check", json={"file": "small.toml", "text": small.read_text()}).json()
    assert said["diagnostics"] == []
    about = said["about"]
    assert (about["title"], about["flows"], about["duration_s"], about["points"]) == (
        "One Reno flow",
        1,
        4.0,
        0,
    )
    assert about["network"].startswith("<svg")
    assert not about["emulation"]["possible"]


@pytest.mark.parametrize(
    ("sweep", "points", "seeds"),
    [
        ("seed = [1, 5, 9]", 1, 3),
        ('"flows.reno.packet" = ["1000 B", "1500 B"]', 2, 0),
        ('seed = [1, 5]\n"flows.reno.packet" = ["1000 B", "1500 B"]', 2, 2),
    ],
)
def test_listed_seeds_are_no_points_of_a_sweep(client, small, sweep, points, seeds):
    text = f"{small.read_text()}\n[sweep]\n{sweep}\n"
    said = client.post("api/check", json={"file": "small.toml", "text": text}).json()
    assert (said["about"]["points"], said["about"]["seeds"]) == (points, seeds)
    shown = tw.Scenario.from_toml(text)._repr_html_()
    assert f"{points} point" in shown.replace("\u00a0", " ")
    assert (f"and {seeds} seeds" in shown.replace("\u00a0", " ")) == (seeds > 0)


def test_warnings_are_told_as_such(client, small):
    text = small.read_text().replace("[expect]", '[expect]\n"flow.reno.fct" = "<= 1 s"')
    said = client.post("api/check", json={"file": "small.toml", "text": text}).json()
    assert [one["severity"] for one in said["diagnostics"]] == ["warning"]
    assert said["about"] is not None


def test_a_text_that_is_not_saved_survives_the_studio(client, studio, small):
    draft = small.read_text() + "# more\n"
    client.post("api/check", json={"file": "small.toml", "text": draft})
    assert small.read_text() != draft
    later = Studio(Folder(studio.folder.root))
    opened = later.folder.open("small.toml")
    assert (opened["text"], opened["saved"], opened["draft"]) == (draft, small.read_text(), True)
    client.post("api/save", json={"file": "small.toml", "text": draft})
    assert small.read_text() == draft
    assert later.folder.open("small.toml")["draft"] is False


def test_a_new_scenario_never_replaces_a_file(client, tmp_path):
    (tmp_path / "tcp.toml").write_text("mine")
    opened = client.get("api/starter", params={"name": "tcp"}).json()
    assert opened["file"] == "tcp2.toml"
    refused = client.post("api/save", json={"file": "tcp.toml", "text": "x", "starter": "tcp"})
    assert "exists already" in refused.json()["error"]["message"]
    assert (tmp_path / "tcp.toml").read_text() == "mine"
    client.post("api/check", json={"file": "tcp2.toml", "text": "# draft", "starter": "tcp"})
    assert client.get("api/starter", params={"name": "tcp"}).json()["text"] == "# draft"
    client.post("api/save", json={"file": "tcp2.toml", "text": opened["text"], "starter": "tcp"})
    assert (tmp_path / "tcp2.toml").read_text() == opened["text"]
    assert client.get("api/starter", params={"name": "tcp"}).json()["text"] == opened["text"]


def labels(before, after=""):
    return [option["label"] for option in complete(before, after)["options"]]


@pytest.mark.parametrize(
    ("before", "there", "missing"),
    [
        ("", ["title", "topology", "flows"], ["kind"]),
        ("[", ["topology", "record", "expect"], ["flows"]),
        ("[[", ["flows", "events"], ["topology"]),
        ("[topology]\n", ["kind", "bottleneck"], ["title"]),
        ('[topology]\nkind = "', ['"dumbbell"', '"star"'], []),
        ('[topology]\nkind = "star"\n', ["leaves", "link"], ["bottleneck", "kind", "hops"]),
        ("[topology]\nbottleneck = { ", ["rate", "delay", "buffer"], ["kind"]),
        ('[topology]\nbottleneck = { rate = "1 Mbit/s", ', ["delay"], ["rate"]),
        ("[topology.bottleneck]\n", ["rate", "delay"], ["kind"]),
        ("[topology]\nbottleneck.", ["rate", "delay"], ["kind"]),
        ("[topology]\nbottleneck = { queue = ", ['"codel"', '"fifo"'], []),
        ('[[flows]]\nname = "a"\n', ["scheme", "count"], ["name", "title"]),
        ('[[flows]]\nscheme = "', ['"reno"', '"cubic"'], []),
        ('[[flows]]\nscheme = "aimd"\nparams = { ', ["a", "b"], ["name"]),
        ('[topology]\nkind = "custom"\nlinks = [\n  { ', ["ends", "rate"], ["kind"]),
        ('[record]\nseries = ["rate", "', ['"backlog"'], []),
        ("[[flows]]\nmulticast = ", ["true", "false"], []),
        ("# a comment [", [], ["topology"]),
        ('title = "a" ', [], ["seed"]),
        ('title = "an [unclosed\n', ["seed"], []),
        ('title = """\nscheme = ', [], ["seed", '"reno"']),
    ],
)
def test_completion_offers_what_can_stand_there(before, there, missing):
    found = labels(before)
    assert set(there) <= set(found)
    assert not set(missing) & set(found)


def test_completion_knows_the_keys_after_the_place():
    assert "scheme" not in labels("[[flows]]\n", '\nscheme = "reno"\n[record]\nevery = "1 s"\n')
    assert "every" in labels("[record]\n", '\n[[flows]]\nevery = "1 s"\n')


def test_completion_says_what_a_key_means_and_what_it_replaces(client):
    said = client.post("api/complete", json={"before": "[[flows]]\nsche", "after": ""}).json()
    assert said["written"] == "sche"
    option = next(one for one in said["options"] if one["label"] == "scheme")
    assert option["apply"] == "scheme = "
    assert option["info"]


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml"))[::6], ids=lambda path: path.stem)
def test_completion_offers_every_key_of_a_scenario_at_its_place(file):
    text = file.read_text(encoding="utf-8")
    for entry in re.finditer(r"^([a-z_0-9]+)[ \t]*=", text, re.MULTILINE):
        header = re.findall(r"^\[+([\w.]+)\]", text[: entry.start()], re.MULTILINE)
        if (header and header[-1].split(".")[0] in ("expect", "sweep")) or (
            header and "params" in header[-1]
        ):
            continue
        # the rest of the line is not written yet
        found = complete(text[: entry.start()], text[text.index("\n", entry.start()) :])
        assert entry[1] in [one["label"] for one in found["options"]], (file.name, entry[0])
