"""`callboard watch --web`: to whom it answers, and what is said where it cannot."""

import asyncio
import contextlib
import importlib.util
import re
import socket
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard import web
from callboard.cli import run_command_line
from callboard.experiments.live.live_server import LiveServer
from callboard.experiments.user_errors import InputError
from callboard.terminal import check_terminal
from docs.making.browser import CHROMIUM
from tests.callboard.support import environment
from tests.support.chromium import open_tab
from tests.support.soak import one_in
from tests.tui.support import Screen, drive
from tests.tui.test_live import plan

pytestmark = pytest.mark.soak

SERVED = pytest.mark.skipif(
    importlib.util.find_spec("textual_serve") is None,
    reason="textual-serve, the extra `web`, is not installed",
)


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were installed."""
    for name in ("textual_serve", "textual_serve.server"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))


def test_without_the_extra_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert run_command_line(["watch", "two-jobs", "--web"]) == 2
    assert 'pip install "callboard[web]"' in capsys.readouterr().err


def test_ctrl_c_is_for_the_server_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A process that was still being loaded ended in a traceback beside the server's."""
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable}\nimport signal, sys\n"
        "print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, sys.argv[1:])\n"
    )
    python.chmod(0o755)
    served: list[str] = []

    def make_server(command: str, _port: int) -> object:
        served.append(command)
        return types.SimpleNamespace(serve=lambda: None)

    monkeypatch.setattr(web, "_make_server", make_server)
    monkeypatch.setattr(sys, "executable", str(python))
    assert web.serve_browsers(["watch", "a b.toml"], 8000) == 0
    out = subprocess.run(served[0], shell=True, capture_output=True, text=True, check=True).stdout
    assert out == "True ['-m', 'callboard', 'watch', 'a b.toml']\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere"),
        (["two-jobs", "--policy", "fairest"], "fairest"),
        (["two-jobs", "--journal", "x.journal"], "--journal: with --web"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_served(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["watch", *arguments, "--web"]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.usefixtures("pretended")
def test_a_port_that_is_taken() -> None:
    with (
        socket.create_server((web.HOST, 0)) as taken,
        pytest.raises(InputError, match=r"--port \d+: .*; try another one"),
    ):
        web.check_port(taken.getsockname()[1])


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "9" * 5000])
def test_what_is_no_port(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        run_command_line(["watch", "two-jobs", "--web", "--port", port])
    assert leaving.value.code == 2
    assert "between 1 and 65535" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "told"),
    [(None, "TERM is not set"), ("", "TERM is not set"), ("dumb", r"\(TERM=dumb\) cannot place")],
)
def test_what_kind_of_terminal_it_is_is_said_as_it_is(
    monkeypatch: pytest.MonkeyPatch, kind: str | None, told: str
) -> None:
    """Without any it was called dumb."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.delenv("TERM", raising=False)
    if kind is not None:
        monkeypatch.setenv("TERM", kind)
    with pytest.raises(InputError, match=told):
        check_terminal()


def test_a_browser_is_terminal_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="needs a terminal"):
        check_terminal()
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    check_terminal()


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """A server in a process of its own; its port."""
    with socket.create_server((web.HOST, 0)) as free:
        port: int = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "callboard", "watch", "two-jobs", "--web", "--port", str(port)],
        env=environment(),
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        assert f"http://127.0.0.1:{port}" in process.stdout.readline()
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=60)


@SERVED
def test_a_browser_sees_the_run_and_no_other_page_does() -> None:
    """The page, the screen behind it, a key, and the door shut to a page from elsewhere."""
    import aiohttp

    async def browse(port: int) -> None:
        base = f"http://127.0.0.1:{port}"
        async with aiohttp.ClientSession() as session:
            async with session.get(base) as page:
                assert page.status == 200
                policy = page.headers["Content-Security-Policy"]
                assert policy.startswith("style-src 'self'")
                assert "frame-ancestors 'none'" in policy
                assert page.headers["X-Frame-Options"] == "DENY"
                text = await page.text()
                assert "<title>callboard</title>" in text
                assert "keys.focus()" in text
                assert not re.search(r"""(href|src)=["'](https?:)?//(?!127)""", text), text
            for path in ("/", "/ws", "/static/js/textual.js"):  # a name that leads here
                async with session.get(base + path, headers={"Host": "evil.example"}) as page:
                    assert page.status == 403
            for size in ("width=0", "width=99999999999", "height=1001", "height=-1", "height=x"):
                with pytest.raises(aiohttp.WSServerHandshakeError, match="400"):
                    await session.ws_connect(f"{base}/ws?{size}", headers={"Origin": base})
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                await session.ws_connect(f"{base}/ws", headers={"Origin": "http://elsewhere"})
            async with session.ws_connect(
                f"{base}/ws?width=100&height=30", headers={"Origin": base}
            ) as screen:
                await seen(screen, b"two-jobs")
                for width, height in ((10**9, 10**9), (0, 0), (-1, 24), ("80", None)):
                    await screen.send_json(["resize", {"width": width, "height": height}])
                await screen.send_json(["stdin", "?"])
                await seen(screen, b"What the signs mean")

    async def seen(screen: "aiohttp.ClientWebSocketResponse", words: bytes) -> None:
        said = b""
        while words not in said:
            message = await screen.receive(timeout=60)
            assert message.type is aiohttp.WSMsgType.BINARY, message
            said += message.data

    with serving() as port:
        asyncio.run(browse(port))


