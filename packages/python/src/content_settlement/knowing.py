"""What the gate knows of its site by asking the service: settings, prices, licences, wallets and agents. Every question is bounded."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from typing import Any, Callable, Mapping, NamedTuple, Protocol
from urllib.parse import unquote_to_bytes, urlsplit

from .claims import Claims
from .client import Answer, Client
from .memory import Breaker, Flights, Lru, Rate
from .page import Address, may_cover, path_of, resource_of, slug_of
from .shapes import addresses_of, is_config, is_header_text, is_licence, is_quote, loads, unbase64
from .telling import Failures
from .visitors import Classifier, category_of


class Headers(Protocol):
    """A request's headers, by names in lower case."""

    def __call__(self, name: str) -> str | None: ...


class SiteConfig:
    """What the gate decides by."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.enforcement: Mapping[str, Any] = body["enforcement"]
        # What other addresses of an article add to its own; nothing from an older service.
        forms = self.enforcement.get("forms", [])
        self.forms = tuple(one for one in forms if isinstance(one, str) and one) if isinstance(forms, list) else ()
        self.issuer: str = self.enforcement["licenseIdentity"]
        named = [urlsplit(one).netloc for one in (body.get("manifest") or {}).get("resources", [])]
        self.hosts = tuple(dict.fromkeys(one for one in named if one))
        self.version = body.get("version")
        self.classify = Classifier(self.enforcement)


class ConfigStore:
    """The site's settings: read in the background, kept for 300 s or until an answer of the service names a newer version, the last good copy
    while the service is away."""

    _KEPT = 300.0
    _RETRY = 10.0
    _LEAST_KEPT = 2.0
    _FIRST_WAIT = 2.0

    def __init__(
        self, client: Client, now: Callable[[], float], breaker: Breaker, failures: Failures, claims: Claims
    ) -> None:
        self._client, self._now, self._breaker, self._failures = client, now, breaker, failures
        self._claims = claims
        self._config: SiteConfig | None = None
        self._etag: str | None = None
        self._read_at = self._due_at = float("-inf")
        self._reading: threading.Event | None = None
        self._lock = threading.Lock()

    def current(self) -> SiteConfig | None:
        """What is there now; starts reading when it is due. Never waits."""
        with self._lock:
            if self._reading is None and self._now() >= self._due_at:
                self._reading = threading.Event()
                threading.Thread(target=self._read, args=(self._reading,), name="content-settlement-config", daemon=True).start()
            return self._config

    def first(self) -> SiteConfig | None:
        """The settings, waited for when there are none yet: two seconds, then None."""
        known = self.current()
        reading = self._reading
        if known is None and reading is not None:
            reading.wait(self._FIRST_WAIT)
        return self._config

    def heard(self, version: int) -> None:
        """Hears the version that the service has now: an older copy is read again with the next request."""
        with self._lock:
            own = self._config.version if self._config is not None else None
            if isinstance(own, int) and version > own:
                self._due_at = min(self._due_at, self._read_at + self._LEAST_KEPT)

    def _read(self, done: threading.Event) -> None:
        try:
            answer = self._client.config(self._etag, self._claims.version)
            self._breaker.note(answer.is_away)
            is_same = answer.ok and answer.status == 304 and self._config is not None
            is_fresh = answer.ok and answer.status != 304 and is_config(answer.body)
            config = SiteConfig(answer.body) if is_fresh else self._config
            with self._lock:
                self._config = config
                self._etag = answer.headers.get("etag") if is_fresh else self._etag
                self._read_at = self._now()
                self._due_at = self._read_at + (self._KEPT if is_same or is_fresh else self._RETRY)
            if is_fresh:
                self._learn(answer.body)
            if not (is_same or is_fresh):
                meanwhile = "the last settings stay in force" if config is not None else "everybody reads free"
                words = "the settings are not in a form that this version reads" if answer.ok else answer.words
                self._failures.note("key" if answer.is_key_refused else "config", f"{words}; {meanwhile}", answer)
        except Exception as error:
            with self._lock:
                self._due_at = self._now() + self._RETRY
            self._failures.note("config", f"the settings could not be read: {error}")
        finally:
            with self._lock:
                self._reading = None
            done.set()

    def _learn(self, body: Any) -> None:
        """Settings are good without the addresses: a list that cannot be read changes nothing."""
        addresses = addresses_of(body)
        try:
            if addresses is not None:
                self._claims.learn(addresses)
        except ValueError as error:
            self._failures.note("config", f"the addresses of robots cannot be read: {error}; those known stay")


class Page(NamedTuple):
    """A page as it is asked for; `signed` is what its signature says about who asks for it, `form` the plain path of the form in which an article
    is asked for (`/articles/trio.md`), None for its own address."""

    address: Address
    kind: str
    user_agent: str
    signed: Mapping[str, Any] = {}
    form: str | None = None

    @property
    def resource(self) -> str:
        """The page's public address."""
        return self.address.resource


