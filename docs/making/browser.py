"""A browser without a window, where there is one: for pictures of pages and for their tests."""

import subprocess
import tempfile
from pathlib import Path
from shutil import which

CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")

QUIETLY = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--hide-scrollbars",
)


def open_page(page: Path, *flags: str, fragment: str = "") -> str:
    """What Chromium prints of the page, which it opens from the disk, in a profile of its own;
    CalledProcessError or TimeoutExpired if it fails.
    """
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [CHROMIUM, *QUIETLY, f"--user-data-dir={profile}", *flags]
        done = subprocess.run(
            [*command, page.resolve().as_uri() + fragment],
            capture_output=True,
            check=True,
            timeout=120,
        )
    return done.stdout.decode("utf-8", "replace")
