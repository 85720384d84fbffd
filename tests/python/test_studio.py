"""The studio: who is answered, what is read, written and served, and the options of its command."""

import re
import socket
from urllib.parse import urlsplit

import pytest

from studio_ends import HOST, SWEEP, TOKEN
from thalweg.cli import call

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from starlette.websockets import WebSocketDisconnect


@pytest.mark.parametrize(
    "path", ["", "/", "/x/", "/a-toke/", "/a-token2/", "/x/api/gallery", "/api/gallery", "/live"]
)
def test_a_request_without_the_token_gets_nothing(client, path):
    answer = client.get(f"http://{HOST}{path}")
    assert (answer.status_code, answer.content) == (404, b"")
    assert set(answer.headers) == {"content-length"}


@pytest.mark.parametrize("path", ["/live", "/x/live", "/a-token2/live"])
def test_a_websocket_without_the_token_does_not_open(client, path):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(path, headers={"host": HOST}):
        pass


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8123"},
        {"host": "127.0.0.1:9"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
    ],
)
def test_another_site_gets_nothing_even_with_the_token(client, headers):
    for answer in (client.get("", headers=headers), client.post("api/run", json={}, headers=headers)):
        assert (answer.status_code, answer.content) == (404, b"")
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(f"/{TOKEN}/live", headers={"host": HOST} | headers),
    ):
        pass


def test_the_page_runs_only_its_own_scripts_and_tells_no_other_site_its_address(client):
    answer = client.get("", headers={"origin": f"http://{HOST}"})
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert not re.search(r"""(?:src|href)=["']https?:""", answer.text)


def test_a_scenario_of_a_gigabyte_is_refused_before_it_is_read(studio, tmp_path):
    from thalweg.studio.server import Served

    at = Served(studio)
    with at.in_background():
        _, host, path, *_ = urlsplit(at.address)
        name, port = host.split(":")
        with socket.create_connection((name, int(port)), timeout=10) as raw:
            head = f"POST {path}api/check HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000000\r\n\r\n"
            raw.sendall(head.encode() + b'{"file": "a.toml"')
            # the answer comes although most of the body is missing, and the connection ends
            said = b"".join(iter(lambda: raw.recv(65536), b""))
    assert said.startswith(b"HTTP/1.1 413")
    assert b"1,000.0 MB: larger than a scenario may be in the studio, 1 MB" in said


def test_a_body_that_does_not_say_its_size_is_refused_at_the_limit(client):
    def parts():
        while True:
            yield b" " * 100_000

    taken = []
    answer = client.post(
        "api/check", content=(taken.append(1) or part for _, part in zip(range(30), parts(), strict=False))
    )
    assert answer.status_code == 413


def test_a_file_of_a_gigabyte_is_refused_before_it_is_read(client, tmp_path):
    huge = tmp_path / "huge.toml"
    with huge.open("wb") as file:
        file.truncate(1_000_000_000)
    for answer in (
        client.get("api/scenario", params={"file": "huge.toml"}),
        client.get("api/picture", params={"file": "huge.toml"}),
        client.post("api/run", json={"file": "huge.toml"}),
    ):
        assert answer.status_code == 413
        assert "1,000.0 MB" in answer.json()["error"]["message"]
    rows = {row["file"]: row for row in client.get("api/gallery").json()["scenarios"]}
    assert "larger than" in rows["huge.toml"]["fault"]
    assert rows["small.toml"]["title"] == "One Reno flow"


@pytest.mark.parametrize(
    "name",
    ["../out.toml", "/etc/passwd", "a.txt", "", ".hidden.toml", "out/x/scenario.toml", "a/../../b.toml"],
)
def test_only_scenarios_below_the_folder_are_read_and_written(client, tmp_path, name):
    for answer in (
        client.get("api/scenario", params={"file": name}),
        client.post("api/save", json={"file": name, "text": "title = 1"}),
        client.post("api/check", json={"file": name, "text": "title = 1"}),
        client.post("api/run", json={"file": name, "text": "title = 1"}),
    ):
        assert answer.status_code == 400
        assert "error" in answer.json()
    assert not (tmp_path.parent / "out.toml").exists()


def test_results_are_served_from_their_folder_only_and_may_do_nothing(client, tmp_path):
    (tmp_path / "out" / "a").mkdir(parents=True)
    (tmp_path / "out" / "a" / "report.html").write_text("<script>1</script>")
    answer = client.get("results/a/report.html")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in answer.headers["content-security-policy"]
    for path in (
        "results/%2e%2e/small.toml",
        "results/../small.toml",
        "results//etc/passwd",
        "results/none.html",
    ):
        assert client.get(f"http://{HOST}/{TOKEN}/{path}").status_code == 404


