"""Makes a new scheme: copies schemes/_template to a folder of its name and refreshes the registry.

The result builds and passes; what is left is to say what the scheme does.
"""

import re
import shutil
import sys
from pathlib import Path

import registry

ROOT = Path(__file__).resolve().parent.parent
RESERVED = {"shared", "template", "registry", "schemes", "self", "super", "crate", "custom"}


def refuse(name, root):
    """Why a name cannot be taken; nothing when it can."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        return f"`{name}` is not in snake_case: lower-case words joined by _, as in `fast_tcp`"
    if name in RESERVED:
        return f"`{name}` is taken by the house"
    if (root / "schemes" / name).exists():
        return f"schemes/{name} exists"
    return None


def copy(name, root):
    """Copies the template under the new name."""
    source, target = root / "schemes" / "_template", root / "schemes" / name
    shutil.copytree(source, target)
    for path in sorted(target.rglob("*")):
        if path.is_file():
            text = path.read_text()
            text = re.sub(r"\btemplate\b", name, text)
            text = re.sub(r"\b(Template|TEMPLATE)\b", registry.variant(name), text)
            path.write_text(text)


def main():
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    root = ROOT
    if not name:
        raise SystemExit("usage: make new-scheme NAME=swift")
    if reason := refuse(name, root):
        raise SystemExit(reason)
    copy(name, root)
    registry.refresh(root)
    print(f"schemes/{name} is made, and builds. Now:")
    print(f"  1. schemes/{name}/README.md   idea, sources, equations")
    print(f"  2. schemes/{name}/mod.rs      title page and parameters")
    print(f"  3. schemes/{name}/edge.rs     the law")
    print(f"  4. schemes/{name}/tests.rs    one test per claim of its paper")
    print(f"  5. make scheme NAME={name}, then make docs, then make check")
    return 0


if __name__ == "__main__":
    sys.exit(main())
