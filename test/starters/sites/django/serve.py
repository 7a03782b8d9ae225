"""Serves the WSGI application of this folder on PORT: a thread for each connection."""

import os
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from wsgi import application


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


make_server("127.0.0.1", int(os.environ["PORT"]), application, Server, Quiet).serve_forever()
