"""`callboard watch --web`: the screen in a browser on the same machine, through textual-serve.

Each browser gets a process and a run of its own, by the same arguments.  The server listens on the
loopback address only, by its own names, and answers only its own pages, which fetch nothing from
elsewhere and may be framed by none.
"""

import asyncio
import logging
import os
import re
import shlex
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from callboard.experiments.user_errors import InputError

if TYPE_CHECKING:
    from callboard.tui.app import CallboardApp

HOST = "127.0.0.1"
PORT = 8000

_DRIVER = "TEXTUAL_DRIVER"
"""The variable by which textual-serve tells a process that its screen is in a browser."""

_HEADERS = {
    "Content-Security-Policy": (
        "style-src 'self' 'unsafe-inline'; font-src 'self' data:; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""What the page may load (not the fonts from elsewhere that textual-serve's page asks for), and
that no page may show it within itself, where a click could be meant for something else.
"""

_FOREIGN_LINK = re.compile(r"<link\b[^>]*\bhref=\"https?:[^>]*>")
_TITLE_AND_FOCUS = """\
<title>callboard</title>
<script>
  (function focusTerminal() {
    const keys = document.querySelector(".xterm-helper-textarea");
    if (keys) keys.focus(); else requestAnimationFrame(focusTerminal);
  })();
</script>
</head>"""
"""What textual-serve's page lacks: a title for its tab, and keys that work without a click."""

_PAUSE_S = 0.2
_LAST_WORDS_S = 3.0
"""How long the process of a screen that has ended may take to end as well."""

SIZE_MAX = 1000
"""Columns, and rows, of a screen in a browser."""


def is_browser_process() -> bool:
    """Whether this process was started for a browser."""
    return "WebDriver" in os.environ.get(_DRIVER, "")


def check_port(port: int) -> None:
    """InputError if textual-serve is not installed, or the port cannot be opened."""
    try:
        import textual_serve.server  # noqa: F401
    except ImportError:
        missing = '--web needs textual-serve, which is an extra: pip install "callboard[web]"'
        raise InputError(missing) from None
    try:
        with socket.create_server((HOST, port)):
            pass
    except OSError as error:
        raise InputError(f"--port {port}: {error.strerror}; try another one") from None


def serve_browsers(arguments: Sequence[str], port: int) -> int:
    """Serve `callboard` with these arguments until Ctrl-C, which is for the server alone: its
    processes, which the terminal tells of it too, end with it.
    """
    command = shlex.join([sys.executable, "-m", "callboard", *arguments])
    _make_server(f"trap '' INT; exec {command}", port).serve()
    return 0


def _make_server(command: str, port: int) -> Any:
    """textual-serve's server, with a greeting and a guard of our own."""
    from aiohttp import web
    from textual_serve.server import Server

    address = f"http://{HOST}:{port}"
    hosts = {f"{name}:{port}" for name in (HOST, "localhost")}
    if port == 80:
        hosts |= {HOST, "localhost"}  # browsers leave that port out
    own = {f"http://{host}" for host in hosts}

    @web.middleware  # type: ignore[untyped-decorator]
    async def own_host_only(request: Any, handler: Any) -> Any:
        """A name of elsewhere that leads here (DNS rebinding) is not answered."""
        if request.host not in hosts:
            raise web.HTTPForbidden(text="this screen is not shown under that name")
        return await handler(request)

    class LocalServer(Server):  # type: ignore[misc]
        """For browsers on this machine, and pages that come from here."""

        def initialize_logging(self) -> None:
            logging.basicConfig(level=logging.WARNING)

        async def _make_app(self) -> Any:
            app = await super()._make_app()
            app.middlewares.append(own_host_only)
            return app

        async def on_startup(self, app: Any) -> None:
            app.on_response_prepare.append(self._add_security_headers)
            self._greeting = asyncio.create_task(self._print_address())

        async def _print_address(self) -> None:
            """Print the address once the server listens, which is after its start."""
            while True:
                try:
                    _, writer = await asyncio.open_connection(HOST, port)
                except OSError:
                    await asyncio.sleep(0.01)
                else:
                    break
            writer.close()
            print(f"callboard: {address} shows the screen; Ctrl-C ends it", flush=True)

        async def handle_index(self, request: Any) -> Any:
            page = await super().handle_index(request)
            page.text = _page_without_foreign_links(page.text, address)
            return page

        async def handle_websocket(self, request: Any) -> Any:
            if request.headers.get("Origin", address) not in own:
                raise web.HTTPForbidden(text="another page may not look at this screen")
            if not all(
                _is_valid_size(request.query.get(side, "80")) for side in ("width", "height")
            ):
                raise web.HTTPBadRequest(text=f"a screen has 1 to {SIZE_MAX} columns and rows")
            return await super().handle_websocket(request)

        async def _process_messages(self, websocket: Any, app_service: Any) -> None:
            latest = LatestSize(app_service.set_terminal_size, partial(asyncio.sleep, _PAUSE_S))

            async def resize_sanely(width: object, height: object) -> None:
                if _is_valid_size(width) and _is_valid_size(height):
                    latest.note_window_size(width, height)

            app_service.set_terminal_size = resize_sanely
            await super()._process_messages(websocket, app_service)

        async def _add_security_headers(self, _request: Any, response: Any) -> None:
            response.headers.update(_HEADERS)

    return LocalServer(command, host=HOST, port=port, title="callboard")


class LatestSize:
    """Hands a window's size on as it changes, with a pause after each, and leaves out those that
    have changed again meanwhile: a screen laid out anew takes longer than a browser that cannot
    decide between two sizes, and would go on with what has piled up after that is gone.
    """

    def __init__(
        self,
        hand_on: Callable[[Any, Any], Awaitable[None]],
        pause: Callable[[], Awaitable[None]],
    ) -> None:
        self._hand_on = hand_on
        self._pause = pause
        self._asked: tuple[object, object] | None = None
        self._task: asyncio.Task[None] | None = None

    def note_window_size(self, width: object, height: object) -> None:
        """The window has this size now."""
        self._asked = width, height
        if self._task is None:
            self._task = asyncio.create_task(self._hand_on_sizes())

    async def wait_until_settled(self) -> None:
        """Return once the size that the window has now has been handed on."""
        if self._task is not None:
            await self._task

    async def _hand_on_sizes(self) -> None:
        handed_on = None
        while handed_on != self._asked and self._asked is not None:
            handed_on = self._asked
            await self._hand_on(*handed_on)
            await self._pause()
        self._task = None


def end_with_browser(app: "CallboardApp") -> None:
    """Let the screen of a browser end once nothing can reach it (its server has gone, and with it
    what its keys come from), and its process soon after the screen: one that is told to end while
    it starts would draw for ever.
    """

    from textual.messages import ExitApp

    def watch() -> None:
        while not (app._exit or app._closed) and _keys_can_arrive(app):
            time.sleep(_PAUSE_S)
        app.post_message(ExitApp())
        time.sleep(_LAST_WORDS_S)
        os._exit(0)

    Thread(target=watch, daemon=True).start()


def _keys_can_arrive(app: "CallboardApp") -> bool:
    """Whether keys come from somewhere, or will: the thread that reads them ends with its pipe."""
    reader = getattr(app._driver, "_key_thread", None)
    return reader is None or not reader.ident or reader.is_alive()


def _page_without_foreign_links(page: str, address: str) -> str:
    """textual-serve's page, asking no other host for anything, with a title and the focus.

    What it has of its own it names by the whole address, as if that were a foreign one.
    """
    local = page.replace(f'"{address}/', '"/')
    return _FOREIGN_LINK.sub("", local).replace("</head>", _TITLE_AND_FOCUS)


def _is_valid_size(number: object) -> bool:
    """Whether a number, or its digits, can be the columns or rows of a screen."""
    digits = str(number)
    return type(number) in (int, str) and digits.isdecimal() and 1 <= int(digits[:9]) <= SIZE_MAX
