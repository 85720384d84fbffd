"""Prints what a working copy needs, one requirement per line.

That is what builds the packages, what they depend on, and the dependency group `work`, as pyproject.toml and
papers/pyproject.toml name it, and nothing else does. `make requirements` locks what this prints.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def group(name, groups):
    """The requirements of a group and of those that it includes (PEP 735)."""
    for row in groups[name]:
        if isinstance(row, str):
            yield row
        else:
            yield from group(row["include-group"], groups)


def requirements(projects):
    """All requirements of the projects, except on each other."""
    own = tuple(project["project"]["name"] for project in projects)
    for project in projects:
        wanted = project["build-system"]["requires"] + project["project"]["dependencies"]
        yield from (row for row in wanted if not row.startswith(own))
        if "dependency-groups" in project:
            yield from group("work", project["dependency-groups"])


def main():
    projects = [
        tomllib.loads((ROOT / name / "pyproject.toml").read_text(encoding="utf-8")) for name in ("", "papers")
    ]
    print("\n".join(sorted(set(requirements(projects)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