class Price(NamedTuple):
    """A page's price as far as it is known: `priced`, `free`, `away`, `busy`, `refused` or `bad`."""

    state: str
    quote: Mapping[str, Any] = {}
    because: str | None = None
    retry_after: float | None = None


class Quotes:
    """What pages cost, kept for a minute, or until the service says that a rule begins or ends; while the service is away, for as long as the quote
    lives. One call for a page at a time, 64 at once, 100 a second, memory for 5,000 pages with a price and 5,000 without."""

    _FRESH = 60.0
    _LEAST_FRESH = 0.05
    _STALE = 600.0
    _BUSY = 2.0

    def __init__(self, client: Client, now: Callable[[], float], breaker: Breaker, failures: Failures) -> None:
        self._client, self._now, self._breaker, self._failures = client, now, breaker, failures
        self._priced: Lru[tuple[Price, float, float]] = Lru(5_000)
        self._unpriced: Lru[tuple[Price, float, float]] = Lru(5_000)
        self._flights: Flights[Price] = Flights()
        self._rate = Rate(now, 64, 100)

    def price_of(self, page: Page) -> Price:
        """The price of a page, from memory when it is fresh there."""
        question = self._question(page)
        key = "\0".join(question.values())
        kept = self._kept(key)
        if kept is not None and self._now() < kept[1]:
            return kept[0]
        return self._flights.run(key, lambda: self._ask(key, question))

    def price_again(self, page: Page) -> Price:
        """What a page costs now, asked anew: a payment for it was refused."""
        key = "\0".join(self._question(page).values())
        kept = self._priced.get(key)
        if kept is not None:
            self._priced.set(key, (kept[0], 0.0, kept[2]))
        return self.price_of(page)

    def located(self, page: Page) -> Page:
        """The page under that spelling which has a price, where there are several; of a form of an article, the article."""
        if page.form is not None or (len(page.address.spellings) == 1 and not page.address.may_be_form):
            return page
        found = None
        for path in page.address.spellings:
            address = page.address
            one = page._replace(address=replace(address, path=path, resource=resource_of(address.origin, path)))
            price = self.price_of(one)
            if price.state == "priced":
                return _article_of(one, price.quote)
            if price.state == "free" and price.because in ("free_slug", "free_rule") and not address.is_double:
                return one
            if price.state != "free" and found is None:
                found = one
        return found or page

    @staticmethod
    def _question(page: Page) -> dict[str, str]:
        agent, category = page.signed.get("verifiedAgent"), category_of(page.user_agent)
        is_verified = page.signed.get("verified") is True and isinstance(agent, str)
        is_host = is_verified and re.fullmatch(r"[a-z0-9.-]{0,252}[a-z0-9-]", agent) is not None
        return {"resource": page.resource, "kind": page.kind, "agent": agent if is_host else "", "category": category or ""}

    def _kept(self, key: str) -> tuple[Price, float, float] | None:
        return self._priced.get(key) or self._unpriced.get(key)

    def _keep(self, key: str, price: Price, fresh: float, until: float) -> Price:
        into, out_of = (self._priced, self._unpriced) if price.state == "priced" else (self._unpriced, self._priced)
        out_of.delete(key)
        into.set(key, (price, self._now() + fresh, until))
        return price

    def _ask(self, key: str, question: Mapping[str, str]) -> Price:
        stale = self._kept(key)
        known = stale[0] if stale is not None and self._now() < stale[2] else None
        if not self._rate.begin():
            return known or Price("busy", retry_after=1)
        try:
            if not self._breaker.may_call():
                if known is None:
                    self._failures.note("quote", "the service failed five times in a row and is left alone for ten seconds; agents read free")
                return known or Price("away")
            answer = self._client.quote(signIn="1", **{name: one for name, one in question.items() if one})
        finally:
            self._rate.end()
        return self._judged(key, known, answer)

    def _judged(self, key: str, known: Price | None, answer: Answer) -> Price:
        is_refused = answer.code == "agent_refused"
        is_good = answer.ok and (answer.status == 204 or is_quote(answer.body))
        self._breaker.note(not is_good if answer.ok else not is_refused and (answer.is_away or answer.is_key_refused))
        stale_until = self._now() + self._STALE
        if is_refused:
            return self._keep(key, Price("refused"), self._fresh(answer.retry_after), stale_until)
        if is_good:
            changes = answer.headers.get("x-svc-changes-in", "")
            fresh = self._fresh(float(changes) / 1_000 if re.fullmatch(r"\d{1,15}", changes) else None)
            if answer.status == 204:
                return self._keep(key, Price("free", because=answer.headers.get("x-svc-free-because")), fresh, stale_until)
            until = min(answer.body["expiresAt"] / 1_000, stale_until)
            return self._keep(key, Price("priced", answer.body), fresh, until)
        failure = Answer("status", 502) if answer.ok else answer
        if failure.status == 400:
            return self._keep(key, Price("bad"), self._FRESH, 0.0)
        if known is not None:
            return self._tell(failure, "known quotes are used", known)
        if failure.is_away or failure.is_key_refused:
            return self._tell(failure, "agents read free", Price("away"))
        busy = Price("busy", retry_after=5 if failure.retry_after is None else failure.retry_after)
        return self._tell(failure, "agents are told to come back", self._keep(key, busy, self._BUSY, 0.0))

    def _fresh(self, changes_in: float | None) -> float:
        return self._FRESH if changes_in is None else min(self._FRESH, max(changes_in, self._LEAST_FRESH))

    def _tell(self, failure: Answer, meanwhile: str, price: Price) -> Price:
        self._failures.note("key" if failure.is_key_refused else "quote", f"{failure.words}; {meanwhile}", failure)
        return price


