"""Rewrites the registry's block in schemes/lib.rs, and the window schemes of QUIC, from the folders of schemes.

A folder whose mod.rs exports `fn control(` is a congestion control, one with `fn sender(` is a stream; a
stream with `fn router(` has a part in routers as well. `fn strategy(` and `fn link(` are parts in NDN forwarders,
beside either or alone; `fn app(` is a control app, beside others or alone. A congestion control of the family ip that
needs no marks is one of QUIC.
With `--check`, writes nothing and fails when a block is stale.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN = "// registry: begin (written by `make registry` from the folders)\n"
BLOCK = re.compile(rf"{re.escape(BEGIN)}.*?// registry: end\n", re.S)


def variant(folder):
    """`fast_tcp` becomes `FastTcp`."""
    return "".join(part.capitalize() for part in folder.split("_"))


def exports(function, text):
    """Whether a title page defines the function or passes it on from one of its files."""
    return re.search(rf"^pub (const )?fn {function}\(|^pub use [^;]*\b{function}\b[^;]*;", text, re.M)


def folders(schemes):
    """Names of the folders that hold a scheme, and which kind each is."""
    kinds = {kind: [] for kind in ("control", "stream", "router", "strategy", "link", "app", "forwarder")}
    for title_page in sorted(schemes.glob("[a-z]*/mod.rs")):
        name, text = title_page.parent.name, title_page.read_text()
        if "SCHEME: Scheme" not in text:
            continue
        for kind in ("strategy", "link", "app"):
            if exports(kind, text):
                kinds[kind].append(name)
        if exports("control", text):
            kinds["control"].append(name)
        elif exports("sender", text):
            kinds["stream"].append(name)
            if exports("router", text):
                kinds["router"].append(name)
        elif any(exports(kind, text) for kind in ("strategy", "link", "app")):
            kinds["forwarder"].append(name)
        else:
            raise SystemExit(
                f"schemes/{name}/mod.rs exports none of `control`, `sender`, `strategy`, `link` and `app`"
            )
    return kinds


def block(kinds):
    """The block's text."""
    modules = "".join(
        f"pub mod {name};\n" for name in sorted(kinds["control"] + kinds["stream"] + kinds["forwarder"])
    )
    rows = []
    for kind, names in kinds.items():
        if names and kind == "forwarder":
            rows.append(f"    {kind} {{\n" + "".join(f"        {n},\n" for n in names) + "    }\n")
        elif names:
            rows.append(
                f"    {kind} {{\n" + "".join(f"        {n}: {variant(n)},\n" for n in names) + "    }\n"
            )
        else:
            rows.append(f"    {kind} {{}}\n")
    return f"{BEGIN}{modules}\nregistry! {{\n{''.join(rows)}}}\n// registry: end\n"


def over_quic(schemes, controls):
    """The block of the window schemes that a QUIC stack can use, whose acknowledgements tell of no marked packets."""
    rows = []
    for name in controls:
        text = (schemes / name / "mod.rs").read_text()
        families = re.search(r"families: &\[(.*?)\]", text, re.S)
        if families and "Family::Ip" in families[1] and "Need::Ecn" not in text:
            rows.append(f"        {name}: {variant(name)},\n")
    return f"{BEGIN}{''.join(rows)}        // registry: end\n"


def refresh(root, check=False):
    """Writes the blocks that differ; says whether one did."""
    kinds, changed = folders(root / "schemes"), False
    for path, fresh in (
        ("schemes/lib.rs", block(kinds)),
        ("crates/quic/src/lib.rs", over_quic(root / "schemes", kinds["control"])),
    ):
        if not (root / path).parent.parent.is_dir():
            # a part of the tree
            continue
        text = (root / path).read_text()
        if not BLOCK.search(text):
            raise SystemExit(f"{path} has no block between `registry: begin` and `registry: end`")
        written = BLOCK.sub(lambda _, fresh=fresh: fresh, text, count=1)
        changed |= written != text
        if not check and written != text:
            (root / path).write_text(written)
    return changed


def main():
    check = "--check" in sys.argv[1:]
    changed = refresh(ROOT, check)
    if check and changed:
        print("the registry in schemes/lib.rs or crates/quic/src/lib.rs is stale: run `make registry`")
        return 1
    print("the registry is rewritten" if changed else "the registry is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
