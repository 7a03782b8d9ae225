"""What becomes of a request, decided from plain facts: no clock, no network, no memory. What cannot be decided yet is asked for, one fact at a
time, in the order in which asking costs least. The table of the package for Node drives this one, too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple


class Decision(NamedTuple):
    """What to do: `ask` names the fact that is wanting (`about`); `serve`, `offer`, `look`, `settle`, `refuse`, `discover` are final."""

    act: str
    as_: str | None = None
    about: str | None = None
    status: int | None = None
    error: str | None = None
    next: str | None = None
    verdict: str | None = None


@dataclass(frozen=True)
class Facts:
    """What is known of a request; the values are those of `Facts` in the package for Node. `unproven` of a licence: the service, which alone can
    prove it here, is away."""

    who: str
    config: str = "unasked"
    is_ours: bool = False
    is_in_scope: bool = False
    is_aside: bool = False
    method: str = "GET"
    payment: str = "none"
    licence: str = "none"
    proof: str = "none"
    quote: str = "unasked"

    def but(self, **changes: object) -> Facts:
        """The same facts but for some."""
        return replace(self, **changes)  # type: ignore[arg-type]


_OFFERS = {
    "none": Decision("offer", verdict="denied"),
    "two": Decision("offer", error="authorization_invalid: two payments in one request"),
    "long": Decision("offer", error="malformed_payment: the payment is too long"),
}
_WAIT = Decision("refuse", status=503)


def decide_unpriced(quote: str) -> Decision:
    """Decides about a page without a price from the service, for a caller who would pay."""
    if quote in ("free", "away"):
        return Decision("serve", as_=quote, verdict="served-free")
    if quote == "busy":
        return _WAIT
    return Decision("refuse", status=403, verdict="blocked") if quote == "refused" else Decision("refuse", status=400)


def decide(facts: Facts) -> Decision:
    """Decides about one request. Readers, search engines and whom the owner lets in are served before anything is asked."""
    if facts.is_ours:
        return Decision("discover")
    if facts.who not in ("agent", "blocked"):
        return Decision("serve", as_="reader")
    if facts.config == "unasked":
        return Decision("ask", about="config")
    if facts.config == "away":
        return Decision("serve", as_="away", verdict="served-free")
    if not facts.is_in_scope:
        return Decision("serve", as_="open")
    if facts.who == "blocked":
        return Decision("refuse", status=403, verdict="blocked")
    return _decide_agent(facts)


def _decide_agent(facts: Facts) -> Decision:
    if facts.licence == "shown":
        return Decision("ask", about="licence")
    if facts.licence == "good":
        return Decision("serve", as_="licensed", verdict="agent-reread")
    # It may open the page: an offer would have its reader pay again. One that pays as well has decided.
    if facts.licence == "busy" and facts.payment == "none":
        return _WAIT
    # Webhooks, forms, feeds, styles: nobody is asked, and nobody waits, for what is no page.
    if facts.method == "other" or (facts.is_aside and facts.payment == "none"):
        return Decision("look")
    if facts.quote == "unasked":
        return Decision("ask", about="quote")
    if facts.quote != "priced":
        return decide_unpriced(facts.quote)
    if facts.licence == "unproven" and facts.payment == "none":
        return _WAIT
    if facts.proof == "shown" and facts.method == "GET":
        return Decision("ask", about="proof")
    if facts.proof == "good":
        return Decision("serve", as_="licensed", verdict="agent-reread")
    if facts.proof == "busy" and facts.payment == "none":
        return _WAIT
    if facts.payment == "laden":
        return Decision("refuse", status=400)
    if facts.method == "HEAD":
        return Decision("offer")
    return Decision("settle") if facts.payment == "one" else _OFFERS[facts.payment]


def decide_settled(status: int, code: str | None) -> tuple[str, bool]:
    """What the buyer gets after verify: `page`, a fresh `offer` that says why, or `wait`, which never carries an offer, since a client would pay a
    second time; and whether the site's owner has to mend something. `status` 0: it did not answer."""
    if status == 200:
        return "page", False
    if status == 402 and code != "settlement_pending":
        return "offer", False
    return "wait", code != "agent_refused" and status in (400, 401, 403)


def is_servable(status: int, size: int) -> bool:
    """True for a page that may be sold: made whole, with something in it. Everything else costs nothing."""
    return 200 <= status <= 299 and size > 0