def test_of_sizes_that_pile_up_the_latest_is_handed_on() -> None:
    """A browser that cannot decide sends hundreds, each of which lays the whole screen out anew."""
    handed_on: list[tuple[int, int]] = []

    async def resize() -> None:
        paused, go_on = asyncio.Event(), asyncio.Event()

        async def hand_on(width: int, height: int) -> None:
            handed_on.append((width, height))

        async def pause() -> None:
            paused.set()
            await go_on.wait()

        latest = web.LatestSize(hand_on, pause)
        latest.note_window_size(142, 39)
        await paused.wait()
        for _ in range(100):
            latest.note_window_size(142, 44)
            latest.note_window_size(142, 39)
        latest.note_window_size(80, 24)
        go_on.set()
        await latest.wait_until_settled()
        latest.note_window_size(80, 25)
        await latest.wait_until_settled()

    asyncio.run(resize())
    assert handed_on == [(142, 39), (80, 24), (80, 25)]


@SERVED
@pytest.mark.parametrize("told", [b"", b'{"type": "quit"}'])
def test_a_screen_whose_server_has_gone_ends(told: bytes, tmp_path: Path) -> None:
    """Else it would stay for ever, and out of reach.  It may be told so before it has started,
    while its keys still come from somewhere.
    """
    shown = tmp_path / "shown"
    with shown.open("wb") as out:  # a pipe that nobody reads would hold it up
        process = subprocess.Popen(
            [sys.executable, "-m", "callboard", "watch", "two-jobs"],
            env={**environment(), "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"},
            stdin=subprocess.PIPE,
            stdout=out,
        )
    assert process.stdin is not None
    try:
        if told:
            process.stdin.write(b"M" + len(told).to_bytes(4, "big") + told)
            process.stdin.flush()
        else:
            process.stdin.close()
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
    assert not told or shown.read_bytes()


SEEN = """(() => {
  const layer = document.querySelector(".xterm-text-layer");
  if (!layer || !document.body.classList.contains("-first-byte")) return null;
  const box = layer.getBoundingClientRect(), keys = document.querySelector("textarea");
  const inked = (from, to) => {
    const scale = layer.height / box.height, part = layer.getContext("2d");
    const dots = part.getImageData(0, from * scale, layer.width, (to - from) * scale).data;
    return dots.some((value, at) => at % 4 < 3 && value != dots[at % 4]);
  };
  const ink = inked(0, 24) && inked(box.height - 24, box.height);
  return ink && {
    box: [box.left, box.top, box.right, box.bottom], ink,
    field: Number(getComputedStyle(keys).opacity), page: document.documentElement.scrollHeight,
  };
})()"""
"""Where the terminal's text is on the page, once its first and its last line have some; how opaque
the field that takes the keys is.
"""


