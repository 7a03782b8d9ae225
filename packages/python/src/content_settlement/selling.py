"""One purchase: the page first, money second; and looks at what the site answers, before a page is offered for money."""

from __future__ import annotations

import threading
import zlib
from typing import Any, Callable, Mapping, NamedTuple

from .answers import Answer, next_of, offer_answer, paid_headers, refusal_answer, wait_answer
from .aside import ACKNOWLEDGEMENT_BYTES, is_acknowledgement, may_be_page, name_of
from .client import Answer as Told
from .client import Client
from .decide import decide_settled, is_servable
from .knowing import Page, Quotes
from .memory import Breaker, Lru
from .shapes import is_licence
from .telling import Failures
from .visitors import Caller

# How long a page may take to be made.
MAKING_SECONDS = 30.0
# Bytes of all pages that wait in memory: those that are sold, and as many of those that are looked at.
HELD_BYTES = 64 * 1_024 * 1_024
SALES_AT_ONCE = 100
_LOOKS_AT_ONCE = 64
_KNOWN_SECONDS = 600.0


class Finished(NamedTuple):
    """What becomes of a page that was made: `page` (with these headers on it), `own` (it goes out as it is), or `answer` (in its place)."""

    act: str
    headers: Mapping[str, str] = {}
    answer: Answer | None = None


class Held:
    """Bytes that wait in memory, of all pages together."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, size: int) -> bool:
        """Counts bytes; False when there are too many."""
        with self._lock:
            self._bytes += size
            return self._bytes <= self.most


class Look:
    """A look at one answer, or a purchase that waits for its page. `hold` counts bytes that wait, `finish` decides once, `close` ends it: its
    opener always calls that."""

    # How much of an answer is kept until `finish` is asked, and how long its making may take; None: as long as it takes.
    keep_bytes: int = ACKNOWLEDGEMENT_BYTES
    seconds: float | None = None
    # True where the site is asked for the whole of it, whatever part its reader wants.
    asks_whole = True

    def __init__(self, held: Held) -> None:
        self._held = held
        self._own_bytes = 0

    def may_be_page(self, status: int, type_: str) -> bool:
        """False for the head of what is no page for certain: it goes out untouched."""
        raise NotImplementedError

    def finish(self, status: int, body: bytes, encoding: str, is_whole: bool) -> Finished:
        """Says what goes out. May take as long as a settlement does, and never raises."""
        raise NotImplementedError

    def hold(self, size: int) -> bool:
        """Counts bytes of the answer that wait in memory; False when all together have too many."""
        self._own_bytes += size
        return self._held.add(size)

    def close(self) -> None:
        """The answer waits no longer."""
        self._held.add(-self._own_bytes)
        self._own_bytes = 0


class UnlessSiteHas(Look):
    """An answer of ours where the site has none: a 404, or the page that it shows at every address."""

    asks_whole = False

    def __init__(self, held: Held, ours: Callable[[], Answer | None]) -> None:
        super().__init__(held)
        self._ours = ours

    def may_be_page(self, status: int, type_: str) -> bool:
        return status == 404 or (status == 200 and type_.lower().startswith("text/html"))

    def finish(self, status: int, body: bytes, encoding: str, is_whole: bool) -> Finished:
        try:
            answer = self._ours()
        except Exception:  # the site's own answer is better than none
            answer = None
        return Finished("own") if answer is None else Finished("answer", answer=answer)


class Looks:
    """Opens looks. What they cost a site is bounded: an address that proved to be a page is not looked at again for ten minutes, and at most 64 unpaid
    looks wait at once; above it pages are offered unseen."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pages: Lru[float] = Lru(5_000)
        self.held = Held(HELD_BYTES)
        self._waiting = 0
        self._lock = threading.Lock()

    def open(
        self, page: Page, method: str, is_aside: bool, instead: Callable[[], Answer | None], on_own: Callable[[], None]
    ) -> Look | None:
        """None where no look is needed or none is possible: the page may be offered unseen. `instead`: what goes out in place of the page, None to
        let it out after all; `on_own` hears that the site's own answer went out."""
        with self._lock:
            if not is_aside and (self.is_known(page) or self._waiting >= _LOOKS_AT_ONCE):
                return None
            self._waiting += 0 if is_aside else 1
        return _PageLook(self, page, method, is_aside, instead, on_own)

    def is_known(self, page: Page) -> bool:
        """True for an address that was seen to be a page."""
        seen_at = self._pages.get(f"{page.resource} {page.form or ''}")
        return seen_at is not None and seen_at > self._now() - _KNOWN_SECONDS

    def saw(self, page: Page) -> None:
        """The address is a page."""
        self._pages.set(f"{page.resource} {page.form or ''}", self._now())

    def ended(self) -> None:
        """A look that counted is over."""
        with self._lock:
            self._waiting -= 1


class _PageLook(Look):
    def __init__(
        self, looks: Looks, page: Page, method: str, is_aside: bool, instead: Callable[[], Answer | None], on_own: Callable[[], None]
    ) -> None:
        super().__init__(looks.held)
        self._looks, self._page, self._method, self._is_aside = looks, page, method, is_aside
        self._instead, self._on_own = instead, on_own
        self._is_open = True

    def may_be_page(self, status: int, type_: str) -> bool:
        asked = "page"
        if self._page.form is not None:
            asked = "form"
        elif self._method not in ("GET", "HEAD"):
            asked = "method"
        elif self._is_aside and not self._looks.is_known(self._page):
            asked = name_of(self._page.address.path)
        return may_be_page(status, type_, asked, self._page.address.path)

    def finish(self, status: int, body: bytes, encoding: str, is_whole: bool) -> Finished:
        is_page = self._method == "HEAD" or (
            len(body) > 0
            and (not self._is_aside or self._looks.is_known(self._page) or not is_acknowledgement(body if is_whole else None))
        )
        answer = self._instead() if is_page else None
        if answer is not None and self._method == "GET":
            self._looks.saw(self._page)
        self._end(answer is None)
        return Finished("own") if answer is None else Finished("answer", answer=answer)

    def close(self) -> None:
        super().close()
        self._end(True)

    def _end(self, is_own: bool) -> None:
        if not self._is_open:
            return
        self._is_open = False
        if not self._is_aside:
            self._looks.ended()
        if is_own:
            self._on_own()


