"""Builds the site of the docs in `out/site`; `make site` runs it. With `--quick`, it runs no scenario: to check the pages.

With `--look`, Chromium looks at pages of each kind in light and dark and on a phone and goes through them with the Tab key;
what axe-core finds and what Tab does not reach or show is an error.

The sources are the Markdown pages and notebooks of the repository. They are copied to `target/site/source`, because pages of
schemes and of the root belong to the site too; links between them are rewritten. Pages that are generated: the gallery of
scenarios (each is run, and its pictures drawn), the gallery of papers, the reference of the command, the crates. What was
run is kept in `target/site/runs` until the scenario or the program changes.
"""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import diagrams
import thalweg as tw
import wheels
from thalweg import cli, papers, plots, report

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "site"
SOURCE = WORK / "source"
EXTRA = WORK / "extra"
"""Files that become a part of the site as they are."""
SITE = ROOT / "out" / "site"

PLACES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "internals/architecture.md",
    "CONTRIBUTING.md": "internals/contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "benches/LOG.md": "internals/measurements.md",
    "papers/README.md": "internals/papers.md",
    "schemes/README.md": "schemes/index.md",
    "docs/gallery/README.md": "gallery/notebooks.md",
}
"""Pages whose place on the site does not follow from their folder."""
BELOW = {"schemes/index.md": r"schemes/\w+\.md", "gallery/notebooks.md": r"gallery/[\w-]+\.ipynb"}
"""Pages with others below them in the navigation, and what matches the places of these."""
OWN_INDEX = {"README.md"}
"""Pages of which the site has one of its own."""

PICTURES = {
    "agreement": "",
    "background": "background-compared.svg",
    "controllers": "",
    "cvihis": "figure figure-3",
    "kernel": "kernel-scatter.svg",
    "l4s": "",
    "mca": "figure figure-8",
    "mircc": "coarse-clocks.svg",
    "named-data": "named-data-dumbbell.svg",
    "ndnsieve": "figure figure-4",
    "real-time": "real-time-compared.svg",
    "scaling": "scaling-controller.svg",
    "srmcc": "feedback-scaling.svg",
}
"""The picture of each paper and study in the gallery: one of docs/images, or a figure that is drawn in a short run."""

LOOKED = (
    "index.html",
    "guide/1-first-run.html",
    "papers.html",
    "gallery/scenarios.html",
    "gallery/scenarios/can-many-answer-at-once.html",
    "gallery/how-much-buffer.html",
    "gallery/film.html",
    "report-cards/README.html",
)
"""Pages of each kind, for `--look`."""

