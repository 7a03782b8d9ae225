"""A site that sells through the Python package, for tests: `shop.py wsgi|asgi`, told by JSON in SITE. Says on standard output the port of the site and
that of its ear, which hears the clock (`POST /clock`, seconds to add) and tells what the gate said (`GET /told`)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import ThreadingMixIn
from urllib.parse import unquote
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from content_settlement.asgi import ContentSettlement as ForAsgi
from content_settlement.wsgi import ContentSettlement as ForWsgi

GIVEN = json.loads(os.environ["SITE"])
TOLD: dict[str, list] = {"decisions": [], "failures": [], "made": []}
CLOCK = {"ahead": 0.0}
ROUTES = GIVEN.get("routes", {})
FORMS = ("application/octet-stream", "text/csv", "application/xml", "text/x-component", "application/msword")


def answer_to(method: str, path: str, accept: str, query: str) -> tuple[int, str, bytes]:
    """Status, type and body of the site's own answer. `broken` cannot be made, `empty` has nothing in it; what stands below `forms` comes in the form
    that its reader asks for."""
    if path.startswith("/articles/forms/"):
        is_json = "format=json" in query or accept == "application/json"
        type_ = "application/json" if is_json else accept if accept in FORMS else "text/html"
        return 200, type_, ROUTES["default"]["body"].encode()
    route = ROUTES.get(f"{method} {path}") or ROUTES.get(f"* {path}")
    if route is not None:
        TOLD["made"].append(path)
        return route["status"], route.get("type", ""), route.get("body", "").encode()
    if path == "/":
        return 200, "text/html", b"<p>home</p>"
    slug = path[len("/articles/") :] if path.startswith("/articles/") else ""
    if slug == "missing" or slug == "" or ("/" in slug and "default" not in ROUTES):
        return 404, "text/html", b"<p>nothing here</p>"
    TOLD["made"].append(slug)
    if slug == "broken":
        raise RuntimeError("the page cannot be made")
    if "default" in ROUTES:
        return 200, "text/html", ROUTES["default"]["body"].encode()
    return 200, "text/html", b"" if slug == "empty" else f"<p>{slug}</p>".encode()


def options() -> dict:
    """What the gate is told."""
    given = {
        **GIVEN["options"],
        "now": lambda: time.time() + CLOCK["ahead"],
        "on_failure": TOLD["failures"].append,
        "on_decision": TOLD["decisions"].append,
        "log": lambda _line: None,
    }
    if GIVEN.get("citations"):
        given["kind"] = lambda request: "citation" if "use=citation" in query_of(request) else "read"
    return given


def query_of(request: dict) -> str:
    """The query of a WSGI environ or an ASGI scope."""
    query = request.get("QUERY_STRING", request.get("query_string", ""))
    return query if isinstance(query, str) else query.decode()


def wsgi_app(environ: dict, start_response: object) -> list[bytes]:
    """The site for WSGI."""
    path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    accept, query = environ.get("HTTP_ACCEPT", ""), environ.get("QUERY_STRING", "")
    status, type_, body = answer_to(environ["REQUEST_METHOD"], path, accept, query)
    headers = [("content-type", type_)] if type_ else []
    start_response(f"{status} {HTTPStatus(status).phrase}", headers)  # type: ignore[operator]
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [b"", body[:10], body[10:]]


async def asgi_app(scope: dict, _receive: object, send: object) -> None:
    """The site for ASGI."""
    accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
    status, type_, body = answer_to(scope["method"], scope["path"], accept, query_of(scope))
    headers = [(b"content-type", type_.encode())] if type_ else []
    await send({"type": "http.response.start", "status": status, "headers": headers})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": body[:10], "more_body": True})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": body[10:]})  # type: ignore[operator]


class Ear(BaseHTTPRequestHandler):
    """Hears the test."""

    def do_GET(self) -> None:
        told = {name: [all_.pop(0) for _ in range(len(all_))] for name, all_ in TOLD.items()}
        self.tell(json.dumps(told).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/clock":
            CLOCK["ahead"] = float(body)
        else:
            GATE["gate"].flush()
        self.tell(b"{}")

    def tell(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def get_stderr(self) -> object:
        return open(os.devnull, "w")


async def serve_asgi(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, app: object) -> None:
    """HTTP/1.1, a connection for each request: as much of a server as the tests need."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = [tuple(part.strip().encode("latin-1") for part in line.split(":", 1)) for line in head[1:] if line]
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "method": method,
            "path": unquote(path),
            "query_string": query.encode(),
            "headers": [(name.lower(), value) for name, value in headers],
        }
        started: list[int] = []

        async def receive() -> dict:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict) -> None:
            if message["type"] == "http.response.start":
                started.append(message["status"])
                lines = [f"HTTP/1.1 {message['status']} {HTTPStatus(message['status']).phrase}".encode(), b"connection: close"]
                lines += [name + b": " + value for name, value in message["headers"]]
                writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
            elif method != "HEAD":
                writer.write(message.get("body", b""))
            await writer.drain()

        try:
            await app(scope, receive, send)  # type: ignore[operator]
        except RuntimeError:
            if not started:
                writer.write(b"HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno")
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


GATE: dict = {}
ear = ThreadingHTTPServer(("127.0.0.1", 0), Ear)
threading.Thread(target=ear.serve_forever, daemon=True).start()
if sys.argv[1] == "wsgi":
    gated = ForWsgi(wsgi_app, **options())
    GATE["gate"] = gated.gate
    server = make_server("127.0.0.1", 0, gated, Server, Quiet)
    print(server.server_port, ear.server_port, flush=True)
    server.serve_forever()
else:
    wrapped = ForAsgi(asgi_app, **options())
    GATE["gate"] = wrapped.gate

    async def main() -> None:
        listening = await asyncio.start_server(lambda reader, writer: serve_asgi(reader, writer, wrapped), "127.0.0.1", 0)
        print(listening.sockets[0].getsockname()[1], ear.server_port, flush=True)
        await listening.serve_forever()

    asyncio.run(main())
