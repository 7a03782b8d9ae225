"""The gate in front of a site's pages: what a server has to do with each request. The adapters for WSGI and ASGI do it."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, NamedTuple, Sequence
from urllib.parse import urlsplit

from .answers import (
    Answer,
    crawler_error_of,
    micro_of,
    offer_answer,
    paid_headers,
    preflight_answer,
    refusal_answer,
    wait_answer,
)
from .aside import is_aside
from .claims import Claims
from .client import Client
from .decide import Decision, Facts, decide, decide_unpriced
from .documents import Documents, HostProof
from .knowing import Agents, ConfigStore, Headers, Licences, Page, Price, Proof, Proofs, Quotes, SiteConfig, is_signed
from .memory import Breaker
from .page import Address, address_of, either
from .selling import Look, Looks, Purchase, Sales, UnlessSiteHas
from .shapes import loads, unbase64
from .telling import Failures, Reports, quietly
from .visitors import Caller, Classifier
from .whence import Ip, create_whence, ip_of

_MAX_PAYMENT_CHARS = 16_384
# What only an agent sends that wants to pay.
_PAYING = ("payment-signature", "x-payment", "sign-in-with-x", "crawler-max-price", "crawler-exact-price", "accept-payment")
# Headers that ask for a part of a page, or for none if it has not changed: a buyer gets the whole page.
PARTIAL = ("range", "if-range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since")
_MARKDOWN = re.compile(r"\btext/(?:x-)?markdown\b", re.IGNORECASE)
_WORDS = {"human": "person", "agent": "agent", "search": "search"}


class Request(NamedTuple):
    """A request as the gate reads it. `path` is in plain form (`page.path_of`), `target` as it was sent, `original` the server's own; `inner`: the
    path without the mount, in plain form, where a client may have said the mount; `peer`: the address at the other end of the connection."""

    method: str
    path: str | None
    target: str
    header: Headers
    original: Any
    inner: tuple[str | None, ...] = ()
    peer: str | None = None


class Ruling(NamedTuple):
    """What a server has to do: `serve` (let the site answer; with headers: put them on its answer, and ask for the whole page), `answer`, or `hold`
    (have the answer made, as `look` says, and hand it over before anything of it is sent)."""

    act: str
    headers: Mapping[str, str] | None = None
    answer: Answer | None = None
    look: Look | None = None


@dataclass(frozen=True)
class Options:
    """What a site says to the gate. Nothing but address and key is needed, and these come from the environment (`SVC_URL`, `SVC_API_KEY`).

    `origin`: the site's public address; unless told, that host of the site which a request names, else its first.
    `classify`: the site's own verdict on a reader (`human`, `agent`, `search`, or None), by the WSGI environ or ASGI scope.
    `trusted_proxies`: ranges (CIDR) of the proxies in front of the site; `X-Forwarded-For` is read from them alone, and says whether Googlebot comes
    from Google. `[]`: nobody is in front. `SVC_TRUSTED_PROXIES` (with commas) unless told. `address`: who asks, by the environ or scope, where the
    site knows it better than the connection.
    `charge`: `agents`, or `everyone`. `kind`: what is sold (`read` or `citation`). `report`: `agents`, `all` or `none`.
    `on_failure`, `on_decision`: hear of each failure and each decision. `log`: takes a line about a failure, one of a kind in five minutes.
    `max_page_bytes`: of a page that are kept until it is paid. `documents`: False for none, or `{"/llms.txt": True}`.
    """

    service_url: str | None = None
    api_key: str | None = None
    origin: str | None = None
    classify: Callable[[Any], str | None] | None = None
    trusted_proxies: Sequence[str] | None = None
    address: Callable[[Any], str | None] | None = None
    charge: str = "agents"
    kind: Callable[[Any], str] | None = None
    report: str = "agents"
    on_failure: Callable[[Mapping[str, Any]], None] | None = None
    on_decision: Callable[[Mapping[str, Any]], None] | None = None
    log: Callable[[str], None] | None = None
    now: Callable[[], float] = time.time
    max_page_bytes: int = 8 * 1_024 * 1_024
    documents: Mapping[str, bool] | bool = True


class _Judgement(NamedTuple):
    decision: Decision
    caller: Caller
    page: Page | None
    price: Price | None
    proof: Proof
    payment: str | None
    license_error: str


class Gate:
    """A gate; nothing is asked before the first request. Raises ValueError for options that cannot be used. One gate serves any number of threads."""

    def __init__(self, options: Options) -> None:
        url = options.service_url or os.environ.get("SVC_URL", "")
        key = options.api_key or os.environ.get("SVC_API_KEY", "")
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ValueError("content-settlement: service_url (or SVC_URL) must be the http(s) address of the service")
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError("content-settlement: api_key (or SVC_API_KEY) must be the site's key")
        origin = urlsplit(options.origin or "")
        if options.origin is not None and (origin.scheme not in ("http", "https") or not origin.hostname):
            raise ValueError("content-settlement: origin must be the site's public address, as https://site.example")
        proxies = os.environ.get("SVC_TRUSTED_PROXIES")
        told = [one.strip() for one in proxies.split(",") if one.strip()] if proxies is not None else None
        self._whence = create_whence(told if options.trusted_proxies is None else options.trusted_proxies)
        self.options = options
        self._origin = None if options.origin is None else f"{origin.scheme}://{origin.netloc}"
        now = options.now
        self.failures = Failures(options.on_failure, options.log)
        self._client = Client(url, key, lambda version: self._config.heard(version))
        breaker = Breaker(now)
        self._claims = Claims(now)
        self._config = ConfigStore(self._client, now, breaker, self.failures, self._claims)
        self._quotes = Quotes(self._client, now, breaker, self.failures)
        self._licences = Licences(self._client, now, self.failures, key.startswith("svc_test_"))
        self._proofs = Proofs(self._client, now, self.failures)
        self._agents = Agents(self._client, now, self.failures)
        self._reports = Reports(self._client, breaker, self.failures)
        self._looks = Looks(now)
        sold = self._licences.sold
        self._sales = Sales(self._client, self._quotes, now, self.failures, options.max_page_bytes, self._unservable, sold)
        self._host_proof = HostProof(self._client)
        self._documents = Documents(self._client, now, options.documents)
        self._before_config = Classifier(None)

    def lets_through(self, request: Request) -> bool:
        """True for whom nothing has to be found out: the site answers as if the gate were not there. Never waits, never raises."""
        try:
            return self._lets_through(request)
        except Exception as error:
            self.failures.note("gate", f"a request could not be read: {error}")
            return False

    def rule(self, request: Request) -> Ruling:
        """What to do with any other request. Waits for the service, within its bounds; never raises."""
        try:
            own = self._own_ruling(request)
            if own is not None:
                return own
            judgement = self._judge(request)
            looked = self._look_of(request, judgement)
            if looked is not None:
                return looked
            self._decided(request.method, judgement)
            return self._carry_out(request, judgement)
        except Exception as error:
            self.failures.note("gate", f"a request could not be decided: {error}")
            who = self._reader(request, self._config.current()).who
            return Ruling("answer", answer=wait_answer()) if who in ("agent", "blocked") else Ruling("serve")

    def flush(self) -> None:
        """Sends the reports that wait. Never raises."""
        quietly(self._reports.flush)

    def counts(self) -> dict[str, int]:
        """What went wrong since the start, by kind, and reports that were given up."""
        return {**self.failures.counts(), "reports_dropped": self._reports.dropped()}

    def _lets_through(self, request: Request) -> bool:
        if _is_preflight(request) or self._is_ours(request):
            return False
        config = self._config.current()
        caller = self._reader(request, config)
        if caller.who in ("agent", "blocked"):
            return config is not None and not self._address(config, request)[0]
        if self.options.report == "all" and self._address(config, request)[0]:
            self._report(self._page(config, request), "served-free", caller)
        return True

    def _is_ours(self, request: Request) -> bool:
        path = request.path or ""
        is_read = request.method in ("GET", "HEAD")
        return is_read and (self._documents.is_served(path) or self._host_proof.token_of(path) is not None)

    def _own_ruling(self, request: Request) -> Ruling | None:
        """What the package itself answers, to any caller; None for nothing."""
        if _is_preflight(request):
            is_scoped, _ = self._address(self._config.first(), request)
            return Ruling("answer", answer=preflight_answer()) if is_scoped else Ruling("serve")
        if not self._is_ours(request):
            return None
        path = request.path or ""
        token = self._host_proof.token_of(path)
        if token is not None:
            answer = self._host_proof.answer(token)
            return Ruling("serve") if answer is None else Ruling("answer", answer=answer)

        def ours() -> Answer | None:
            _, address = self._address(self._config.first(), request)
            host = None if address is None else urlsplit(address.origin).hostname
            return None if host is None else self._documents.answer(path, host, request.header)

        return Ruling("hold", look=UnlessSiteHas(self._looks.held, ours))

    def _reader(self, request: Request, config: SiteConfig | None) -> Caller:
        """Who a request comes from: the site's own word first, then its settings and the lists, then what the request itself asks for."""
        own = self._own_word(request)
        classifier = self._before_config if config is None else config.classify
        found = own or self._by_name(request, classifier)
        if found.who not in ("person", "search", "robot"):
            return found
        if _wants_to_pay(request):
            return Caller("agent", "paying")
        if found.who != "person":
            return found
        # No browser signs what it asks for: what people drive themselves says nothing of the kind.
        if is_signed(request.header):
            return Caller("agent", "signed")
        if own is None and _MARKDOWN.search(request.header("accept") or ""):
            return classifier.pretender()
        return found._replace(who="agent") if self.options.charge == "everyone" else found

    def _by_name(self, request: Request, classifier: Classifier) -> Caller:
        """By name alone whoever likes is a robot that reads free."""
        user_agent = request.header("user-agent")
        found = classifier(user_agent)
        if found.who in ("person", "blocked") or user_agent is None:
            return found
        is_false = self._claims.worth(user_agent, lambda: self._whence_of(request)) is False
        return (classifier.masquerade() if is_false else None) or found

    def _whence_of(self, request: Request) -> Sequence[Ip]:
        """Where a request comes from: the site's own word first."""
        try:
            word = None if self.options.address is None else self.options.address(request.original)
        except Exception as error:
            self.failures.note("classify", f"an address could not be read: {error}; the reader counts as who he says")
            return []
        if word is None:
            return self._whence(request.peer, request.header)
        found = ip_of(word)
        return [] if found is None else [found]

    def _own_word(self, request: Request) -> Caller | None:
        if self.options.classify is None:
            return None
        try:
            word = self.options.classify(request.original)
            return None if word is None else Caller(_WORDS[word], "site_classifier")
        except Exception as error:
            self.failures.note("classify", f"the site's classifier failed: {error}; the lists decide")
            return None

    def _address(self, config: SiteConfig | None, request: Request) -> tuple[bool, Address | None]:
        host = request.header("host") or ""
        found = address_of(config, self._origin, host, request.path)
        for path in request.inner:
            found = either(found, address_of(config, self._origin, host, path))
        return found

    def _page(self, config: SiteConfig | None, request: Request) -> Page | None:
        _, address = self._address(config, request)
        if address is None:
            return None
        kind = "read"
        if self.options.kind is not None:
            try:
                kind = "citation" if self.options.kind(request.original) == "citation" else "read"
            except Exception as error:
                self.failures.note("classify", f"the site's word for what is sold failed: {error}; it is a read")
        return Page(address, kind, request.header("user-agent") or "")

    def _judge(self, request: Request) -> _Judgement:
        """Finds out, one fact after the other, what `decide` wants to know of a request."""
        config = self._config.current()
        caller = self._reader(request, config)
        state, payment = _payment_of(request)
        licence = _licence_of(request)
        shown = request.header("sign-in-with-x") or None
        page = self._page(config, request)
        price: Price | None = None
        proof = Proof("none")
        license_error = "invalid_request"
        is_identified = False
        facts = Facts(
            who=caller.who,
            config="unasked" if config is None else "known",
            method=request.method if request.method in ("GET", "HEAD") else "other",
            payment=state,
            licence="none" if licence is None else "shown",
            proof="none" if shown is None else "shown",
            **self._place(config, request),
        )
        while True:
            decision = decide(facts)
            if decision.act != "ask":
                return _Judgement(decision, caller, page, price, proof, payment, license_error)
            if decision.about == "config":
                config = self._config.first()
                page = self._page(config, request)
                facts = facts.but(config="away" if config is None else "known", **self._place(config, request))
                continue
            if page is None or config is None:
                facts = facts.but(licence="bad", proof="bad", quote="bad")
                continue
            if not is_identified:
                is_identified = True
                url = page.address.origin + request.target
                page = self._quotes.located(page._replace(signed=self._agents.identify(request.method, url, request.header)))
            if decision.about == "licence":
                worth = self._licences.worth_of(config, page, licence or "", request.header)
                if worth in ("invalid_token", "insufficient_scope"):
                    license_error = worth
                    worth = "bad"
                facts = facts.but(licence=worth)
            elif decision.about == "proof":
                proof = self._proofs.judge(config, page, shown or "")
                facts = facts.but(proof=proof.state)
            else:
                price = self._quotes.price_of(page)
                facts = facts.but(quote=price.state)

    def _place(self, config: SiteConfig | None, request: Request) -> dict[str, bool]:
        is_scoped, address = self._address(config, request)
        scope = {} if config is None else config.enforcement["gateScope"]
        pages = scope.get("includeExtensions") if scope.get("mode") == "site" else None
        return {"is_in_scope": is_scoped, "is_aside": address is not None and all(is_aside(path, pages) for path in address.spellings)}

    def _look_of(self, request: Request, judgement: _Judgement) -> Ruling | None:
        """A look at the site's own answer before a page is offered for money; None where there is nothing to look at, or nothing to learn."""
        page, method = judgement.page, request.method
        is_aside_ = judgement.decision.act == "look"
        if not is_aside_ and judgement.decision.act != "offer":
            return None
        as_reader = judgement._replace(decision=Decision("serve", as_="open"))
        if page is None:
            if not is_aside_:
                return None
            # Which page it is, only the site's router knows: refused as for GET, or every other method would be a way round the price.
            refused = judgement._replace(decision=Decision("refuse", status=400))
            self._decided(method, refused)
            return self._carry_out(request, refused)

        def instead() -> Answer | None:
            try:
                offered = self._offer_for(judgement, page, method) if is_aside_ else judgement
                if offered is None:
                    return None
                self._decided(method, offered)
                return self._carry_out(request, offered).answer
            except Exception as error:
                self.failures.note("gate", f"an offer could not be made: {error}")
                return wait_answer()

        look = self._looks.open(page, method, is_aside_, instead, lambda: self._decided(method, as_reader))
        return None if look is None else Ruling("hold", look=look)

    def _offer_for(self, judgement: _Judgement, asked: Page, method: str) -> _Judgement | None:
        """What becomes of a page that was asked for in another way than with GET, or under the name of none; None for one without a price."""
        page = self._quotes.located(asked)
        price = self._quotes.price_of(page)
        if price.state != "priced":
            decision = decide_unpriced(price.state)
        elif method in ("GET", "HEAD"):
            decision = Decision("offer")
        else:
            decision = Decision("offer", error="invalid_parameter: pay with GET", next="fix_request")
        return None if decision.act == "serve" else judgement._replace(page=page, price=price, decision=decision)

    def _carry_out(self, request: Request, judgement: _Judgement) -> Ruling:
        decision, page, price, proof = judgement.decision, judgement.page, judgement.price, judgement.proof
        quote = price.quote if price is not None and price.state == "priced" else None
        reason = _reason_of(decision, quote, request)
        caller = judgement.caller if reason is None else judgement.caller._replace(reason=reason)
        if decision.verdict is not None:
            self._report(page, decision.verdict, caller, None if quote is None else quote["price"])
        if decision.act == "serve":
            return Ruling("serve", paid_headers(licence=proof.licence) if decision.as_ == "licensed" else None)
        if decision.act == "refuse" and decision.status != 503:
            return Ruling("answer", answer=refusal_answer(decision.status or 400))
        if decision.act == "refuse" and proof.state == "busy":
            return Ruling("answer", answer=wait_answer(proof.retry_after))
        if quote is None or page is None or decision.act == "refuse":
            return Ruling("answer", answer=wait_answer(price.retry_after if price is not None else None))
        accept = request.header("accept") or ""
        if decision.act == "offer":
            error = decision.error or (proof.error if proof.state == "bad" else None)
            named = crawler_error_of(quote["price"], request.header("crawler-max-price"), request.header("crawler-exact-price"))
            answer = offer_answer(
                quote,
                accept=accept,
                is_head=request.method == "HEAD",
                error=error,
                next_=None if decision.next is None else {"action": decision.next},
                license_error=judgement.license_error,
                crawler_error=named,
            )
            return Ruling("answer", answer=answer)
        sale = self._sales.open(Purchase(page, quote, caller, judgement.payment or "", accept))
        return Ruling("answer", answer=wait_answer(1)) if sale is None else Ruling("hold", look=sale)

    def _unservable(self, purchase: Purchase) -> None:
        self._report(purchase.page, "unservable", purchase.caller, purchase.quote["price"])

    def _report(self, page: Page | None, verdict: str, caller: Caller, price: int | None = None) -> None:
        if self.options.report == "none" or page is None:
            return
        report: dict[str, Any] = {
            "resource": page.resource,
            "kind": page.kind,
            "verdict": verdict,
            "classifiedAs": "human" if caller.who == "person" else "agent",
            "at": int(self.options.now() * 1_000),
            "agent": {"ua": page.user_agent[:512], "classifyReason": caller.reason, **page.signed},
        }
        if price is not None:
            report["priceMicro"] = price
        self._reports.add(report)

    def _decided(self, method: str, judgement: _Judgement) -> None:
        hook = self.options.on_decision
        if hook is None:
            return
        decision, page, price = judgement.decision, judgement.page, judgement.price
        told: dict[str, Any] = {
            "act": "serve" if decision.act == "look" else decision.act,
            "who": judgement.caller.who,
            "reason": judgement.caller.reason,
            "method": method,
            "resource": None if page is None else page.resource,
        }
        if decision.act == "serve":
            told["as"] = decision.as_
        if price is not None and price.state == "priced":
            told["price_micro"] = price.quote["price"]
        if price is not None and price.because is not None:
            told["because"] = price.because
        quietly(lambda: hook(told))