LINK = re.compile(r"(?P<before>!?\[(?:[^\]\[]|\[[^\]]*\])*\]\()(?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
FENCED = re.compile(r"(^ *```.*?^ *```[^\n]*$)", re.MULTILINE | re.DOTALL)


def listed(*patterns):
    """Files of the repository, also new ones."""
    argv = ["git", "ls-files", "-co", "--exclude-standard", *patterns]
    told = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return sorted(name for name in set(told.stdout.splitlines()) if (ROOT / name).is_file())


def needs_feature(scenario):
    """Whether the usual build refuses a scenario, because the stack of a flow is a feature that is off."""
    return scenario.is_file() and 'stack = "str0m"' in scenario.read_text(encoding="utf-8")


def place_of(name):
    """Where a file of the repository is in the sources of the site, or None."""
    if name in PLACES:
        return PLACES[name]
    if found := re.fullmatch(r"schemes/([a-z]\w*)/README\.md", name):
        return f"schemes/{found[1]}.md"
    if (found := re.fullmatch(r"scenarios/(.+)\.toml", name)) and not needs_feature(ROOT / name):
        return f"gallery/scenarios/{found[1]}.md"
    if name.startswith("docs/") and name.endswith((".md", ".ipynb", ".svg", ".png")):
        return name.removeprefix("docs/")
    return None


def drawn(block, name):
    """A mermaid block as the picture of it."""
    picture = diagrams.place(block["text"])
    if not picture.exists():
        raise SystemExit(
            f"{name}: a drawing is missing; `python tools/diagrams.py` makes it from\n{block['text']}"
        )
    first = " ".join(block["text"].split()[:1])
    return f"![{first}]({os.path.relpath(picture, (ROOT / name).parent)})"


def relinked(text, name):
    """A page with links that lead to the places of the site. Other files of the repository are offered as downloads."""
    here = Path(place_of(name)).parent

    def link(found):
        target = found["target"]
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        file = os.path.normpath(Path(name).parent / target)
        place = place_of(file)
        if place is None and (ROOT / file).is_file():
            place = f"files/{file}"
            (SOURCE / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, SOURCE / place)
        if place is None:
            return f"{found['before'].lstrip('!')[1:-2]} (`{file}`)"
        return f"{found['before']}{os.path.relpath(place, here)}{found['anchor'] or ''})"

    pieces = FENCED.split(diagrams.BLOCK.sub(functools.partial(drawn, name=name), text))
    # every second piece is code
    return "".join(piece if number % 2 else LINK.sub(link, piece) for number, piece in enumerate(pieces))


def write(place, text):
    """Writes a page of the sources, unless it is there already: sphinx reads again what is newer."""
    file = SOURCE / place
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return place


def copied():
    """Copies the pages of the repository; returns their places."""
    names = listed("*.md", "docs/*.ipynb", "docs/*.svg", "docs/*.png")
    places = {name: place_of(name) for name in names if place_of(name) and name not in OWN_INDEX}
    for name, place in places.items():
        if name.endswith(".md"):
            text = relinked((ROOT / name).read_text(encoding="utf-8"), name)
            if ending := BELOW.get(place):
                below = [other for other in places.values() if re.fullmatch(ending, other) and other != place]
                text += contents(below, place)
            yield write(place, text)
        else:
            (SOURCE / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, SOURCE / place)
            yield place


def contents(places, page):
    """The pages below a page, for the navigation."""
    names = [os.path.relpath(place, Path(page).parent).rpartition(".")[0] for place in places]
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def raw(html):
    """HTML as a part of a page."""
    return f"``````{{raw}} html\n{html}\n``````\n"


def about(text):
    """The first comment of a scenario, as a paragraph."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)


@functools.cache
def program():
    """A digest of everything that a result depends on besides its scenario."""
    return wheels.digest()


def ran(name):
    """Runs a scenario, unless it was run with this program; returns the folder of its results."""
    text = (ROOT / name).read_bytes()
    digest = hashlib.sha256(text + program().encode()).hexdigest()
    folder = WORK / "runs" / name.removesuffix(".toml")
    stamp = folder.parent / f"{folder.name}.digest"
    if not (stamp.exists() and stamp.read_text() == digest):
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            before, sys.stdout = sys.stdout, nowhere
            try:
                code = cli.call(["run", str(ROOT / name), "--out", str(folder), "--jobs", "1", "--json"])
            finally:
                sys.stdout = before
        # 1: something was not as expected, which the page says
        if code not in (0, 1):
            raise SystemExit(f"{name}: `thalweg run` ended with {code}")
        report.write(folder, page_of(name))
        stamp.write_text(digest)
    return folder


def page_of(name):
    """The interactive page of a scenario's run."""
    page = EXTRA / "runs" / f"{name.removeprefix('scenarios/').removesuffix('.toml')}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    return page


def shown(name, quick):
    """A scenario as HTML: what it measured, or its network only."""
    if quick:
        return tw.load(ROOT / name)._repr_html_()
    folder = ran(name)
    done = tw.SweepResult.load(folder) if report.is_sweep(folder) else tw.Result.load(folder)
    return done._repr_html_()


def without_heading(html):
    """An output without its kind and title, which the page has."""
    return re.sub(r'<p class="kicker">.*?</h3>', "", html, count=1, flags=re.DOTALL)


def thumbnail(html, place):
    """The last picture of an output as a file of its own, in the colours of a white card."""
    drawing = plots.resolve_colours(re.findall(r"<svg.*?</svg>", html, re.DOTALL)[-1])
    if "xmlns=" not in drawing:
        drawing = drawing.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    if "xlink:" in drawing and "xmlns:xlink" not in drawing:
        drawing = drawing.replace("<svg", '<svg xmlns:xlink="http://www.w3.org/1999/xlink"', 1)
    return write(place, drawing)


def cards(rows):
    """Pictures with their titles, as a grid of links. A row is: link, picture, title."""
    items = [
        f'<a href="{link}"><img src="{picture}" alt="" loading="lazy"><span>{title}</span></a>'
        for link, picture, title in rows
    ]
    return raw('<div class="cards">\n' + "\n".join(items) + "\n</div>")


def scenarios(quick):
    """The gallery of scenarios: a page of each, and one of all with their pictures."""
    names = [name for name in listed("scenarios/*.toml") if place_of(name)]
    # questions before test cases and known failures, which are in folders
    names.sort(key=lambda name: (name.count("/"), name))
    with ProcessPoolExecutor() as pool:
        outputs = list(pool.map(functools.partial(shown, quick=quick), names))
    rows, inside = [], []
    for name, html in zip(names, outputs, strict=True):
        text = (ROOT / name).read_text(encoding="utf-8")
        title = tw.load(ROOT / name).title
        place = place_of(name)
        picture = f"runs/{name.removeprefix('scenarios/').removesuffix('.toml')}.svg"
        up = "../" * place.count("/")
        thumbnail(html, f"../extra/{picture}")
        link = (
            f'<p><a class="go" href="{up}{picture.removesuffix("svg")}html">Open the interactive page</a></p>'
        )
        page = "" if quick else f"{raw(link)}\n"
        inside.append(
            write(
                place,
                f"# {title}\n\n{about(text)}\n\n{page}{raw(without_heading(html))}\n## The scenario\n\n"
                f"`{name}`, run by `thalweg run {name}`:\n\n```toml\n{text.rstrip()}\n```\n",
            )
        )
        rows.append(
            (
                f"scenarios/{place.removeprefix('gallery/scenarios/').removesuffix('.md')}.html",
                f"../{picture}",
                title,
            )
        )
    inside.append(
        write(
            "gallery/scenarios.md",
            "# Gallery of scenarios\n\nEvery file of `scenarios/` that the usual build runs, with what its run measured. "
            "Each asks one question and says what it expects; tests run all of them.\n\n"
            f"{cards(rows)}\n{contents(inside, 'gallery/scenarios.md')}",
        )
    )
    return inside


def figure_of(study, what, quick):
    """The picture of a paper: its file among the sources, or None."""
    if what.startswith("figure ") and not quick:
        import thalweg_papers

        name = what.removeprefix("figure ")
        kept = WORK / "papers" / study
        done = thalweg_papers.reproduce(study, figure=name, quick=True, jobs=os.cpu_count() or 1, out=kept)
        return thumbnail(done.figures[name].svg, f"../extra/papers/{study}.svg")
    if what.endswith(".svg"):
        target = EXTRA / "papers" / f"{study}.svg"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "docs" / "images" / what, target)
        return target
    return None