@pytest.mark.soak
@SERVED
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
@pytest.mark.parametrize("host", one_in(2, ["127.0.0.1", "localhost"]))
def test_a_window_shows_the_whole_screen(host: str) -> None:
    """The first line at the top, the last above the bottom, at the sizes of a telephone, a laptop
    and a large screen, and nothing over it.
    """

    async def browse(port: int) -> None:
        async with open_tab(f"http://{host}:{port}/", 1280, 800) as tab:
            for width, height in ((1280, 800), (390, 844), (1920, 1080)):
                await tab.resize(width, height)
                fits = f"(b => b[2] <= {width} && b[2] > {width - 20})(seen.box) && seen"
                seen = await tab.until(f"(seen => seen && {fits})({SEEN})")
                left, top, _, bottom = seen["box"]
                assert (left, top) == (0, 0)
                assert height - 40 < bottom <= height
                assert seen["page"] <= height
                assert seen["field"] == 0

    with serving() as port:
        asyncio.run(browse(port))


JOB_BY_JOB = "jjj"
"""Keys that lead from one submission or end of a job to the next."""

NOTING_SIZES = """
const Plain = WebSocket;
window.WebSocket = class extends Plain {
  constructor(url, ...rest) {
    super(url, ...rest);
    const asked = new URL(url).searchParams;
    window.terminal = [Number(asked.get("width")), Number(asked.get("height"))];
  }
};"""
"""Lets the page say how many columns and rows it asked for."""

INKED = """(() => {
  const layer = document.querySelector(".xterm-text-layer"), part = layer.getContext("2d");
  const [columns, rows] = window.terminal;
  const wide = layer.width / columns, high = layer.height / rows;
  return Array.from({length: rows}, (_, row) => Array.from({length: columns}, (_, column) => {
    const cell = [column * wide + 1, row * high + 1, wide - 2, high - 2];
    const dots = part.getImageData(...cell).data;
    return dots.some((value, at) => value != dots[at % 4]) ? "#" : " ";
  }).join(""));
})()"""
"""Each cell of the terminal that is on the page: whether it has ink."""


@pytest.mark.soak
@SERVED
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_what_a_browser_shows_is_what_a_terminal_shows() -> None:
    """Some jobs later each letter and digit has ink in its cell, and no blank has any."""
    latest: list[str] = []

    async def browse(port: int) -> None:
        async with open_tab("about:blank", 1280, 800) as tab:
            await tab.call("Page.enable")
            await tab.call("Page.addScriptToEvaluateOnNewDocument", source=NOTING_SIZES)
            await tab.call("Page.navigate", url=f"http://127.0.0.1:{port}/")
            await tab.until(SEEN)
            for key in JOB_BY_JOB:
                await tab.call("Input.dispatchKeyEvent", type="keyDown", text=key, key=key)
                await tab.call("Input.dispatchKeyEvent", type="keyUp", key=key)
            columns, rows = await tab.evaluate("window.terminal")
            shown = await asyncio.to_thread(in_a_terminal, columns, rows)
            async with asyncio.timeout(150):
                while disagreeing(shown, ink := await tab.evaluate(INKED)):
                    latest[:] = ink
                    await asyncio.sleep(0.5)

    try:
        with serving() as port:
            asyncio.run(browse(port))
    except TimeoutError:
        pytest.fail("\n".join(["what has ink in the browser:", *latest]))


def in_a_terminal(columns: int, rows: int) -> list[str]:
    """The lines of a terminal of that size after the same keys."""
    shown: list[str] = []

    async def act(screen: Screen) -> None:
        await screen.press(*JOB_BY_JOB)
        shown.extend(line.ljust(columns) for line in screen.text().split("\n"))

    with LiveServer([plan("two-jobs", "fifo")]) as server:
        drive(server, act, (columns, rows))
    return shown


def disagreeing(shown: list[str], inked: list[str]) -> list[tuple[int, int]]:
    """The cells (row, column) in which only one of the two has something."""
    return [
        (row, column)
        for row, (line, ink) in enumerate(zip(shown, inked, strict=True))
        for column, (sign, dots) in enumerate(zip(line, ink, strict=True))
        if (sign.isalnum() and dots == " ") or (sign == " " and dots == "#")
    ]
