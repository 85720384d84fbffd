"""Compares the dependencies of the workspace's crates with the allowed ones, and fails on any other.

Also: which crate may use which external library, that every crate takes the workspace's lints, that the library
`thalweg` imports nothing of `thalweg_papers`, that its commands and its studio have no more in common than what is below
both, and that the papers use only what is public in the library.
"""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BASE = {"units", "contract", "wire", "stack", "schemes"}
RUNS = {"sim", "driver", "transfer", "quic-net", "ndn-net", "emulate", "lab"}

ALLOWED = {
    "units": set(),
    "memory": set(),
    "contract": {"units"},
    "wire": {"units", "contract"},
    "stack": {"units", "memory", "contract"},
    "schemes": {"units", "contract"},
    "sim": {"units", "memory", "contract", "stack", "schemes"},
    "driver": {"units", "contract", "wire"},
    "transfer": {"units", "contract", "wire"},
    "ndn-net": BASE | {"driver", "quic-net"},
    "thalweg-quic": {"units", "contract", "schemes"},
    "quic-net": BASE | {"driver", "transfer", "thalweg-quic", "stacks"},
    "emulate": BASE | {"sim", "driver", "transfer", "ndn-net"},
    "stacks": {"units", "contract", "stack", "thalweg-quic"},
    "drill": {"units", "contract", "stack", "schemes"},
    "lab": {
        "drill",
        "units",
        "memory",
        "contract",
        "wire",
        "stack",
        "schemes",
        "sim",
        "stacks",
    },
    "tables": {"units", "contract", "stack", "schemes", "sim", "lab"},
    "python": BASE | RUNS | {"drill", "tables"},
    "benches": BASE | RUNS,
}

# Tests may use more: a state machine is tested with a congestion controller. Schemes in whole scenarios are tests
# of `lab`, so that the tests of a scheme are built without it.
ALLOWED_IN_TESTS = {
    "stack": {"schemes"},
    "emulate": {"lab", "quic-net"},
    "thalweg-quic": {"stack"},
    "stacks": {"sim"},
}

# External libraries below `lab`: few, each with its reason.
SMALL = {
    "ambassador",  # enums of parts: generates the match that forwards each call of a trait
    "ecow",  # names of sixteen bytes: a large network has several per flow
    "etherparse",  # headers of IP, UDP and TCP
    "libm",  # the same mathematics on every machine
    "rand_core",  # the trait of random generators
    "rand_pcg",  # one small generator per component
    "sha2",  # digests that sign named data
}

# External libraries that only some crates may use.
RESTRICTED = {
    "serde": {"lab", "tables", "python", "benches"},
    "pyo3": {"python"},
    "arrow": {"tables", "python"},
    "parquet": {"tables", "python"},
    "libc": {"emulate", "memory"},
    "netlink": {"emulate"},
    "tun": {"emulate"},
    "nix": {"driver", "transfer", "ndn-net", "emulate", "benches"},
    "blake3": {"transfer", "quic-net"},
    "x25519": {"stacks"},
    "raptorq": {"transfer"},
    "noq": {"thalweg-quic", "stacks"},
    "dimpl": {"stacks"},
    "str0m": {"stacks"},
    "quinn": {"driver", "quic-net", "thalweg-quic", "stacks"},
    "socket2": {"driver"},
    "getrandom": {"driver", "ndn-net"},
}

BELOW_LAB = {"units", "contract", "wire", "stack", "schemes", "sim", "drill"}

# They call the system or the processor in ways that need `unsafe`, and write the other lints themselves.
OWN_LINTS = {"emulate", "memory", "python"}


# Packages of `thalweg` that a package or a module of it must not import. The command `studio` starts the studio.
ABOVE = {
    "thalweg.runs": {"thalweg.cli", "thalweg.studio"},
    "thalweg.studio": {"thalweg.cli"},
}


def family(name):
    """`arrow-array` is of the family `arrow`, `serde_json` of `serde`."""
    return name.replace("_", "-").split("-")[0]


def wrong_dependencies(packages):
    """One sentence per dependency that is not allowed."""
    names = {package["name"] for package in packages}
    for package in packages:
        user = package["name"]
        if user not in ALLOWED:
            yield f"crate `{user}` is not in the table: add it to ALLOWED in tools/dependencies.py"
            continue
        for dependency in package["dependencies"]:
            used, kind = dependency["name"], dependency["kind"] or "normal"
            if used in names:
                allowed = ALLOWED[user] | (ALLOWED_IN_TESTS.get(user, set()) if kind == "dev" else set())
                if used not in allowed:
                    yield f"`{user}` must not use `{used}` ({kind}): ALLOWED does not have it"
            elif kind == "dev":
                continue
            elif family(used) in RESTRICTED and user not in RESTRICTED[family(used)]:
                yield f"`{user}` must not use `{used}`: only {', '.join(sorted(RESTRICTED[family(used)]))} may"
            elif user in BELOW_LAB and used not in SMALL:
                yield f"`{user}` must not use `{used}`: below `lab` only {', '.join(sorted(SMALL))}"
        manifest = tomllib.loads(Path(package["manifest_path"]).read_text())
        if not manifest.get("lints", {}).get("workspace") and user not in OWN_LINTS:
            yield f"`{user}` does not take the workspace's lints: `[lints] workspace = true`"


def imported(path):
    """Every dotted name that a Python file imports from another package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_within(path, root):
    """Every dotted name that a Python file imports, with the package before those that are relative."""
    above = path.relative_to(root).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*above[: len(above) - node.level + 1], *([node.module] if node.module else [])]
            yield from (".".join([*base, alias.name]) for alias in node.names)
    yield from imported(path)


def wrong_imports(root):
    """One sentence per Python import that is not allowed."""
    for path in sorted((root / "python").rglob("*.py")):
        own = ".".join(path.relative_to(root / "python").with_suffix("").parts)
        above = {
            name for below, names in ABOVE.items() if f"{own}.".startswith(f"{below}.") for name in names
        }
        for name in imported_within(path, root / "python"):
            if any(f"{name}.".startswith(f"{one}.") for one in above):
                yield f"{path.relative_to(root)} must not import `{name}`: ABOVE in tools/dependencies.py has it"
            if name.split(".")[0] == "thalweg_papers":
                yield f"{path.relative_to(root)} must not import `{name}`: papers are found by their entry points"
    for path in sorted((root / "papers").rglob("*.py")):
        for name in imported(path):
            first, *rest = name.split(".")
            if first == "thalweg" and any(part.startswith("_") for part in rest):
                yield f"{path.relative_to(root)} must not import `{name}`: it is not public"


def main():
    answer = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    problems = [*wrong_dependencies(json.loads(answer.stdout)["packages"]), *wrong_imports(ROOT)]
    for problem in problems:
        print(problem)
    if not problems:
        print("every dependency is allowed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
