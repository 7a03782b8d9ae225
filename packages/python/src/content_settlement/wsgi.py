"""For WSGI (Flask, Django, Bottle): `application = ContentSettlement(application)`, around everything else."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any, Callable, Iterable, Iterator
from urllib.parse import quote

from .answers import Answer, merged, wait_answer
from .gate import PARTIAL, Gate, Options, Request
from .page import path_of
from .selling import Look

# Headers by which servers and middleware let a proxy say where the site is mounted. Where it passes on a client's own, the client says it.
_MOUNTS = ("HTTP_SCRIPT_NAME", "HTTP_X_SCRIPT_NAME", "HTTP_X_FORWARDED_PREFIX")
Environ = dict
Headers = list
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]


class ContentSettlement:
    """A middleware. `options` are those of `content_settlement.Options`, `classify` and `kind` get the environ. Raises ValueError for options that
    cannot be used. `gate.flush()` sends reports that wait; a process that ends does it by itself."""

    def __init__(self, app: Application, **options: Any) -> None:
        self._app = app
        self.gate = Gate(Options(**options))

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        request = _request_of(environ)
        if self.gate.lets_through(request):
            return self._app(environ, start_response)
        ruling = self.gate.rule(request)
        if ruling.answer is not None:
            return _send(environ, start_response, ruling.answer)
        if ruling.look is not None:
            return self._hold(_whole(environ) if ruling.look.asks_whole else environ, start_response, ruling.look)
        if ruling.headers is None:
            return self._app(environ, start_response)
        headers = ruling.headers

        def start(status: str, own: Headers, exc_info: Any = None) -> Any:
            return start_response(status, merged(own, headers), *([exc_info] if exc_info else []))

        return self._app(_whole(environ), start)

    def _hold(self, environ: Environ, start_response: StartResponse, look: Look) -> Iterable[bytes]:
        """Has the site's answer made and kept until it is known what goes out: all of it, or as much as the look keeps."""
        made = _Made(start_response, look)
        is_passed_on = False
        try:
            made.run(self._app, environ)
            if made.is_out:
                is_passed_on = True
                return made
            if made.is_too_much or (look.seconds is not None and made.seconds > look.seconds):
                return _send(environ, start_response, wait_answer(1 if made.is_too_much else None))
            finished = look.finish(made.status, made.body(), made.header("content-encoding"), made.is_whole)
            if finished.answer is not None:
                return _send(environ, start_response, finished.answer)
            made.go_out(finished.headers)
            is_passed_on = True
            return made
        finally:
            look.close()
            if not is_passed_on:
                made.close()


class _Made:
    """An answer of the site's, as far as it was made; iterated, it goes out."""

    def __init__(self, start_response: StartResponse, look: Look) -> None:
        self._start_response = start_response
        self._look = look
        self._started: tuple[str, Headers, Any] | None = None
        self._chunks: list[bytes] = []
        self._iterable: Iterable[bytes] = ()
        self._rest: Iterator[bytes] = iter(())
        self._write: Callable[[bytes], Any] | None = None
        self._began = time.monotonic()
        self._size = 0
        self.seconds = 0.0
        self.is_out = self.is_whole = self.is_too_much = False

    @property
    def status(self) -> int:
        return int((self._started or ("500", [], None))[0].split(" ", 1)[0])

    def header(self, name: str) -> str:
        """One header of the answer; '' for none."""
        pairs = (self._started or ("", [], None))[1]
        return next((value for one, value in pairs if one.lower() == name), "")

    def body(self) -> bytes:
        """What is there of the body."""
        self._chunks = [b"".join(self._chunks)]
        return self._chunks[0]

    def run(self, app: Application, environ: Environ) -> None:
        """Makes the answer until it is whole, more than the look keeps, or no page for certain: then it goes out."""
        look = self._look
        self._iterable = app(environ, self._start)
        self._rest = iter(self._iterable)
        for chunk in self._rest:
            self._keep(chunk)
            self.seconds = time.monotonic() - self._began
            if self._is_no_page():
                return self.go_out({})
            is_late = look.seconds is not None and self.seconds > look.seconds
            if self.is_too_much or is_late or self._size > look.keep_bytes:
                return None
        self.is_whole = True
        self.seconds = time.monotonic() - self._began
        if self._started is None:
            raise AssertionError("the application answered without calling start_response")
        return self.go_out({}) if self._is_no_page() else None

    def go_out(self, headers: Any) -> None:
        """Begins to send the answer, with these headers on it."""
        status, own, exc_info = self._started or ("500 Internal Server Error", [], None)
        pairs = merged(own, headers) if headers else own
        if headers and self.is_whole:
            pairs = [(name, value) for name, value in pairs if name.lower() != "content-length"]
            pairs.append(("content-length", str(len(self.body()))))
        self._write = self._start_response(status, pairs, *([exc_info] if exc_info else []))
        self.is_out = True

    def close(self) -> None:
        """Ends the site's own iterable, as WSGI wants."""
        end = getattr(self._iterable, "close", None)
        if end is not None:
            end()

    def __iter__(self) -> Iterator[bytes]:
        while self._chunks:
            yield self._chunks.pop(0)
        yield from self._rest

    def _is_no_page(self) -> bool:
        return self._started is not None and not self._look.may_be_page(self.status, self.header("content-type"))

    def _keep(self, chunk: bytes) -> None:
        if not chunk:
            return
        self._chunks.append(chunk)
        self._size += len(chunk)
        if not self._look.hold(len(chunk)) and self._size <= self._look.keep_bytes:
            self.is_too_much = True

    def _start(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], Any]:
        if self.is_out:
            return self._start_response(status, headers, exc_info)  # too late: the server raises what happened
        self._started = (status, list(headers), exc_info)
        return self._written

    def _written(self, chunk: bytes) -> Any:
        """The `write` of old applications."""
        return self._keep(chunk) if self._write is None else self._write(chunk)


def _request_of(environ: Environ) -> Request:
    # The path by which the application chooses its page: decoded once, as WSGI has it.
    raw = (environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1", "replace") or b"/"
    query = environ.get("QUERY_STRING", "")
    target = quote(raw) + (f"?{query}" if query else "")

    def header(name: str) -> str | None:
        plain = name.upper().replace("-", "_")
        return environ.get(plain if plain in ("CONTENT_LENGTH", "CONTENT_TYPE") else f"HTTP_{plain}")

    is_told = environ.get("SCRIPT_NAME", "") != "" and any(name in environ for name in _MOUNTS)
    inner = (path_of(environ.get("PATH_INFO", "").encode("latin-1", "replace") or b"/"),) if is_told else ()
    return Request(environ.get("REQUEST_METHOD", "GET"), path_of(raw), target, header, environ, inner, environ.get("REMOTE_ADDR") or None)


def _whole(environ: Environ) -> Environ:
    """The request for all of the page, whatever the reader holds already."""
    parts = {f"HTTP_{name.upper().replace('-', '_')}" for name in PARTIAL}
    return {name: value for name, value in environ.items() if name not in parts}


def _send(environ: Environ, start_response: StartResponse, answer: Answer) -> list[bytes]:
    headers = list(answer.headers.items())
    is_bodiless = answer.status in (204, 304)
    if not is_bodiless:
        headers.append(("content-length", str(len(answer.body))))
    status = HTTPStatus(answer.status)
    start_response(f"{status.value} {status.phrase}", headers)
    return [] if is_bodiless or environ.get("REQUEST_METHOD") == "HEAD" else [answer.body]
