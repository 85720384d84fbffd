"""Writes docs/report-cards/ordinary.md: every scheme alone on the networks of the battery *ordinary*.

`python tools/ordinary.py` runs them all, one seed each, on all cores; a quarter of an hour on two. It needs a core.
"""

import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from thalweg import catalogue
from thalweg.evaluation import ordinary
from thalweg.evaluation.networks import Lab
from thalweg.evaluation.subject import Subject
from thalweg.scenario import Scenario

PAGE = Path(__file__).resolve().parent.parent / "docs" / "report-cards" / "ordinary.md"

HEAD = """<!-- Written by `python tools/ordinary.py`: change the program, not this file. -->

# Alone on forty networks

*Scope: for readers who want to know where a scheme by itself leaves a link empty, or loses. Limits: one flow, one seed.*

Each scheme alone on {networks} networks: 1 to 1000 Mbit/s, round-trip times of 2 to 600 ms, drop-tail queues of 0.5 to 8
bandwidth-delay products, and in ten of them half or twice the rate from the middle on. Runs take 60 s or 150 round-trip
times, of which a third are warm-up. Over TCP with both kinds of it (`tcp.like`). *Use* is the utilisation of the
bottleneck, *loss* its loss ratio. A network counts as *good* with a use of 80 % or more and a loss of 5 % or less; no
document has such limits. `thalweg evaluate SCHEME --row ordinary` runs them for any scheme, also one of your own.

{good} of {runs} runs are good, and {clean} of {cases} schemes and kinds of TCP are good on all networks.

| scheme | TCP | good | lowest use (%) | there | highest loss (%) | there |
| --- | --- | ---: | ---: | --- | ---: | --- |
"""

TAIL = """
## Runs that are not good

| scheme | TCP | network | use (%) | loss (%) |
| --- | --- | --- | ---: | ---: |
"""


def measure(scheme, tcp):
    """Use and loss by network, whose name breaks between its quantities only."""
    subject = Subject.of(scheme)
    found = {}
    for network in ordinary.NETWORKS:
        values = Scenario.from_tree(network.tree(subject, Lab(), tcp)).run(seed=1).values
        found[re.sub(r"(?<=\d) ", "\N{NO-BREAK SPACE}", network.name)] = (
            values["link.bottleneck.utilisation"],
            values["link.bottleneck.loss_ratio"] or 0.0,
        )
    return found


def is_good(use, loss):
    """Whether both limits hold."""
    return use >= ordinary.USE.low and loss <= ordinary.LITTLE.high


def cases():
    """Schemes with data of their own, and the kinds of TCP of each."""
    for row in catalogue.schemes():
        traits = Subject.of(row["name"]).traits
        if "endpoint" in traits:
            yield from ((row["name"], tcp) for tcp in (ordinary.TCPS if "tcp" in traits else ("",)))


def main():
    listed = list(cases())
    with ProcessPoolExecutor() as pool:
        results = list(pool.map(measure, *zip(*listed, strict=True)))
    rows, bad, counts = [], [], Counter()
    for (scheme, tcp), found in zip(listed, results, strict=True):
        good = sum(is_good(*pair) for pair in found.values())
        counts["good"] += good
        counts["clean"] += good == len(found)
        lowest = min(found, key=lambda name: found[name][0])
        highest = max(found, key=lambda name: found[name][1])
        rows.append(
            f"| `{scheme}` | {tcp or '–'} | {good} | {100 * found[lowest][0]:.1f} | {lowest} "
            f"| {100 * found[highest][1]:.2f} | {highest if found[highest][1] else '–'} |\n"
        )
        bad += [
            f"| `{scheme}` | {tcp or '–'} | {name} | {100 * use:.1f} | {100 * loss:.2f} |\n"
            for name, (use, loss) in found.items()
            if not is_good(use, loss)
        ]
    head = HEAD.format(
        networks=len(ordinary.NETWORKS),
        runs=len(listed) * len(ordinary.NETWORKS),
        cases=len(listed),
        good=counts["good"],
        clean=counts["clean"],
    )
    PAGE.write_text(head + "".join(rows) + TAIL + "".join(bad), encoding="utf-8")
    print(f"{PAGE.name}: {counts['good']} of {len(listed) * len(ordinary.NETWORKS)} runs are good")


if __name__ == "__main__":
    main()
