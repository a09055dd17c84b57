"""The command line in a process of its own, as a shell would start it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def environment(**changes: str) -> dict[str, str]:
    """This process's, without what changes how Python treats its streams."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "PYTHONPATH": str(ROOT), **changes}


def shell(command: str, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `callboard` is the program, `$1` the first argument.

    `changes` are to the environment.
    """
    script = f'callboard() {{ "{sys.executable}" -m callboard "$@"; }}\n{command}'
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", *arguments],
        env=environment(**changes),
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
        timeout=120,
    )


def python(program: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
        timeout=120,
    )
