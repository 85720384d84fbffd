"""What figures and tables of the MCA paper draw, and what their captions say of it, from samples that are made here."""

from __future__ import annotations

import numpy as np

from thalweg_papers._base import Samples, Scale
from thalweg_papers.mca import figures, measures, scenarios
from thalweg_papers.mca.keys import Key


def test_ten_runs_are_drawn_with_the_throughput_that_the_row_has():
    runs = [
        {
            "throughput_bps": 1e3 * received,
            "staying_throughput_bps": 1e3 * received,
            "rate_bps": 1e3 * sent,
            "feedback_packets": 3000.0,
            "duration_s": 1000.0,
        }
        for received, sent in ((258.6, 271.6), (226.7, 240.8), (259.2, 275.3))
    ]
    samples = Samples({(Key.DYNAMIC_TREE, "all"): runs})
    drawn = figures.ten_runs(samples, Scale())
    columns = drawn.tables["runs"].columns
    row = measures.tree_throughput(samples)
    for name in ("throughput_kbps", "sending_kbps"):
        assert np.allclose(columns[name][:3], row[name].values)
        assert np.isclose(columns[name][3], row[name].mean, atol=0.006)
    assert "receivers" in drawn.svg
    below = [text.split("<")[0] for text in drawn.svg.split("text-anchor: middle")[1:4]]
    assert [text.rsplit(">", 1)[-1] for text in below] == ["1", "2", "3"]


def star(start_s):
    times = np.arange(1.0, 401.0)
    return {
        "times_s": times,
        "multicast_bps": np.where(times > start_s, 2e5, 0.0),
        "unicast_mean_bps": np.full(400, 2e5),
        "unicast_ci95_bps": np.full(400, 1e3),
        "backlog": np.ones(400),
        "utilisation": np.full(400, 0.9),
        "multicast_rate_bps": 2e5 * (400 - start_s) / 400,
        "unicast_rate_bps": 2e5,
    }


def test_average_rates_of_the_star_are_from_the_beginning_of_the_run_as_its_caption_says():
    samples = Samples({(Key.STAR, buffer): [star(20), star(0)] for buffer in ("lossless", "lossy")})
    drawn = figures.figure_12(samples, Scale())
    last = drawn.tables["lossless"].columns["multicast_average_rate_bps"][-1]
    ratio = measures.star_ratio("lossless")(samples)["ratio"].values
    assert np.isclose(last / 2e5, 0.95)
    assert np.isclose(ratio[0], 0.95)
    assert "what was sent in [0, t] over t" in drawn.caption
    assert "within the first 20 s" in drawn.caption
    assert figures.DRAWN in drawn.caption


def test_table_1_says_what_is_left_out_of_each_period():
    def run(scale):
        return {
            "end_s": scale.seconds(scenarios.TRACKING_S),
            "switch_s": np.array([0.0]),
            "switch_link": np.array([1.0]),
        }

    for factor, words in (
        (1.0, "without the first 20 s of each 200 s"),
        (0.25, "without the first 20 s of each 50 s"),
    ):
        scale = Scale(factor)
        samples = Samples({(Key.TRACKING, buffer): [run(scale)] for buffer in ("lossless", "lossy")})
        assert words in figures.table_1(samples, scale).title
