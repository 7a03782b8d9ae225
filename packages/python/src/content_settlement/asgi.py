"""For ASGI (FastAPI, Starlette, Django): `app.add_middleware(ContentSettlement)`, or `application = ContentSettlement(application)`."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Awaitable, Callable, Mapping, TypeVar
from urllib.parse import quote

from .answers import Answer, merged, wait_answer
from .gate import PARTIAL, Gate, Options, Request
from .page import path_of
from .selling import SALES_AT_ONCE, Finished, Look

Scope = dict
Message = dict
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Result = TypeVar("Result")
# Requests that are decided at once, and that wait for it: agents above that are told to come back, and people never wait.
_DECISIONS_AT_ONCE = 64
_MOST_WAITING = 1_000
# How long an application may take to end whose answer is replaced.
_ENDING_SECONDS = 1.0


class ContentSettlement:
    """A middleware. `options` are those of `content_settlement.Options`, `classify` and `kind` get the scope. Raises ValueError for options that
    cannot be used. Reports that wait leave when the server shuts down."""

    def __init__(self, app: Application, **options: Any) -> None:
        self._app = app
        self.gate = Gate(Options(**options))
        # Apart, so that payments under way never keep an agent from its offer.
        self._deciding = ThreadPoolExecutor(_DECISIONS_AT_ONCE, "content-settlement")
        self._settling = ThreadPoolExecutor(SALES_AT_ONCE, "content-settlement-sale")
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            if scope["type"] == "lifespan":
                await _in(self._deciding, self.gate.flush)
            return
        request = _request_of(scope)
        if self.gate.lets_through(request):
            await self._app(scope, receive, send)
            return
        if self._waiting >= _MOST_WAITING:
            await _send(scope, send, wait_answer(1))
            return
        self._waiting += 1
        try:
            ruling = await _in(self._deciding, lambda: self.gate.rule(request))
        finally:
            self._waiting -= 1
        if ruling.answer is not None:
            await _send(scope, send, ruling.answer)
        elif ruling.look is not None:
            await self._hold(scope, receive, send, ruling.look)
        elif ruling.headers is not None:
            await self._app(_whole(scope), receive, _with_headers(send, ruling.headers))
        else:
            await self._app(scope, receive, send)

    async def _hold(self, scope: Scope, receive: Receive, send: Send, look: Look) -> None:
        """Has the site's answer made and kept until it is known what goes out."""
        pool = self._deciding if look.seconds is None else self._settling
        held = _Held(scope, send, look, pool)
        # No other way to send a file, or headers behind a body, than the two messages that are held.
        asked = {**(_whole(scope) if look.asks_whole else scope), "extensions": {}}
        making = asyncio.ensure_future(self._app(asked, receive, held.send))
        late = None
        if look.seconds is not None:
            late = asyncio.get_running_loop().call_later(look.seconds, held.give_up)
        try:
            await asyncio.wait({making, held.over}, return_when=asyncio.FIRST_COMPLETED)
            if not held.over.done():
                making.result()
                return
            making.cancel()
            if held.is_late:
                await _send(scope, send, wait_answer(1))
            # Time to put its things away. One that will not end is no longer waited for, and can send nothing.
            await asyncio.wait({making}, timeout=_ENDING_SECONDS)
        except asyncio.CancelledError:
            making.cancel()
            await asyncio.wait({making}, timeout=_ENDING_SECONDS)
            raise
        finally:
            if late is not None:
                late.cancel()
            making.cancel()
            making.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            held.close()


