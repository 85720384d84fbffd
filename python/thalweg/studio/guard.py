"""Who may talk to the studio: requests with the token in their address, from this host, from the studio's own pages."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

MAX_BYTES = 1_000_000
"""Maximum size of a scenario, in bytes; a larger one is refused before it is read."""

MAX_TEXT = f"{MAX_BYTES // 1_000_000} MB"

HEADERS = [
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""Headers of every answer: nothing is cached, and no other site learns the address."""

NOT_FOUND = 404


class TooLarge(Exception):
    """The body of a request, or a file, is larger than a scenario may be."""

    def __init__(self, what: str, size: int | None) -> None:
        shown = "" if size is None else f" has {size / 1e6:,.1f} MB"
        super().__init__(f"{what}{shown}: larger than a scenario may be in the studio, {MAX_TEXT}")
        self.hint = "`thalweg run FILE` runs a scenario of any size"
        """What to do instead."""


class Guard:
    """Passes requests below `/TOKEN/` to the application, without the token; answers all others with nothing.

    A page of another site cannot reach the studio, even if its name resolves to this host (DNS rebinding): the header
    `Host` must be one of `hosts`, and `Origin`, if there is one, a page of one of them.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {host.encode() for host in hosts}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request, a WebSocket or the start of the server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        begin, _, rest = scope["path"].lstrip("/").partition("/")
        if not (self._is_ours(scope) and hmac.compare_digest(begin.encode(), self._token)):
            await _nothing(scope, receive, send)
            return

        async def answer(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        await self._app({**scope, "path": f"/{rest}", "raw_path": None, "root_path": ""}, receive, answer)

    def _is_ours(self, scope: Scope) -> bool:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        origins = [value for name, value in scope["headers"] if name == b"origin"]
        return len(hosts) == 1 and hosts[0] in self._hosts and all(one in self._origins for one in origins)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """The answer to a stranger: no content, or a WebSocket that does not open."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": NOT_FOUND, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


async def body_of(request: Request) -> bytes:
    """The body of a request. Raises `TooLarge` without reading one that says that it is too large."""
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > MAX_BYTES:
        raise TooLarge("the scenario", int(said))
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BYTES:
            raise TooLarge("the scenario", None)
        parts.append(part)
    return b"".join(parts)