def _article_of(page: Page, quote: Mapping[str, Any]) -> Page:
    """The page that a quote is for: the address that was asked about, or the article that it is a form of."""
    named = quote.get("resource")
    path = path_of(unquote_to_bytes(urlsplit(named).path)) if isinstance(named, str) else None
    if path is None or path == page.address.path:
        return page
    address = replace(page.address, path=path, resource=resource_of(page.address.origin, path))
    return page._replace(address=address, form=page.address.path)


_HOLDER_PROOF = re.compile(r"\d{1,12}\.[\w-]{8,64}\.0x(?:[0-9a-f]{2}){1,4000}", re.IGNORECASE | re.ASCII)
_SKEW = 60


class Licences:
    """Licences of readers who paid a moment ago. Python has no Ed25519 of its own, so the service proves each, once a minute; what is not for this
    site, page and kind by its own words costs no call. Bounds: 16 questions at once and 50 a second, of licences that were never good here half as
    many, so that made-up ones leave room to the others. Remembers 2,000 that are good and 2,000 that are not."""

    _CONFIRMED = 60.0

    def __init__(self, client: Client, now: Callable[[], float], failures: Failures, is_test: bool) -> None:
        self._client, self._now, self._failures, self._is_test = client, now, failures, is_test
        # One of its own: a caller who makes these questions fail must not make the service count as away.
        self._breaker = Breaker(now)
        # Apart, so that made-up ones displace none that is good.
        self._good: Lru[float] = Lru(2_000)
        self._bad: Lru[float] = Lru(2_000)
        # Bound to a wallet, and good when the service was last asked: nothing but a better place among the questions.
        self._bound: Lru[float] = Lru(2_000)
        self._flights: Flights[str] = Flights()
        self._known, self._unknown = Rate(now, 8, 25), Rate(now, 8, 25)

    def worth_of(self, config: SiteConfig, page: Page, licence: str, header: Headers) -> str:
        """`good`; `busy`: too many are asked about now; `unproven`: the service is away, and never said that it is good here; or why it opens
        nothing: `invalid_token`, `insufficient_scope`."""
        slug = slug_of(config.enforcement["articlePrefixes"], page.address.path) or page.address.path
        claims = self._claims(config, page, slug, licence)
        if isinstance(claims, str):
            return claims
        proof = header("x-licence-proof") or None
        if claims["is_bound"] and not _HOLDER_PROOF.fullmatch(proof or ""):
            return "invalid_token"
        question = {"license": licence, "resource": page.resource, "slug": slug, "kind": page.kind}
        if proof is not None:
            question["proof"] = proof
        key = self._key(page, licence)
        if claims["is_bound"]:
            return self._confirm(key, question, True)  # its proof counts once
        for worth, noted_at in (("good", self._good.get(key)), ("invalid_token", self._bad.get(key))):
            if noted_at is not None and self._now() - noted_at < self._CONFIRMED:
                return worth
        return self._flights.run(key, lambda: self._confirm(key, question, False))

    def sold(self, page: Page, licence: str) -> None:
        """Notes a licence that the service has just sold here: as good as one that it confirmed."""
        claims = loads(unbase64(licence.split(".")[1]))
        if isinstance(claims, dict):
            self._note(self._key(page, licence), True, claims.get("cnf") is not None)

    @staticmethod
    def _key(page: Page, licence: str) -> str:
        return f"{page.kind} {page.resource} {licence}"

    def _note(self, key: str, is_good: bool, is_bound: bool) -> None:
        good = self._bound if is_bound else self._good
        if is_good:
            good.set(key, self._now())
            self._bad.delete(key)
            return
        good.delete(key)
        if not is_bound:
            self._bad.set(key, self._now())

    def _confirm(self, key: str, question: Mapping[str, Any], is_bound: bool) -> str:
        is_known = (self._bound if is_bound else self._good).get(key) is not None
        while_away = "good" if is_known and not is_bound else "unproven" if self._bad.get(key) is None else "invalid_token"
        if not self._breaker.may_call():
            return while_away
        rate = self._known if is_known else self._unknown
        if not rate.begin():
            return "busy"
        try:
            answer = self._client.check(question)
        finally:
            rate.end()
        self._breaker.note(answer.is_away)
        if answer.ok or answer.status == 400:
            is_good = answer.ok and isinstance(answer.body, dict) and answer.body.get("entitled") is True
            self._note(key, is_good, is_bound)
            return "good" if is_good else "invalid_token"
        message = f"{answer.words}; licences that the service confirmed before are honoured"
        self._failures.note("key" if answer.is_key_refused else "licence", message, answer)
        return while_away

    def _claims(self, config: SiteConfig, page: Page, slug: str, licence: str) -> dict[str, Any] | str:
        """What a licence says of itself, or why it cannot be one for this page."""
        if not is_licence(licence):
            return "invalid_token"
        head, body, _ = licence.split(".")
        header, claims = loads(unbase64(head)), loads(unbase64(body))
        if not isinstance(header, dict) or header.get("alg") != "EdDSA" or not isinstance(claims, dict):
            return "invalid_token"
        times = [claims.get(name) for name in ("exp", "nbf", "iat")]
        if not all(isinstance(one, (int, float)) for one in times) or not isinstance(claims.get("jti"), str):
            return "invalid_token"
        now, (exp, nbf, iat) = self._now(), times
        audience = claims.get("aud")
        host = f"https://{urlsplit(page.address.origin).hostname}"
        is_for_site = claims.get("iss") == config.issuer and host in (audience if isinstance(audience, list) else [audience])
        if not is_for_site or now >= exp or nbf > now + _SKEW or iat > now + _SKEW:
            return "invalid_token"
        own = claims.get("svc") if isinstance(claims.get("svc"), dict) else {}
        if own.get("v") != 1 or own.get("grant") != "read" or (own.get("settlementRefKind") == "mock" and not self._is_test):
            return "invalid_token"
        if own.get("kind") != "citation" and not (own.get("kind") == "read" and page.kind == "read"):
            return "insufficient_scope"
        scope = own.get("scope")
        if own.get("slug") != slug if scope is None else not may_cover(scope, page.resource):
            return "insufficient_scope"
        return {"is_bound": claims.get("cnf") is not None}


