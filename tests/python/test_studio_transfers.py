"""Transfers that are watched in the studio."""

import base64
import gzip
import json
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

import transfer_ends
from studio_ends import HOST, TOKEN, address_of, fetched, started

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


def status(done, sent, *, lost=0, total=10_000_000):
    """A status as the core reports it."""
    return {
        "phase": "open",
        "bytes": sent,
        "done_bytes": done,
        "total_bytes": total,
        "packets": sent // 1400,
        "lost": lost,
        "reordered": 0,
        "reordered_lost": 0,
        "allowed_bps": 20_000_000,
        "limit_bps": 0,
        "rtt_s": 0.025,
        "scheme": "cvihis",
        "mode": "background",
    }


def columns_of(data):
    """The columns of the charts of a page, by chart and line; the times are `time_s`."""
    header = json.loads(data)
    numbers = np.frombuffer(gzip.decompress(base64.b64decode(header["bytes"])), dtype="<f8")
    return {
        chart["name"]: {
            name: numbers[first : first + length]
            for name, (first, length) in zip(
                ["time_s", *(one["label"] for one in chart["subjects"])], chart["columns"], strict=True
            )
        }
        for chart in header["charts"]
    }


def test_the_charts_of_a_transfer_have_every_byte_however_long_it_is():
    from thalweg.studio.transfer import MAX_SAMPLES, TransferActivity

    activity = TransferActivity(SimpleNamespace(stop=lambda: None), "film to host", "", sending=True)
    last = 5 * MAX_SAMPLES
    for step in range(last + 1):
        activity.look(status(500 * step, 700 * step, lost=step // 10, total=500 * last), 0.2 * step, "line")
    assert activity.snapshot()["progress"] == {"share": 1.0, "label": "line"}
    charts = activity.charts()
    rate = columns_of(charts["data"])["rate"]
    assert set(rate) == {"time_s", "sent, with headers and repairs", "delivered", "allowed by the scheme"}
    assert MAX_SAMPLES / 4 < len(rate["time_s"]) <= MAX_SAMPLES
    steps = np.diff(rate["time_s"])
    for line, bytes_per_step in (("sent, with headers and repairs", 700), ("delivered", 500)):
        moved = np.sum(rate[line][1:] * steps) / 8
        assert moved == pytest.approx(bytes_per_step * rate["time_s"][-1] / 0.2)
    assert columns_of(charts["data"])["lost"]["lost"][-1] == pytest.approx(rate["time_s"][-1] / 2, abs=1)
    assert {"what": "round-trip time", "value": "25 ms"} in charts["flows"]["rows"]


def test_a_transfer_without_an_end_has_no_share_and_a_failed_one_says_why():
    from thalweg.studio.transfer import TransferActivity

    activity = TransferActivity(SimpleNamespace(stop=lambda: None), "stream", "", sending=False)
    activity.look(status(10, 20, total=0), 0.0, "10 B")
    assert activity.snapshot()["progress"] == {"share": None, "label": "10 B"}
    ended = {**status(30, 50, total=0), "complete": False, "end": "silent"}
    with activity.watched():
        activity.finish(ended, 1.0, "incomplete: the sender stopped answering", "start it again", [])
    said = activity.snapshot()
    assert (said["state"], said["note"]) == ("failed", "incomplete: the sender stopped answering")
    assert said["hint"] == "start it again"


def test_the_folder_of_a_transfer_is_not_served(client, studio, small):
    from thalweg.studio.transfer import TransferActivity

    studio.hub.add(TransferActivity(SimpleNamespace(stop=lambda: None), "film", "", sending=True))
    assert client.get("activity/1/small.toml").status_code == 404
    with client.websocket_connect(f"/{TOKEN}/live", headers={"host": HOST}) as socket:
        [shown] = socket.receive_json()["activities"]
    assert (shown["kind"], shown["folder"], shown["page"]) == ("transfer", "", False)
    studio.hub.find(1).finish(
        {**status(1, 2), "complete": True, "end": "complete"}, 1.0, "complete", None, []
    )


@pytest.mark.processes
def test_a_transfer_is_watched_and_stopped_from_the_browser(tmp_path):
    (tmp_path / "film.bin").write_bytes(bytes(range(256)) * 40_000)
    at = f"127.0.0.1:{transfer_ends.port()}"
    receiver = transfer_ends.start(
        "recv", at.rpartition(":")[2], "--bind", "127.0.0.1", "--into", tmp_path / "in", "--json"
    )
    words = ("send", "film.bin", at, "--rate", "2 Mbit/s", "--live", "--json")
    with started(*words, cwd=tmp_path) as process:
        address = address_of(iter(process.stderr.readline, ""))
        deadline = time.monotonic() + 300
        charts = {"data": None}
        while charts["data"] is None or np.nansum(columns_of(charts["data"])["rate"]["delivered"]) == 0:
            assert time.monotonic() < deadline, "nothing is shown"
            time.sleep(0.1)
            charts = fetched(address, "api/charts/1")
        assert charts["flows"]["heading"] == "So far"
        fetched(address, "api/stop", {"id": 1})
        while charts["flows"]["heading"] != "Outcome":
            assert time.monotonic() < deadline + 300, "it does not end"
            time.sleep(0.1)
            charts = fetched(address, "api/charts/1")
        rate = columns_of(charts["data"])["rate"]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)
    said = json.loads(out)
    assert (process.returncode, said["end"]) == (130, "stopped")
    delivered = np.nansum(rate["delivered"][1:] * np.diff(rate["time_s"])) / 8
    assert delivered == pytest.approx(said["done_bytes"])
    assert transfer_ends.end(receiver)["code"] == 1
