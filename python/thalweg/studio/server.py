"""Serves the studio on this host only, at an address with a token."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import time
import webbrowser
from typing import TYPE_CHECKING

import uvicorn

from .app import application
from .guard import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .app import Studio
    from .work import Activity

HOST = "127.0.0.1"
"""The studio is not reachable from other hosts."""

GRACE_S = 1
"""Seconds that open connections have at the end."""


LEFT_S = 3.0
"""Seconds after the last browser left until it is taken as gone: a page that is loaded again is away for a moment."""

POLL_S = 0.2


class Served:
    """A studio with its address."""

    def __init__(self, studio: Studio, port: int = 0) -> None:
        """Takes the port, or a free one; raises `OSError` if it is taken."""
        self.studio = studio
        self._socket = socket.create_server((HOST, port))
        number = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(24)
        self.address = f"http://{HOST}:{number}/{token}/"
        """The address of the page."""
        hosts = {f"{name}:{number}" for name in (HOST, "localhost")}
        settings = uvicorn.Config(
            application(studio, token, hosts),
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            ws_max_size=MAX_BYTES,
            timeout_graceful_shutdown=GRACE_S,
        )
        self._server = uvicorn.Server(settings)

    def serve(self) -> list[Activity]:
        """Serves in this thread until Ctrl-C; then stops what runs, keeps its results, and returns it."""
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._server.run(sockets=[self._socket])
        finally:
            stopped = self.close()
        return stopped

    @contextlib.contextmanager
    def in_background(self) -> Iterator[None]:
        """Serves in a thread while the block runs."""
        thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._server.should_exit = True
            thread.join()
            self.close()

    def close(self) -> list[Activity]:
        """Stops what runs, and frees the port; returns what has been stopped."""
        self._socket.close()
        return self.studio.hub.close()

    def linger(self) -> None:
        """Returns when the last browser has left, after there was one."""
        there, left = False, 0.0
        while not there or left < LEFT_S:
            time.sleep(POLL_S)
            there = there or self.studio.browsers > 0
            left = 0.0 if self.studio.browsers > 0 else left + POLL_S

    def open(self, place: str = "") -> None:
        """Opens the page, at a place of it, in the browser of this host."""
        webbrowser.open(f"{self.address}{place}")
