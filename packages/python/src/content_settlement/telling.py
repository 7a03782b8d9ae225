"""What the gate tells: its owner of failures, and the service, in batches, of what it decided."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections import deque
from typing import Any, Callable, Mapping

from .client import Answer, Client
from .memory import Breaker

_QUIET_SECONDS = 300.0
_BATCH = 50
_FLUSH_SECONDS = 2.0
_RETRY_SECONDS = 10.0
_MOST = 1_000
_LOG = logging.getLogger("content_settlement")


class Failures:
    """Counts failures, logs one of a kind in five minutes, and calls a hook each time; a hook that raises changes nothing."""

    def __init__(self, on_failure: Callable[[Mapping[str, Any]], None] | None, log: Callable[[str], None] | None) -> None:
        self._on_failure = on_failure
        self._log = log or _LOG.warning
        self._counts: dict[str, int] = {}
        self._logged_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, what: str, message: str, answer: Answer | None = None) -> None:
        """Notes a failure: `config`, `quote`, `verify`, `licence`, `report`, `key`, `classify`, `gate` or `agent`."""
        now = time.monotonic()
        with self._lock:
            count = self._counts[what] = self._counts.get(what, 0) + 1
            is_due = now - self._logged_at.get(what, float("-inf")) >= _QUIET_SECONDS
            if is_due:
                self._logged_at[what] = now
        failure: dict[str, Any] = {"what": what, "message": message, "count": count}
        if answer is not None and answer.status:
            failure["status"] = answer.status
        if answer is not None and answer.code is not None:
            failure["code"] = answer.code
        if self._on_failure is not None:
            on_failure = self._on_failure
            quietly(lambda: on_failure(failure))
        if is_due:
            quietly(lambda: self._log(f"content-settlement: {what}: {message} ({count} so far)"))

    def counts(self) -> dict[str, int]:
        """How many of each kind since the start."""
        with self._lock:
            return dict(self._counts)


def quietly(work: Callable[[], Any]) -> None:
    """Runs a hook of the site's; whatever it raises is its own."""
    try:
        work()
    except Exception:
        pass  # a reader's page does not depend on a hook


class Reports:
    """Reports of what the gate decided. Kept while the service is away; when there are too many the oldest go, and are counted."""

    def __init__(self, client: Client, breaker: Breaker, failures: Failures) -> None:
        self._client = client
        self._breaker = breaker
        self._failures = failures
        self._queue: deque[Mapping[str, Any]] = deque()
        self._dropped = 0
        self._retry_at = 0.0
        self._is_running = False
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._is_due = threading.Event()

    def add(self, report: Mapping[str, Any]) -> None:
        """Keeps a report; it leaves within two seconds. Never waits."""
        with self._lock:
            self._queue.append(report)
            self._trim()
            # Here and not when the gate opens: servers fork their processes after that, and a thread does not come along.
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="content-settlement-reports", daemon=True).start()
                atexit.register(self._leave)
        self._is_due.set()

    def dropped(self) -> int:
        """How many were given up since the start."""
        with self._lock:
            return self._dropped

    def flush(self) -> None:
        """Sends what is there. Never raises."""
        with self._sending:
            while True:
                with self._lock:
                    batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
                if not batch:
                    return
                left = self._send(batch)
                if left:
                    with self._lock:
                        self._queue.extendleft(reversed(left))
                        self._trim()
                        self._retry_at = time.monotonic() + _RETRY_SECONDS
                    return

    def _run(self) -> None:
        while True:
            self._is_due.wait()
            self._is_due.clear()
            time.sleep(_FLUSH_SECONDS)
            self.flush()
            with self._lock:
                wait, is_left = self._retry_at - time.monotonic(), bool(self._queue)
            if is_left:
                time.sleep(max(wait - _FLUSH_SECONDS, 0.0))
                self._is_due.set()

    def _leave(self) -> None:
        """Once: a process that ends does not wait for the service to come back."""
        if time.monotonic() >= self._retry_at:
            quietly(self.flush)

    def _trim(self) -> None:
        while len(self._queue) > _MOST:
            self._queue.popleft()
            self._dropped += 1

    def _send(self, batch: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """What could not be sent and may be later. A list that is refused for one of its reports is sent in halves, so that this one goes alone."""
        if not self._breaker.may_call():
            return batch
        answer = self._client.observe(batch)
        self._breaker.note(answer.is_away)
        if answer.ok:
            return []
        is_refused = answer.status == 400 or (answer.status == 403 and answer.code == "resource_not_owned")
        if is_refused and len(batch) > 1:
            half = (len(batch) + 1) // 2
            return self._send(batch[:half]) + self._send(batch[half:])
        meanwhile = "the report is lost" if is_refused else "reports wait"
        self._failures.note("key" if answer.is_key_refused and not is_refused else "report", f"{answer.words}; {meanwhile}", answer)
        if is_refused:
            with self._lock:
                self._dropped += len(batch)
        return [] if is_refused else batch
