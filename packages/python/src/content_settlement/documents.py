"""Paths that a site serves for this service: the proof of its hosts, and documents about it where it has none of its own."""

from __future__ import annotations

import re
import threading
import time
from typing import Any, Callable, Mapping, NamedTuple

from .answers import Answer
from .client import Client
from .knowing import Headers
from .memory import Lru

# Where each stands at the site: the service's name for it, and the media type it is sent with.
DOCUMENTS = {
    "/.well-known/x402.json": ("x402.json", "application/json; charset=utf-8"),
    "/.well-known/x402": ("x402", "application/json; charset=utf-8"),
    "/.well-known/api-catalog": ("api-catalog", "application/linkset+json"),
    "/.well-known/did.json": ("did.json", "application/did+json"),
    "/license.xml": ("license.xml", "application/rsl+xml; charset=utf-8"),
    "/llms.txt": ("llms.txt", "text/plain; charset=utf-8"),
    "/robots.txt": ("robots.txt", "text/plain; charset=utf-8"),
}
# What the publisher says in these he says to everybody, in words of ours: he has to ask for them.
_ASKED_FOR = ("/llms.txt", "/robots.txt")
_CHALLENGE = re.compile(r"/\.well-known/svc-challenge/([\w-]{8,128})", re.ASCII)


class HostProof:
    """The proof that the site is its owner's: only a token that the service gave this very site is repeated, and the service is asked for them every
    five seconds at most."""

    _TOKENS_SECONDS = 5.0

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tokens: frozenset[str] = frozenset()
        self._asked_at = float("-inf")
        self._lock = threading.Lock()

    def token_of(self, path: str) -> str | None:
        """The token that a path asks for; None for any other path."""
        found = _CHALLENGE.fullmatch(path)
        return found[1] if found else None

    def answer(self, token: str) -> Answer | None:
        """The token, if it is one of this site's."""
        with self._lock:  # who asks meanwhile waits for the same answer
            if token not in self._tokens and time.monotonic() - self._asked_at >= self._TOKENS_SECONDS:
                self._asked_at = time.monotonic()
                told = self._client.hosts()
                challenges = told.body.get("challenges") if told.ok and isinstance(told.body, dict) else None
                if isinstance(challenges, list):
                    mine = [one for one in challenges if isinstance(one, dict) and one.get("method") == "well-known"]
                    self._tokens = frozenset(one["token"] for one in mine if isinstance(one.get("token"), str))
            if token not in self._tokens:
                return None
        return Answer(200, {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store"}, token.encode())


class _Copy(NamedTuple):
    text: bytes | None
    headers: Mapping[str, str]
    read_at: float
    due_at: float


class Documents:
    """Documents about the site that the service makes: one call in a minute for each, however often they are requested. Once there is a copy nobody waits for
    the service; for a first one a reader waits half a second."""

    _FRESH = 60.0
    _STALE = 86_400.0
    _PATIENCE = 0.5

    def __init__(self, client: Client, now: Callable[[], float], chosen: Mapping[str, bool] | bool) -> None:
        self._client, self._now = client, now
        wanted = chosen if isinstance(chosen, Mapping) else {}
        self._served = {path for path in DOCUMENTS if chosen is not False and wanted.get(path, path not in _ASKED_FOR)}
        self._copies: Lru[_Copy] = Lru(100)
        self._reading: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def is_served(self, path: str) -> bool:
        """True for a path at which a document may stand."""
        return path in self._served

    def answer(self, path: str, host: str, header: Headers) -> Answer | None:
        """The document of a host of the site; None where there is none yet."""
        key = f"{host} {path}"
        copy = self._copies.get(key)
        if copy is None or self._now() >= copy.due_at:
            done = self._read(key, host, path)
            if copy is None:
                done.wait(self._PATIENCE)
                copy = self._copies.get(key)
        if copy is None or copy.text is None or self._now() - copy.read_at > self._STALE:
            return None
        accept = header("accept") or ""
        type_ = DOCUMENTS[path][1]
        # Browsers save a type that they do not know, and show XML.
        if re.search(r"\btext/html\b", accept, re.IGNORECASE) and not re.search(r"\brsl\+xml\b", accept, re.IGNORECASE):
            type_ = type_.replace("application/rsl+xml", "application/xml")
        headers = {
            "content-type": type_,
            "vary": "Accept",
            "cache-control": "public, max-age=60",
            "access-control-allow-origin": "*",
            "x-content-type-options": "nosniff",
            **copy.headers,
        }
        known = [re.sub(r"^W/", "", tag.strip()) for tag in (header("if-none-match") or "").split(",")]
        if copy.headers.get("etag") in known:
            return Answer(304, headers)
        return Answer(200, headers, copy.text)

    def _read(self, key: str, host: str, path: str) -> threading.Event:
        with self._lock:
            done = self._reading.get(key)
            if done is None:
                done = self._reading[key] = threading.Event()
                threading.Thread(target=self._ask, args=(key, host, path, done), daemon=True).start()
            return done

    def _ask(self, key: str, host: str, path: str, done: threading.Event) -> None:
        known, due_at = self._copies.get(key), self._now() + self._FRESH
        try:
            told = self._client.document(host, DOCUMENTS[path][0], known.headers.get("etag") if known else None)
            if told.ok and told.status == 304 and known is not None:
                copy = known._replace(read_at=self._now(), due_at=due_at)
            elif told.ok and told.status == 200 and isinstance(told.body, bytes):
                kept: Any = {name: told.headers[name] for name in ("etag", "last-modified") if name in told.headers}
                copy = _Copy(told.body, kept, self._now(), due_at)
            elif known is not None and told.status != 404:
                copy = known._replace(due_at=due_at)
            else:
                copy = _Copy(None, {}, self._now(), due_at)
            self._copies.set(key, copy)
        finally:
            with self._lock:
                self._reading.pop(key, None)
            done.set()
