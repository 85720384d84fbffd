"""`thalweg --install-completion`: completion of commands and options by Tab in a shell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from .output import CommandError, show_json


def install_completion(
    *,
    shell: Literal["bash", "zsh", "fish", "powershell"] | None = None,
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
    json: bool = False,
) -> int:
    """Install completion for a shell: write its script, and load it from the shell's startup file.

    Parameters
    ----------
    shell
        Shell to install it for; by default the one that runs this command.
    out
        Write the script to this file only, and leave the startup file as it is.
    json
        Print one JSON object.
    """
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    from . import application

    try:
        shell = shell or detect_shell()
    except ShellDetectionError as error:
        raise CommandError("the shell is not known", "name it: --shell bash") from error
    file = application().install_completion(shell=shell, output=out, add_to_startup=out is None)
    if json:
        show_json({"shell": shell, "file": str(file)})
    else:
        print(f"wrote {file} for {shell}" + ("; it works in new shells" if out is None else ""))
    return 0