class Proof(NamedTuple):
    """What came of a wallet that shows it bought a page: `none`, `good`, `bad` or `busy`."""

    state: str
    licence: str | None = None
    error: str | None = None
    retry_after: float | None = None


class Proofs:
    """Wallets that show they bought a page (x402 `sign-in-with-x`): what is no message about the page costs no call, and of the others 16 at once
    and 50 a second are asked about; above that the answer is 503, since the caller may have paid."""

    def __init__(self, client: Client, now: Callable[[], float], failures: Failures) -> None:
        self._client, self._failures = client, failures
        self._rate = Rate(now, 16, 50)

    def judge(self, config: SiteConfig, page: Page, shown: str) -> Proof:
        """What the wallet that signed has of the page."""
        refusal = self._refuse(page, shown)
        if refusal is not None:
            return Proof("bad", error=f"unknown_credential: {refusal}")
        if not self._rate.begin():
            return Proof("busy", retry_after=1)
        try:
            slug = slug_of(config.enforcement["articlePrefixes"], page.address.path) or page.address.path
            body = {"signInWithX": shown, "resource": page.resource, "slug": slug, "kind": page.kind}
            answer = self._client.prove(body)
        finally:
            self._rate.end()
        if answer.ok:
            told = answer.body if isinstance(answer.body, dict) else {}
            if told.get("entitled") is True and is_licence(told.get("license")):
                return Proof("good", licence=told["license"])
            return Proof("bad", error=told.get("error") if is_header_text(told.get("error")) else None)
        if answer.status in (400, 404):
            return Proof("bad")
        if answer.is_away or answer.is_key_refused:
            message = f"{answer.words}; a wallet that may have bought the page is told to come back"
            self._failures.note("key" if answer.is_key_refused else "licence", message, answer)
        return Proof("busy", retry_after=5 if answer.retry_after is None else answer.retry_after)

    @staticmethod
    def _refuse(page: Page, shown: str) -> str | None:
        if len(shown) > 16_384:
            return "SIGN-IN-WITH-X is too long"
        sent = loads(unbase64(shown))
        if not isinstance(sent, dict) or not isinstance(sent.get("nonce"), str) or not isinstance(sent.get("signature"), str):
            return "SIGN-IN-WITH-X is not readable"
        return None if sent.get("domain") == urlsplit(page.resource).netloc else "the message is for another site"


