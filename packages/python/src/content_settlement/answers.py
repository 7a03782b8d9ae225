"""Answers that the gate gives itself, and the headers it puts on pages that were paid."""

from __future__ import annotations

import base64
import html
import json
import math
import re
import secrets
from typing import Any, Iterable, Mapping, NamedTuple

from .shapes import loads, unbase64

# Most bytes that our headers of one answer have together: names, ': ' and line ends included, what the site adds not.
MOST_OUR_HEADER_BYTES = 2_560
_MOST_EXTENDED_BYTES = 1_380
_MOST_TEXT_BYTES = 120
_MOST_LINK_CHARS = 2_048
_MOST_NEXT_CHARS = 1_024
_OWN_DIGITS = 20
_NONCE = re.compile(r"[0-9a-f]{32,76}")
_FOR_CACHES = re.compile(r"surrogate-control|(.+-)?cdn-cache-control|expires|etag|last-modified|age", re.IGNORECASE)
_HOP_BY_HOP = re.compile(
    r"transfer-encoding|connection|keep-alive|trailer|upgrade|te|proxy-(connection|authenticate|authorization)", re.IGNORECASE
)

# For agents that run in web pages of other origins. No cookie opens a page, so that such a page may read every header of ours.
_PRIVATE = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "*",
    "cache-control": "private, no-store",
    "vary": "PAYMENT-SIGNATURE, X-PAYMENT, SIGN-IN-WITH-X, Authorization, User-Agent",
    "accept-ranges": "none",
}

LICENSE_ERRORS = {
    "invalid_request": "no license was sent",
    "invalid_token": "the license is not for this site, has expired, or was revoked",
    "insufficient_scope": "the license is not for this page, or not for this use of it",
}