def gallery_of_papers(quick):
    """The gallery of papers and studies."""
    rows, parts = [], []
    for name in papers.names():
        study = papers.find(name)
        picture = figure_of(name, PICTURES.get(name, ""), quick)
        anchor = re.sub(r"[^\w-]+", "-", name)
        drawn = raw(f'<p class="drawing"><img src="../papers/{name}.svg" alt=""></p>') if picture else ""
        said = "" if picture else "Its figures take a longer run or an emulation; the command draws them.\n"
        if picture:
            rows.append((f"#{anchor}", f"../papers/{name}.svg", study.title))
        parts.append(f"({name})=\n## {study.title}\n\n`thalweg reproduce {name}`\n\n{drawn}{said}")
    return write(
        "gallery/papers.md",
        "# Gallery of papers\n\nPapers that are reproduced, and studies of our own, each with one of its figures. Figures "
        "of papers are from short runs here. [Papers](../papers.md) has the verdicts on their claims.\n\n"
        + cards(rows)
        + "\n"
        + "\n".join(parts),
    )


def command():
    """The reference of the command, from its help."""
    text = cli.application().generate_docs(output_format="markdown")
    body = text.partition("## thalweg run\n")
    listed_commands = [f"| [`{verb}`](#thalweg-{verb}) | {line} |" for verb, line in cli.VERBS.items()]
    lead = cli.HELP.strip().partition("\n")[2].strip()
    return write(
        "reference/command.md",
        "# The command\n\nThis page is for users of `thalweg`. It has the help of every command. "
        f"[Guide 1](../guide/1-first-run.md) uses some of them.\n\n{lead}\n\n"
        "| command | what it does |\n| --- | --- |\n"
        + "\n".join(listed_commands)
        + "\n\n"
        + body[1]
        + body[2],
    )