_FIELDS = ("signature", "signature-input", "signature-agent")
_COVERED = re.compile(r'"([a-z0-9!#$%&\'*+.^_`|~-]{1,100})"')
# What a reader tells this site alone. A signature that covers one of these stays unverified.
_SECRET = frozenset(("cookie", "authorization", "proxy-authorization", "payment-signature", "x-payment"))
_MAX_FIELD_CHARS = 8_192


def is_signed(header: Headers) -> bool:
    """True for a request that says, signed, which agent sends it. Whether that is so is another matter."""
    return bool(header("signature-agent")) and '"web-bot-auth"' in (header("signature-input") or "")


class Agents:
    """Which agent signed a request (Web Bot Auth), by the service's word: 16 questions at once and 20 a second. Who is not verified is an agent like
    any other."""

    def __init__(self, client: Client, now: Callable[[], float], failures: Failures) -> None:
        self._client, self._failures = client, failures
        # A breaker of its own: a service that cannot say who signed still prices.
        self._breaker = Breaker(now)
        self._rate = Rate(now, 16, 20)

    def identify(self, method: str, url: str, header: Headers) -> Mapping[str, Any]:
        """What the signature says of who asks; nothing for a request that is not signed, or that nobody verified."""
        if not is_signed(header):
            return {}
        covered = _COVERED.findall((header("signature-input") or "")[:_MAX_FIELD_CHARS])[:32]
        named = {name: header(name) for name in (*_FIELDS, *covered) if name not in _SECRET}
        fields = {name: value for name, value in named.items() if value is not None}
        if any(len(value) > _MAX_FIELD_CHARS for value in fields.values()) or not self._breaker.may_call() or not self._rate.begin():
            return {}
        try:
            answer = self._client.verify_agent({"method": method, "url": url, "headers": fields})
        finally:
            self._rate.end()
        body = answer.body if answer.ok and isinstance(answer.body, dict) else {}
        observed = body.get("observed")
        is_good = isinstance(observed, dict) and (observed.get("verified") is True) == (body.get("outcome") == "verified")
        self._breaker.note(not is_good if answer.ok else answer.is_away or answer.status == 404)
        if is_good:
            return {name: observed[name] for name in ("verified", "verifiedAgent", "sigInvalid") if name in observed}
        failure = Answer("status", 502) if answer.ok else answer
        self._failures.note("agent", f"{failure.words}; an agent stays unverified", failure)
        return {}
