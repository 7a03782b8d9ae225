"""What a gate remembers, and how often it asks: bounded, and safe among threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from typing import Callable, Generic, TypeVar

Value = TypeVar("Value")


class Lru(Generic[Value]):
    """A map that forgets what was used longest ago when it is full."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[str, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Value | None:
        """The value, used just now; None for none."""
        with self._lock:
            value = self._entries.get(key)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def set(self, key: str, value: Value) -> None:
        """Keeps a value."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > self._most:
                self._entries.popitem(last=False)

    def delete(self, key: str) -> None:
        """Forgets a value, if there is one."""
        with self._lock:
            self._entries.pop(key, None)


class Rate:
    """Lets so many questions a second begin, and so many be under way."""

    def __init__(self, now: Callable[[], float], at_once: int, a_second: int) -> None:
        self._now = now
        self._at_once = at_once
        self._a_second = a_second
        self._second = 0
        self._asked = 0
        self._asking = 0
        self._lock = threading.Lock()

    def begin(self) -> bool:
        """False where it is too much now; after True comes `end`."""
        with self._lock:
            second = int(self._now())
            if second != self._second:
                self._second, self._asked = second, 0
            if self._asking >= self._at_once or self._asked >= self._a_second:
                return False
            self._asked += 1
            self._asking += 1
            return True

    def end(self) -> None:
        """A question is answered."""
        with self._lock:
            self._asking -= 1


class Breaker:
    """Keeps a site from waiting again and again for a service that does not answer: five failures in a row, and ten seconds without a call;
    after that one caller at a time finds out."""

    _FAILURES = 5
    _REST_SECONDS = 10.0
    _PROBE_SECONDS = 2.0

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._failures = 0
        self._closed_until = 0.0
        self._lock = threading.Lock()

    def may_call(self) -> bool:
        """True when a call may be made."""
        with self._lock:
            now = self._now()
            if now < self._closed_until:
                return False
            if self._failures >= self._FAILURES:
                self._closed_until = now + self._PROBE_SECONDS
            return True

    def note(self, is_away: bool) -> None:
        """Notes how a call ended."""
        with self._lock:
            self._failures = self._failures + 1 if is_away else 0
            self._closed_until = self._now() + self._REST_SECONDS if self._failures >= self._FAILURES else 0.0


class Flights(Generic[Value]):
    """One question at a time for each key: who asks meanwhile gets the same answer."""

    def __init__(self) -> None:
        self._flights: dict[str, Future[Value]] = {}
        self._lock = threading.Lock()

    def run(self, key: str, ask: Callable[[], Value]) -> Value:
        """The answer to `ask`, or that of the question under way."""
        with self._lock:
            flight = self._flights.get(key)
            is_own = flight is None
            if flight is None:
                flight = self._flights[key] = Future()
        if not is_own:
            return flight.result()
        try:
            flight.set_result(ask())
        except BaseException as error:
            flight.set_exception(error)
        finally:
            with self._lock:
                del self._flights[key]
        return flight.result()