class Purchase(NamedTuple):
    """What is bought, and with what."""

    page: Page
    quote: Mapping[str, Any]
    caller: Caller
    payment: str
    accept: str


class Sales:
    """The till: 100 pages wait at once, for half a minute each, and hold 64 MiB in all."""

    def __init__(
        self,
        client: Client,
        quotes: Quotes,
        now: Callable[[], float],
        failures: Failures,
        max_page_bytes: int,
        unservable: Callable[[Purchase], None],
        sold: Callable[[Page, str], None],
    ) -> None:
        self.client, self.quotes, self.failures, self.unservable, self.sold = client, quotes, failures, unservable, sold
        self.breaker = Breaker(now)
        self.max_page_bytes = max_page_bytes
        self.held = Held(max(HELD_BYTES, max_page_bytes))
        self._waiting = 0
        self._lock = threading.Lock()

    def open(self, purchase: Purchase) -> Look | None:
        """None when too many wait for their pages, or these are too large together."""
        with self._lock:
            if self._waiting >= SALES_AT_ONCE or not self.held.add(0):
                return None
            self._waiting += 1
        return _Sale(self, purchase)

    def ended(self) -> None:
        """A purchase is over."""
        with self._lock:
            self._waiting -= 1


class _Sale(Look):
    seconds = MAKING_SECONDS

    def __init__(self, sales: Sales, purchase: Purchase) -> None:
        super().__init__(sales.held)
        self._sales, self._purchase = sales, purchase
        self.keep_bytes = sales.max_page_bytes
        self._is_open = True

    def may_be_page(self, status: int, type_: str) -> bool:
        return True

    def finish(self, status: int, body: bytes, encoding: str, is_whole: bool) -> Finished:
        try:
            return self._finish(status, body, encoding, is_whole)
        except Exception as error:  # it may have been paid, so the buyer is never asked for another payment
            self._sales.failures.note("verify", f"a sale broke off: {error}; the buyer is told to come back")
            return Finished("answer", answer=wait_answer())

    def close(self) -> None:
        super().close()
        if self._is_open:
            self._is_open = False
            self._sales.ended()

    def _finish(self, status: int, body: bytes, encoding: str, is_whole: bool) -> Finished:
        sales, purchase = self._sales, self._purchase
        if not is_servable(status, len(body)) or (is_whole and not has_content(body, encoding)):
            sales.unservable(purchase)
            return Finished("own", {"cache-control": "private, no-store"})
        if not sales.breaker.may_call():
            return Finished("answer", answer=wait_answer(10))
        page, quote = purchase.page, purchase.quote
        told = sales.client.verify(
            {
                "payment": purchase.payment,
                "resource": page.resource,
                "agent": {"ua": page.user_agent[:512], "classifyReason": purchase.caller.reason, **page.signed},
                "quote": {name: one for name, one in quote.items() if name != "x402"},
                "legs": quote["legs"],
            }
        )
        # A service that says so of a network is there: sales on the others go on.
        sales.breaker.note(told.is_away and told.code != "chain_unavailable")
        if told.ok and (told.status != 200 or not isinstance(told.body, dict) or not is_licence(told.body.get("licenseJws"))):
            told = Told("status", 502)
        return self._told(told)

    def _told(self, told: Told) -> Finished:
        purchase = self._purchase
        if told.ok:
            self._sales.sold(purchase.page, told.body["licenseJws"])
            return Finished("page", paid_headers(told.headers, told.body["licenseJws"], told.body.get("chargedMicro")))
        act, needs_owner = decide_settled(told.status, told.code)
        if act == "wait":
            return self._wait(told, needs_owner)
        price = self._sales.quotes.price_again(purchase.page)
        if price.state == "refused":
            return Finished("answer", answer=refusal_answer(403))
        if price.state != "priced":
            return Finished("answer", answer=wait_answer(None, told.headers))
        error, next_ = told.error or "payment refused", next_of(told.body)
        offer = offer_answer(price.quote, accept=purchase.accept, is_head=False, error=error, next_=next_, told=told.headers)
        return Finished("answer", answer=offer)

    def _wait(self, told: Told, needs_owner: bool) -> Finished:
        # Pending and "too much at once" are the service's ordinary words, not failures.
        if told.code is None or needs_owner or told.is_away:
            meanwhile = "the buyer is told to come back with the same payment, and is charged once at most"
            self._sales.failures.note("key" if told.is_key_refused else "verify", f"{told.words}; {meanwhile}", told)
        return Finished("answer", answer=wait_answer(told.retry_after, told.headers))


def has_content(body: bytes, encoding: str) -> bool:
    """True when the page has at least one byte once its coding is undone, and also when nobody here knows the coding; False for what is broken."""
    name = encoding.strip().lower()
    if name not in ("gzip", "x-gzip", "deflate"):
        return True
    try:
        return len(zlib.decompressobj(zlib.MAX_WBITS | (32 if name != "deflate" else 0)).decompress(body, 1)) > 0
    except zlib.error:
        return False
