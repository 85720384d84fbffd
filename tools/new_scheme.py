"""Makes a new scheme: copies a template of schemes/_templates to a folder of its name and refreshes the registry.

The result builds and passes; what is left is to say what the scheme does.
"""

import re
import shutil
import sys
from pathlib import Path

import registry

ROOT = Path(__file__).resolve().parent.parent
# What is written by hand in a scheme of each kind, beside README.md, mod.rs, tests.rs and experiments/.
FILES = {
    "window": {"control.rs": "the congestion window: congestion avoidance and ssthresh"},
    "stream": {"endpoints.rs": "the congestion controllers of the source and of a receiver"},
    "router": {
        "endpoints.rs": "the congestion controllers of the source and of a receiver",
        "router.rs": "the part in routers",
    },
    "forwarder": {"strategy.rs": "which next hops Interests take"},
    "controller": {"app.rs": "what the SDN controller commands"},
}
RESERVED = {"shared", "template", "templates", "registry", "schemes", "self", "super", "crate", "custom"}


def refuse(name, root, kind="window"):
    """Why there cannot be a scheme of this name and kind; nothing when there can."""
    if kind not in FILES:
        return f"`{kind}` is no kind of scheme: KIND is one of {', '.join(FILES)}"
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        return f"`{name}` is not in snake_case: lower-case words joined by _, as in `fast_tcp`"
    if name in RESERVED:
        return f"`{name}` is the name of a part of Thalweg"
    if (root / "schemes" / name).exists():
        return f"schemes/{name} exists"
    return None


def copy(name, root, kind="window"):
    """Copies a template under the new name."""
    source, target = root / "schemes" / "_templates" / kind, root / "schemes" / name
    shutil.copytree(source, target)
    for path in sorted(target.rglob("*")):
        if path.is_file():
            text = path.read_text()
            text = re.sub(r"\btemplate\b", name, text)
            text = re.sub(r"\b(Template|TEMPLATE)\b", registry.variant(name), text)
            path.write_text(text)


def main():
    name, kind = [*sys.argv[1:], "", ""][:2]
    kind = kind or "window"
    if not name:
        raise SystemExit(f"usage: make new-scheme NAME=swift KIND={'|'.join(FILES)}")
    if reason := refuse(name, ROOT, kind):
        raise SystemExit(reason)
    copy(name, ROOT, kind)
    registry.refresh(ROOT)
    steps = {
        "README.md": "idea, sources, equations",
        "mod.rs": "title page and parameters",
        **FILES[kind],
        "tests.rs": "one test per claim of its paper",
        "experiments/": "scenarios with what the paper says of their results",
    }
    print(f"schemes/{name} is made, and builds. Now:")
    for number, (file, what) in enumerate(steps.items(), 1):
        print(f"  {number}. schemes/{name}/{file:14} {what}")
    print(f"  {len(steps) + 1}. make scheme NAME={name}, then make docs, then make check")
    return 0


if __name__ == "__main__":
    sys.exit(main())