def test_without_the_extra_the_command_says_what_to_install(capsys, monkeypatch):
    from thalweg.cli import studio as verb

    monkeypatch.setattr(verb, "LIBRARIES", ("starlette", "a_library_that_is_missing"))
    assert call(["studio"]) == 1
    said = capsys.readouterr().err
    assert "a_library_that_is_missing, which is not installed" in said
    assert "pip install thalweg[studio]" in said


def test_a_live_view_is_for_one_run(capsys, tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    assert call(["run", str(file), "--live"]) == 2
    assert "--live is for one run" in capsys.readouterr().err


DEEP = "[" * 100_000

BODIES = {
    "deep list": DEEP,
    "deep object": '{"a":' * 100_000,
    "deep value": '{"file": "small.toml", "text": ' + DEEP,
    "no UTF-8": b"\xff",
    "no object": "null",
    "surrogates": r'{"file": "\ud800.toml", "text": "\ud800", "folder": "\ud800", "folders": ["\ud800", "a"]}',
    "surrogates in a text": r'{"file": "small.toml", "text": "\ud800", "line": "", "paper": "\ud800"}',
    "other types": '{"file": 1, "text": 2, "folder": 3, "folders": 4, "paper": 5, "number": "x", "line": []}',
    "long names": f'{{"file": "{"a" * 5000}.toml", "text": "", "folder": "{"a" * 5000}", "folders": ["{"a" * 5000}", "a"]}}',
    "large numbers": '{"file": "small.toml", "seed": 1e400, "runs": 1e400, "number": 1e99}',
}


@pytest.mark.parametrize(
    "request_", ["check", "complete", "save", "run", "stop", "reproduce", "open", "compare"]
)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_request_with_a_strange_body_is_refused(client, request_, body):
    # the client raises what the application raises
    answer = client.post(f"api/{request_}", content=body)
    assert answer.status_code in (200, 400, 404, 422)
    if body in (DEEP, BODIES["deep object"], BODIES["deep value"]):
        assert answer.status_code == 400
        assert answer.json()["error"]["message"] == "the request is nested too deeply"


@pytest.mark.parametrize(
    "address", [f"results/{'a' * 5000}", f"api/scenario?file={'a' * 5000}.toml", "api/scenario?file=%00.toml"]
)
def test_a_name_that_no_file_can_have_is_not_found(client, address):
    assert client.get(address).status_code in (400, 404)


def test_strange_files_do_not_hide_the_others(client, tmp_path):
    (tmp_path / "deep.toml").write_text(f"[topology]\nx = {DEEP}")
    for name, record in (("deep", DEEP), ("list", "[]"), ("keys", '{"title": 1, "overrides": 5}')):
        (tmp_path / "out" / name).mkdir(parents=True)
        (tmp_path / "out" / name / "run.json").write_text(record)
    gallery = {row["file"]: row for row in client.get("api/gallery").json()["scenarios"]}
    assert gallery["deep.toml"]["fault"]
    assert not gallery["small.toml"]["fault"]
    results = client.get("api/results").json()["results"]
    assert {row["folder"]: row["status"] for row in results} == dict.fromkeys(
        ("deep", "list", "keys"), "cannot be read"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_scenario_is_opened_as_any_editor_saves_it(client, tmp_path, mark, end):
    plain = (tmp_path / "small.toml").read_text()
    (tmp_path / "saved.toml").write_bytes(mark + plain.replace("\n", end).encode())
    rows = {row["file"]: row for row in client.get("api/gallery").json()["scenarios"]}
    assert rows["saved.toml"] == rows["small.toml"] | {"file": "saved.toml"}
    opened = client.get("api/scenario", params={"file": "saved.toml"}).json()
    assert (opened["text"], opened["draft"]) == (plain, False)
    assert client.post("api/check", json={"file": "saved.toml", "text": opened["text"]}).status_code == 200
    # a text that the editor has not changed is no draft
    client.post("api/keep", json={"file": "saved.toml", "text": opened["text"]})
    assert client.get("api/scenario", params={"file": "saved.toml"}).json()["draft"] is False
    assert client.get("api/picture", params={"file": "saved.toml"}).status_code == 200