def _payment_of(request: Request) -> tuple[str, str | None]:
    """The payment of a request. Some wallets send both headers; they must hold one and the same signature. `laden`: it has a body, which a sender can
    make a server wait for."""
    v2, v1 = request.header("payment-signature") or None, request.header("x-payment") or None
    value = v2 or v1
    if value is None:
        return "none", None
    if request.header("transfer-encoding") or not re.fullmatch(r"0*", request.header("content-length") or ""):
        return "laden", None
    if len(value) > _MAX_PAYMENT_CHARS or len(v1 or "") > _MAX_PAYMENT_CHARS:
        return "long", None
    if v1 is not None and v2 is not None and v1 != v2:
        first, second = _signature_of(v1), _signature_of(v2)
        if first is None or first != second:
            return "two", None
    return "one", value


def _signature_of(payment: str) -> str | None:
    sent = loads(unbase64(payment))
    payload = sent.get("payload") if isinstance(sent, dict) else None
    signature = payload.get("signature") if isinstance(payload, dict) else None
    return signature if isinstance(signature, str) else None


def _licence_of(request: Request) -> str | None:
    found = re.fullmatch(r"License +(\S+) *", request.header("authorization") or "", re.IGNORECASE)
    return found[1] if found else None


def _wants_to_pay(request: Request) -> bool:
    """True when a request speaks of money, as no browser does by itself."""
    is_licence = re.match(r"License ", request.header("authorization") or "", re.IGNORECASE) is not None
    return is_licence or any(request.header(name) for name in _PAYING)


def _is_preflight(request: Request) -> bool:
    """True when a browser asks whether a page of another origin may send what only an agent sends that wants to pay."""
    if request.method != "OPTIONS":
        return False
    asked = (request.header("access-control-request-headers") or "").lower().split(",")
    return any(name.strip() in _PAYING for name in asked)


def _reason_of(decision: Decision, quote: Mapping[str, Any] | None, request: Request) -> str | None:
    """What the audit is told in place of why the reader counts as what it does; None: that."""
    if decision.act == "serve" and decision.as_ == "away":
        return "service_away"
    if decision.act != "offer" or quote is None:
        return None
    limits = [micro_of(request.header(name) or "") for name in ("crawler-max-price", "crawler-exact-price")]
    return "over_budget" if any(limit is not None and limit < quote["price"] for limit in limits) else None
