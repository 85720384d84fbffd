"""Rewrites the registry's block in schemes/lib.rs from the folders of schemes.

A folder whose mod.rs exports `fn control(` is a congestion control, one with `fn sender(` is a stream; a
stream with `fn router(` has a part in routers as well. `fn strategy(` and `fn link(` are parts in NDN forwarders,
beside either or alone; `fn app(` is a control app, beside others or alone.
With `--check`, writes nothing and fails when the block is stale.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"// registry: begin \(written by `make registry` from the folders\)\n.*?// registry: end\n", re.S
)


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
    return (
        "// registry: begin (written by `make registry` from the folders)\n"
        f"{modules}\nregistry! {{\n{''.join(rows)}}}\n"
        "// registry: end\n"
    )


def refresh(root, check=False):
    """Writes the block where it differs; says whether it differed."""
    catalogue = root / "schemes" / "lib.rs"
    text = catalogue.read_text()
    if not BLOCK.search(text):
        raise SystemExit("schemes/lib.rs has no block between `registry: begin` and `registry: end`")
    fresh = BLOCK.sub(lambda _: block(folders(root / "schemes")), text, count=1)
    if fresh == text:
        return False
    if not check:
        catalogue.write_text(fresh)
    return True


def main():
    check = "--check" in sys.argv[1:]
    changed = refresh(ROOT, check)
    if check and changed:
        print("the registry in schemes/lib.rs is stale: run `make registry`")
        return 1
    print("schemes/lib.rs rewritten" if changed else "the registry is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
