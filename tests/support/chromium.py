"""A page in Chromium that can be asked what it shows, by the protocol of its own tools."""

import asyncio
import itertools
import json
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from docs.making.browser import CHROMIUM, QUIETLY

if TYPE_CHECKING:
    import aiohttp


class Tab:
    """One page, which `open_tab` has opened."""

    def __init__(self, socket: "aiohttp.ClientWebSocketResponse") -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.session: str | None = None

    async def call(self, method: str, **params: object) -> Any:
        """Call a method of the protocol; its result."""
        number = next(self._numbers)
        said = {"id": number, "method": method, "params": params}
        await self._socket.send_json(said | ({"sessionId": self.session} if self.session else {}))
        while True:
            heard = json.loads((await self._socket.receive(timeout=60)).data)
            if heard.get("id") == number:
                assert "error" not in heard, heard
                return heard["result"]

    async def resize(self, width: int, height: int) -> None:
        """Give the page that many pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.call("Emulation.setDeviceMetricsOverride", **size)

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression in JavaScript."""
        found = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    async def until(self, expression: str) -> Any:
        """The value of an expression once it is true."""
        async with asyncio.timeout(150):
            while not (value := await self.evaluate(expression)):
                await asyncio.sleep(0.1)  # what it costs is time that the page has not
        return value


@asynccontextmanager
async def open_tab(url: str, width: int, height: int) -> AsyncIterator[Tab]:
    """A page of that size in a browser of its own."""
    import aiohttp

    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        own = ("--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank")
        process = subprocess.Popen(
            [CHROMIUM, *QUIETLY, *own], stderr=subprocess.PIPE, encoding="utf-8"
        )
        try:
            assert process.stderr is not None
            told = next(line for line in process.stderr if "DevTools listening on" in line)
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(told.split()[-1], max_msg_size=0) as socket,
            ):
                tab = Tab(socket)
                target = await tab.call("Target.createTarget", url="about:blank")
                of = {"targetId": target["targetId"], "flatten": True}
                tab.session = (await tab.call("Target.attachToTarget", **of))["sessionId"]
                await tab.resize(width, height)
                await tab.call("Page.navigate", url=url)
                yield tab
        finally:
            process.terminate()
            process.communicate(timeout=60)