def crates():
    """The Rust crates: the first lines of their documentation."""
    rows, parts = [], []
    files = [
        *ROOT.glob("crates/*/Cargo.toml"),
        ROOT / "schemes/Cargo.toml",
    ]
    for manifest in sorted(files):
        package = tomllib.loads(manifest.read_text(encoding="utf-8"))
        library = manifest.parent / package.get("lib", {}).get("path", "src/lib.rs")
        if not library.is_file():
            continue
        lines = []
        for line in library.read_text(encoding="utf-8").splitlines():
            if not line.startswith("//!"):
                break
            lines.append(line.removeprefix("//!").removeprefix(" "))
        text = "\n".join(lines).strip()
        # links of rustdoc lead nowhere here
        text = re.sub(r"\[(`[^`\]]+`)\](?:\([^)]*\)|\[[^\]]*\])?", r"\1", text)
        text = re.sub(r"^\[[^\]]+\]: .*\n?", "", text, flags=re.MULTILINE)
        text = re.sub(r"^(#+) ", r"##\1 ", text, flags=re.MULTILINE)
        text = re.sub(r"^```(?:rust|no_run|ignore)?$", "```rust", text, count=0, flags=re.MULTILINE)
        text = re.sub(r"(```rust\n(?:(?!```).)*?)```rust$", r"\1```", text, flags=re.MULTILINE | re.DOTALL)
        name = package["package"]["name"]
        folder = manifest.parent.relative_to(ROOT)
        first = re.split(r"(?<=[.:])\s", text.replace("\n", " "), maxsplit=1)[0]
        rows.append(f"| [`{name}`](#{name}) | `{folder}` | {first} |")
        parts.append(f"({name})=\n## {name}\n\n`{folder}`\n\n{text}\n")
    return write(
        "reference/crates.md",
        "# Rust crates\n\nThis page is for authors of Rust programs and of schemes. It has the introduction of each crate. "
        "`cargo doc --workspace --no-deps --open` builds the documentation of every type and function; "
        "[Architecture](../internals/architecture.md) says which crate may use which.\n\n"
        "| crate | folder | what it is |\n| --- | --- | --- |\n"
        + "\n".join(rows)
        + "\n\n"
        + "\n".join(parts),
    )


def stage(quick):
    """Writes all sources, and removes what no source gives any more."""
    kept = {*copied(), command(), crates(), *scenarios(quick), gallery_of_papers(quick)}
    for file in SOURCE.rglob("*"):
        place = file.relative_to(SOURCE).as_posix()
        if file.is_file() and place not in kept and not place.startswith("files/"):
            file.unlink()


def main():
    quick = "--quick" in sys.argv[1:]
    site = WORK / "quick" if quick else SITE
    for folder in (SOURCE, EXTRA):
        folder.mkdir(parents=True, exist_ok=True)
    stage(quick)
    argv = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--jobs", "auto"]
    options = ["--builder", "html", "--conf-dir", ROOT / "docs", "--doctree-dir", WORK / "doctrees"]
    told = subprocess.run([*argv, *options, SOURCE, site], cwd=ROOT, check=False)
    if told.returncode == 0:
        pages = len(list(site.rglob("*.html")))
        print(json.dumps({"site": str(site.relative_to(ROOT) / "index.html"), "pages": pages}))
    if told.returncode or "--look" not in sys.argv[1:]:
        return told.returncode
    return look(site)


def look(site):
    """Looks at pages of the site in Chromium; returns 1 if one is not accessible, or too wide for a phone."""
    browser = next(
        filter(
            None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))
        ),
        None,
    )
    if not browser or not shutil.which("npm"):
        raise SystemExit("--look needs Chromium and npm")
    if not (ROOT / "web" / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--silent"], cwd=ROOT / "web", check=True)
    argv = ["node", "browser/site.mjs", browser, site, *LOOKED]
    seen = subprocess.run(argv, cwd=ROOT / "web", stdout=subprocess.PIPE, text=True, check=True)
    print(seen.stdout, end="")
    return int(bool(json.loads(seen.stdout)["problems"]))


if __name__ == "__main__":
    sys.exit(main())