class _Held:
    """Takes what an application sends, and lets it out, or another answer, once that is decided."""

    def __init__(self, scope: Scope, send: Send, look: Look, pool: ThreadPoolExecutor) -> None:
        self._scope, self._send, self._look, self._pool = scope, send, look, pool
        self._start: Message = {"status": 500, "headers": []}
        self._chunks: list[bytes] = []
        self._size = 0
        self._judging: Future[Finished] | None = None
        # `held`; `judged`: the sale decides; `open`: what comes goes out; `shut`: nothing of it ever will.
        self._state = "held"
        self.is_late = False
        # Done when the application goes on with an answer of which nothing will go out.
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def give_up(self) -> None:
        """The page takes too long: nothing is settled, unless that has begun."""
        if self._state == "held":
            self.is_late = True
            self._shut(True)

    def close(self) -> None:
        """The answer waits no longer; where a thread still decides about it, once that ends."""
        if self._judging is None:
            self._look.close()
        else:
            self._judging.add_done_callback(lambda _: self._look.close())

    async def _replace(self, answer: Answer, is_more: bool) -> None:
        self._state = "judged"
        try:
            await _send(self._scope, self._send, answer)
        finally:
            self._shut(is_more)

    def _shut(self, is_more: bool) -> None:
        self._state = "shut"
        if is_more and not self.over.done():
            self.over.set_result(None)

    async def send(self, message: Message) -> None:
        """The `send` of the application. Raises OSError, as for a reader who left, for what comes after the answer that went out instead."""
        if self._state == "shut":
            self._shut(True)
            await asyncio.sleep(0)  # where nothing else lets others run
            raise OSError("another answer has gone out")
        if self._state == "open":
            await self._send(message)
        elif self._state == "held" and message["type"] == "http.response.start":
            self._start = message
            if not self._look.may_be_page(message["status"], self._header(b"content-type")):
                self._state = "open"
                await self._send(message)
        elif self._state == "held" and message["type"] == "http.response.body":
            await self._keep(message.get("body", b""), message.get("more_body", False))

    async def _keep(self, chunk: bytes, is_more: bool) -> None:
        if chunk:
            self._chunks.append(bytes(chunk))
        self._size += len(chunk)
        is_room, is_long = self._look.hold(len(chunk)), self._size > self._look.keep_bytes
        if not is_room and not is_long:
            await self._replace(wait_answer(1), is_more)
        elif is_long or not is_more:
            await self._judge(is_more)
        else:
            await asyncio.sleep(0)

    async def _judge(self, is_more: bool) -> None:
        self._state = "judged"
        body, encoding = b"".join(self._chunks), self._header(b"content-encoding")
        self._chunks = []
        status: int = self._start["status"]
        self._judging = self._pool.submit(self._look.finish, status, body, encoding, not is_more)
        finished = await asyncio.wrap_future(self._judging)
        if finished.answer is not None:
            await self._replace(finished.answer, is_more)
            return
        self._state = "open"
        if finished.headers:
            self._start = {**self._start, "headers": _merged(self._start.get("headers", []), finished.headers, None if is_more else body)}
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body, "more_body": is_more})

    def _header(self, name: bytes) -> str:
        pairs = self._start.get("headers", [])
        return next((bytes(value).decode("latin-1") for one, value in pairs if bytes(one).lower() == name), "")


async def _in(pool: ThreadPoolExecutor, work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(pool, work)


def _request_of(scope: Scope) -> Request:
    # The path by which the application chooses its page: decoded once, as ASGI has it.
    path: str = scope["path"]
    root = scope.get("root_path", "").rstrip("/")
    is_whole = path == root or path.startswith(root + "/")
    raw = (path if is_whole else root + path).encode("utf-8", "surrogatepass")
    query = scope.get("query_string", b"").decode("latin-1")
    fields: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = bytes(name).decode("latin-1").lower(), bytes(value).decode("latin-1")
        fields[key] = f"{fields[key]}, {text}" if key in fields else text
    peer = (scope.get("client") or (None,))[0]
    return Request(scope["method"], path_of(raw), quote(raw) + (f"?{query}" if query else ""), fields.get, scope, peer=peer)


def _whole(scope: Scope) -> Scope:
    """The request for all of the page, whatever the reader holds already."""
    kept = [(name, value) for name, value in scope["headers"] if bytes(name).decode("latin-1").lower() not in PARTIAL]
    return {**scope, "headers": kept}


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _merged(message.get("headers", []), headers, None)}
        await send(message)

    return sending


def _merged(page: Any, ours: Mapping[str, str], body: bytes | None) -> list[tuple[bytes, bytes]]:
    """The page's own headers with ours; `body` where it is whole."""
    own = [(bytes(name).decode("latin-1"), bytes(value).decode("latin-1")) for name, value in page]
    pairs = merged(own, ours)
    if body is not None:
        pairs = [(name, value) for name, value in pairs if name.lower() != "content-length"]
        pairs.append(("content-length", str(len(body))))
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs]


async def _send(scope: Scope, send: Send, answer: Answer) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    body = b"" if answer.status in (204, 304) or scope["method"] == "HEAD" else answer.body
    if answer.status not in (204, 304):
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
