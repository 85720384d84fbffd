"""Runs the experiment of the guide's page on live video, and draws its picture and its table. `make video` calls it.

It needs Linux, root and ffmpeg: two emulations of 76 s in real time, beside a TCP flow of the kernel.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import thalweg as tw
from picture import part, write_figure
from thalweg import plots

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "guide" / "5-live-video.md"
MODES = ("real-time", "background")
FRAMES_PER_S = 25
PSNR_CAP_DB = 60.0
"""A frame without any difference, whose PSNR is infinite, is drawn here."""
GOOD_DB = 40.0
"""Frames above this PSNR look like the original."""


def ffmpeg(*words, cwd):
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", *map(str, words)], cwd=cwd, check=True)


def make_test_video(folder):
    """The film: a test picture with a counter, without B-frames, a key frame per second."""
    coded = (
        "-c:v libx264 -preset veryfast -b:v 1900k -maxrate 1900k -bufsize 500k -g 25 -bf 0 -pix_fmt yuv420p"
    )
    source = f"testsrc2=size=640x360:rate={FRAMES_PER_S}"
    ffmpeg("-f", "lavfi", "-i", source, "-t", 60, *coded.split(), "film.mp4", cwd=folder)


def psnr(folder):
    """PSNR of each frame in dB; where a frame is missing, of the one before it, which a player would still show."""
    compared = "[0:v]setpts=PTS[a];[1:v]setpts=PTS[b];[a][b]psnr=stats_file=psnr.log"
    ffmpeg(
        *("-copyts", "-i", "sent.ts", "-copyts", "-i", "received/film.ts"),
        *("-filter_complex", compared, "-f", "null", "-"),
        cwd=folder,
    )
    values = re.findall(r"psnr_avg:(\S+)", (folder / "psnr.log").read_text(encoding="utf-8"))
    return [min(PSNR_CAP_DB, float(value)) for value in values]


def run(mode, text, folder):
    """One emulation: its result, the PSNR of each frame, and what the receiver reports."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    scenario = tw.Scenario.from_toml(text.replace("--mode real-time", f"--mode {mode}"), PAGE.name)
    before = Path.cwd()
    os.chdir(folder)
    try:
        result = scenario.emulate(out=folder / mode)
    finally:
        os.chdir(before)
    log = (folder / mode / "commands" / "film-receiver.log").read_text(encoding="utf-8")
    return result, psnr(folder), json.loads(log[log.index("{") :])


def row(mode, result, quality, received):
    """A row of the page's table."""
    good = sum(value >= GOOD_DB for value in quality)
    [download] = result.flows.filter(flow="download").to_dicts()
    return (
        f"| {mode} | {100 * good / len(quality):.1f} % | {sum(quality) / len(quality):.1f} "
        f"| {received['late'] + received['dropped']:,} | {download['goodput_bps'] / 1e6:.2f} |"
    )


def draw(results):
    with plots.in_style():
        figure = plots.figure_class()(figsize=(8.2, 5.2))
        rates, quality = figure.subplots(2, 1, sharex=True)
        for mode, (result, values, _) in results.items():
            rate = result.series.filter(series="rate", subject="flow.download")
            rates.plot(rate["time_s"] - 3, rate["value"] / 1e6, label=f"CUBIC of the kernel, beside {mode}")
            quality.plot([n / FRAMES_PER_S for n in range(len(values))], values, label=mode, linewidth=0.8)
        rates.set(ylabel="rate (Mbit/s)", ylim=(0, 4))
        quality.set(
            xlabel="time of the film (s)", ylabel="PSNR (dB)", ylim=(0, PSNR_CAP_DB + 2), xlim=(0, 60)
        )
        plots.place_legend(rates)
        plots.place_legend(quality)
    drawing = plots.svg(
        figure, "live-video", "Rate of a CUBIC flow of the kernel, and PSNR of a film beside it"
    )
    write_figure("live-video.svg", 900, 560, [part(drawing, 20, 12, 860, 540)])


def main():
    page = PAGE.read_text(encoding="utf-8")
    text = re.search(r"^```toml live-video\.toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    results = {}
    with TemporaryDirectory() as folder:
        make_test_video(folder)
        for mode in MODES:
            results[mode] = run(mode, text, Path(folder))
    draw(results)
    for mode, result in results.items():
        print(row(mode, *result))


if __name__ == "__main__":
    main()
