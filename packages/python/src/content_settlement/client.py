"""The service's REST interface as a publisher's server calls it. Nothing here raises: what went wrong is an answer, too."""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
import ssl
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping
from urllib.parse import quote, urlencode, urlsplit

from .shapes import loads

MAX_ANSWER_BYTES = 1_024 * 1_024
QUOTE_SECONDS = 2.0
# Verify answers after 20 s at the latest.
VERIFY_SECONDS = 25.0


@dataclass(frozen=True)
class Answer:
    """What a call came to. `why`: `ok`, or `timeout`, `unreachable`, `status` (another status than was asked for, or no JSON where JSON belongs)."""

    why: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def ok(self) -> bool:
        """True for the answer that was asked for, `304` included."""
        return self.why == "ok"

    @property
    def code(self) -> str | None:
        """`x-svc-error-code`."""
        return None if self.ok else self.headers.get("x-svc-error-code")

    @property
    def error(self) -> str | None:
        """The service's own sentence."""
        found = self.body.get("error") if isinstance(self.body, dict) else None
        return found if isinstance(found, str) else None

    @property
    def retry_after(self) -> float | None:
        """Seconds."""
        text = self.headers.get("retry-after", "")
        return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text) else None

    @property
    def is_key_refused(self) -> bool:
        """True when the service refuses the key."""
        return not self.ok and self.status in (401, 403)

    @property
    def is_away(self) -> bool:
        """True when nobody answers who could: a refusal that names its reason comes from a service that is there."""
        if self.ok:
            return False
        if self.why != "status":
            return True
        code = self.code
        return (
            code != "credits_unavailable"
            and self.status >= 500
            and (code is None or code == "internal" or code.endswith("_unavailable"))
        )

    @property
    def words(self) -> str:
        """A failed call in words."""
        if self.why == "timeout":
            return "the service did not answer in time"
        if self.why == "unreachable":
            return "the service cannot be reached"
        return f"the service answered {self.status}" + ("" if self.error is None else f" ({self.error})")


class _Bounded(io.RawIOBase):
    """A socket that is read until a moment and not longer, however slowly it sends."""

    def __init__(self, sock: socket.socket, ends_at: float) -> None:
        self._sock = sock
        self._ends_at = ends_at

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise socket.timeout("timed out")
        self._sock.settimeout(left)
        return self._sock.recv_into(buffer)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)


class Client:
    """The calls a publisher makes. No call follows a redirect, so that the key goes nowhere else; `on_site_version` hears the version of the
    settings that an answer names."""

    def __init__(self, service_url: str, api_key: str, on_site_version: Callable[[int], None] = lambda _version: None) -> None:
        parts = urlsplit(service_url)
        self._host, self._port, self._base = parts.hostname or "", parts.port, parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._authorization = f"Bearer {api_key}"
        self._on_site_version = on_site_version

    def config(self, etag: str | None, addresses: int) -> Answer:
        """The site's settings; 304 when `etag` names what is there. `addresses`: the version of the robots' addresses that are known, 0 for none."""
        return self._call(f"/_svc/enforce-config?addresses={addresses}", headers={"if-none-match": etag} if etag else {})

    def quote(self, **question: str) -> Answer:
        """What a page costs, with an offer; 204 when it is free (`x-svc-free-because` says why)."""
        return self._call("/_svc/quote?" + urlencode({"build": "402", **question}))

    def verify(self, body: Mapping[str, Any]) -> Answer:
        """Settles a payment. The same payment again gets its first outcome, charged once."""
        return self._call("/_svc/verify", body, VERIFY_SECONDS)

    def check(self, body: Mapping[str, Any]) -> Answer:
        """Whether a licence entitles to a page."""
        return self._call("/_svc/license/check", body)

    def prove(self, body: Mapping[str, Any]) -> Answer:
        """The licence of a wallet that bought a page; a wallet with code is asked on chain."""
        return self._call("/_svc/license/proof", body, 2 * QUOTE_SECONDS)

    def verify_agent(self, request: Mapping[str, Any]) -> Answer:
        """Which agent signed a request."""
        return self._call("/_svc/agents/verify", {"request": request})

    def observe(self, reports: list[Any]) -> Answer:
        """Sends 1 to 50 reports: all are written, or none."""
        return self._call("/_svc/observe", reports)

    def hosts(self) -> Answer:
        """The proof tasks of the site's hosts."""
        return self._call("/_svc/verify-host")

    def document(self, host: str, name: str, etag: str | None) -> Answer:
        """A public document about a host of the site, as bytes."""
        path = f"/_svc/discovery/{quote(host, safe='')}/{quote(name, safe='')}"
        return self._call(path, headers={"if-none-match": etag} if etag else {}, is_json=False)

    def _call(
        self,
        path: str,
        body: Any = None,
        seconds: float = QUOTE_SECONDS,
        headers: Mapping[str, str] | None = None,
        is_json: bool = True,
    ) -> Answer:
        try:
            status, told, text = self._send(path, body, seconds, headers or {})
        except socket.timeout:
            return Answer("timeout")
        except (OSError, http.client.HTTPException, ValueError):
            return Answer("unreachable")
        version = told.get("x-svc-site-version", "")
        if re.fullmatch(r"\d{1,15}", version):
            self._on_site_version(int(version))
        if status == 304 or (200 <= status <= 299 and not text and text is not None):
            return Answer("ok", status, told)
        is_good = 200 <= status <= 299
        if is_good and not is_json and text is not None:
            return Answer("ok", status, told, text)
        parsed = loads(text)
        if parsed is None and (is_good and text != b"null"):
            return Answer("status", 502, told)
        return Answer("ok" if is_good else "status", status, told, parsed)

    def _send(self, path: str, body: Any, seconds: float, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes | None]:
        ends_at = time.monotonic() + seconds
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        given = {"authorization": self._authorization, "connection": "close", "user-agent": "content-settlement-python", **headers}
        if data is not None:
            given["content-type"] = "application/json"
        if self._tls is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=seconds)
        else:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=seconds, context=self._tls)
        try:
            connection.request("GET" if data is None else "POST", self._base + path, data, given)
            response = http.client.HTTPResponse(_Bounded(connection.sock, ends_at), method="GET")  # type: ignore[arg-type]
            response.begin()
            text = response.read(MAX_ANSWER_BYTES + 1)
            told = {name.lower(): value for name, value in response.getheaders()}
            return response.status, told, None if len(text) > MAX_ANSWER_BYTES else text
        finally:
            connection.close()