class Answer(NamedTuple):
    """An answer, ready to be sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


def dollars(micro: int | str) -> str:
    """Micro-USDC as the text of the crawler price headers, exact: 3,000 is `USD 0.003`, 10,000 `USD 0.01`."""
    digits = str(micro).zfill(7)
    fraction = re.sub(r"0{1,4}$", "", digits[-6:])
    return f"USD {digits[:-6]}.{fraction}"


def micro_of(text: str) -> int | None:
    """What a crawler price header says, in micro-USDC; None for other currencies, more than six decimals, and what is no amount."""
    found = re.fullmatch(r"(?:USD\s+)?(\d{1,9})(?:\.(\d{1,6}))?", text.strip(), re.IGNORECASE | re.ASCII)
    return None if found is None else int(found[1]) * 1_000_000 + int((found[2] or "").ljust(6, "0"))


def crawler_error_of(price: int, most: str | None, exact: str | None) -> str | None:
    """What a 402 says of the price that its reader named; None: he named none, or one that fits."""
    if bool(most) == bool(exact):
        return None
    micro = micro_of(most or exact or "")
    if micro is None:
        return None
    if most:
        return "InvalidCrawlerMaxPrice" if micro < price else None
    return None if micro == price else "InvalidCrawlerExactPrice"


def paid_headers(told: Mapping[str, str] | None = None, licence: str | None = None, charged_micro: Any = None) -> dict[str, str]:
    """Headers of a page that was paid for, now or by a licence."""
    headers = {**_PRIVATE, **_forwarded(told)}
    if licence is not None:
        headers["x-licence"] = licence
    if re.fullmatch(r"\d{1,15}", str(charged_micro)):
        headers["crawler-charged"] = dollars(charged_micro)
    return headers


def merged(page: Iterable[tuple[str, str]], ours: Mapping[str, str]) -> list[tuple[str, str]]:
    """The page's own headers with ours: without those for caches and of one connection, `vary` added to, a site's own words about other origins
    kept."""
    pairs = list(page)
    named = re.split(r"[\s,]+", next((value for name, value in pairs if name.lower() == "connection"), "").lower())
    kept = [
        (name, value)
        for name, value in pairs
        if not (_FOR_CACHES.fullmatch(name) or _HOP_BY_HOP.fullmatch(name) or name.lower() in named)
    ]
    own = {name.lower() for name, _ in kept}
    changes = dict(ours)
    for name in list(changes):
        if name == "vary" and name in own:
            present = ", ".join(value for one, value in kept if one.lower() == "vary")
            changes[name] = f"{present}, {changes[name]}"
        elif name.startswith("access-control-") and name in own:
            del changes[name]
    return [(name, value) for name, value in kept if name.lower() not in changes] + list(changes.items())


def offer_answer(
    quote: Mapping[str, Any],
    *,
    accept: str,
    is_head: bool,
    error: str | None = None,
    next_: Mapping[str, Any] | None = None,
    license_error: str = "invalid_request",
    crawler_error: str | None = None,
    told: Mapping[str, str] | None = None,
) -> Answer:
    """402 with an offer for both generations of clients: version 2 reads the header, version 1 the body, people a page about it. `told`: headers of
    the answer of verify, if there was one."""
    is_page = re.search(r"\btext/html\b", accept, re.IGNORECASE) is not None
    challenge = f'License error="{license_error}", error_description="{LICENSE_ERRORS[license_error]}"'
    headers = {
        **_PRIVATE,
        "vary": f"{_PRIVATE['vary']}, Accept",
        **_forwarded(told),
        "crawler-price": dollars(quote["price"]),
        **({"crawler-error": crawler_error} if crawler_error else {}),
        "www-authenticate": challenge,
        "content-type": f"{'text/html' if is_page else 'application/json'}; charset=utf-8",
    }
    room = MOST_OUR_HEADER_BYTES - _line_bytes(headers)
    offer = json.loads(base64.b64decode(quote["x402"]["header"]))
    body = quote["x402"]["body"]
    if error is not None:
        most = (room - _line_bytes({"payment-required": ""})) // 4 * 3 - _OWN_DIGITS
        offer = fit_offer({**offer, "error": clip_text(error)}, most)
        body = {**body, "error": error, "next": next_ or {"action": "sign_again"}}
    headers["payment-required"] = base64.b64encode(_json(_with_own_nonce(offer))).decode()
    # Who pays already needs no documents.
    if told is None:
        link = _links_within(_told_link(quote), MOST_OUR_HEADER_BYTES - _line_bytes(headers))
        if link:
            headers["link"] = link
    if is_head:
        return Answer(402, headers)
    return Answer(402, headers, _page_of(quote, error) if is_page else _json(_with_own_nonce(body)))


def wait_answer(retry_after: float | None = None, told: Mapping[str, str] | None = None) -> Answer:
    """503 without an offer: a client that gets one would sign and pay again."""
    seconds = min(max(math.ceil(5 if retry_after is None else retry_after), 1), 3_600)
    headers = {**_forwarded(told), "retry-after": str(seconds)}
    sentence = "please try again shortly, with the same payment"
    return _refused(503, "overloaded", sentence, {"action": "wait", "seconds": seconds}, headers)


def refusal_answer(status: int) -> Answer:
    """403 for whom the owner refuses, 400 for an address that can have no price and for a payment with a body."""
    if status == 400:
        sentence = "agents cannot read this address, or not with a body in the request"
        return _refused(400, "invalid_resource", sentence, {"action": "fix_request"}, {})
    sentence = "this site does not serve this agent"
    return _refused(403, "agent_refused", sentence, {"action": "ask_owner"}, {"crawler-error": "CrawlerForbidden"})


def preflight_answer() -> Answer:
    """What a browser is told that asks whether a page of another origin may send a payment."""
    # The asterisk covers every name but Authorization (Fetch standard).
    return Answer(
        204,
        {
            "access-control-allow-origin": "*",
            "access-control-allow-methods": "GET, HEAD",
            "access-control-allow-headers": "*, Authorization",
            "access-control-max-age": "600",
        },
    )


def next_of(refusal: Any) -> Mapping[str, Any] | None:
    """What the service says to do about a refusal; None where it says nothing that may be handed on."""
    found = refusal.get("next") if isinstance(refusal, dict) else None
    action = found.get("action") if isinstance(found, dict) else None
    is_usable = isinstance(action, str) and re.fullmatch(r"[a-z_]{1,32}", action)
    return found if is_usable and len(_json(found)) <= _MOST_NEXT_CHARS else None


def fit_offer(offer: Mapping[str, Any], most_bytes: int) -> dict[str, Any]:
    """The offer with as much in it as `most_bytes` of JSON hold. The resource and the first entry of `accepts` stay; where even these are too long,
    the description goes first and then entries of `accepts`, the last first; of the extensions those stay, in their order, that still fit."""
    extensions = offer.get("extensions") or {}
    fitted: dict[str, Any] = {**{name: one for name, one in offer.items() if name != "extensions"}, "extensions": {}}
    if _bytes_of(fitted) > most_bytes:
        fitted["resource"] = {name: one for name, one in fitted["resource"].items() if name != "description"}
    while _bytes_of(fitted) > most_bytes and len(fitted["accepts"]) > 1:
        fitted["accepts"] = fitted["accepts"][:-1]
    left = min(most_bytes, _MOST_EXTENDED_BYTES) - _bytes_of(fitted)
    kept = {}
    for name, extension in extensions.items():
        size = _bytes_of(name) + _bytes_of(extension) + 2  # its name, a colon and a comma
        if size <= left:
            kept[name] = extension
            left -= size
    return {**fitted, "extensions": kept}


def clip_text(text: str) -> str:
    """The beginning of a text that has at most 120 bytes as JSON, whole characters alone."""
    if _bytes_of(text) - 2 <= _MOST_TEXT_BYTES:
        return text
    clipped, left = "", _MOST_TEXT_BYTES - 3
    for character in text:
        left -= _bytes_of(character) - 2
        if left < 0:
            break
        clipped += character
    return clipped + "..."


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def _bytes_of(value: Any) -> int:
    return len(_json(value))


def _line_bytes(headers: Mapping[str, str]) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers.items())


def _with_own_nonce(offer: Any) -> Any:
    """The offer with a nonce of this answer's own in what a wallet may sign (`sign-in-with-x`): the service takes its nonce with digits of
    anybody's behind it, once."""
    try:
        signing = offer["extensions"]["sign-in-with-x"]
        nonce = signing["info"]["nonce"]
    except (KeyError, TypeError):
        return offer
    if not isinstance(nonce, str) or not _NONCE.fullmatch(nonce):
        return offer
    own = {**signing, "info": {**signing["info"], "nonce": nonce + secrets.token_hex(_OWN_DIGITS // 2)}}
    return {**offer, "extensions": {**offer["extensions"], "sign-in-with-x": own}}


def _forwarded(told: Mapping[str, str] | None) -> dict[str, str]:
    """The settlement response under the one name that the payer's generation of clients reads: twice it may be too long for a proxy."""
    value = (told or {}).get("payment-response") or (told or {}).get("x-payment-response")
    if not value:
        return {}
    settled = loads(unbase64(value))
    network = settled.get("network") if isinstance(settled, dict) else None
    is_version_1 = isinstance(network, str) and network != "" and ":" not in network
    return {"x-payment-response" if is_version_1 else "payment-response": value}


def _told_link(quote: Mapping[str, Any]) -> str:
    """The one header of a 402 that the service says: where documents about the site stand."""
    headers = quote["x402"].get("headers")
    value = headers.get("link") if isinstance(headers, dict) else None
    is_good = isinstance(value, str) and len(value) <= _MOST_LINK_CHARS and re.fullmatch(r"[\x20-\x7e]+", value)
    return value if is_good else ""


def _links_within(link: str, size: int) -> str:
    kept = ""
    for one in re.split(r", (?=<)", link):
        longer = f"{kept}, {one}" if kept else one
        if one and _line_bytes({"link": longer}) <= size:
            kept = longer
    return kept


def _refused(status: int, code: str, sentence: str, next_: Mapping[str, Any], headers: Mapping[str, str]) -> Answer:
    own = {"content-type": "application/json; charset=utf-8", "x-svc-error-code": code}
    return Answer(status, {**_PRIVATE, **headers, **own}, _json({"error": f"{code}: {sentence}", "next": next_}))


_STYLE = (
    ":root{color-scheme:light dark}body{max-width:38rem;margin:12vh auto;padding:0 1.5rem;font:1.0625rem/1.6 system-ui,sans-serif}"
    "h1{font-size:1.75rem;line-height:1.25}strong{font-size:1.25rem}small{opacity:.75}.why{border-left:.25rem solid #c33;padding-left:.75rem}"
)


def _page_of(quote: Mapping[str, Any], error: str | None) -> bytes:
    """A small page for somebody in a browser who is taken for an agent."""
    name = html.escape(quote.get("title") or quote["slug"])
    authors = "".join(
        f"<li>{html.escape(one['authorId'])} ({round(one['share'] * 1_000) / 10:g} %)</li>" for one in quote["payees"]
    )
    reason = "" if error is None else f'<p class="why">{html.escape(error)}</p>'
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>{name}</title><style>{_STYLE}</style>
<h1>{name}</h1>{reason}<p>Agents read this page for <strong>{html.escape(dollars(quote["price"]))}</strong>, paid to its authors:</p><ul>{authors}</ul>
<p><small>Pay with any x402 client: the offer is in the header <code>PAYMENT-REQUIRED</code> of this answer, and in its body for
<code>Accept: application/json</code>. If you are a person and see this, your browser says that it is an automated agent.</small></p></html>""".encode()


