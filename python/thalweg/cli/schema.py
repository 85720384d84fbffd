"""`thalweg schema`: the JSON Schema of scenario files."""

from __future__ import annotations

from pathlib import Path

from .output import show_json


def schema(*, out: Path | None = None, json: bool = False) -> int:
    """Print the JSON Schema of scenario files, with which editors complete and check them.

    Parameters
    ----------
    out
        Write the schema to this file instead of standard output.
    json
        Print one JSON object: the schema itself or, with `--out`, the path of the file.
    """
    from json import dumps

    from ..catalogue import schema as tree

    if out is None:
        show_json(tree())
        return 0
    out.write_text(dumps(tree(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if json:
        show_json({"file": str(out)})
    else:
        print(
            f"wrote {out}; editors with TOML support read it from the first line of a scenario: #:schema {out}"
        )
    return 0
