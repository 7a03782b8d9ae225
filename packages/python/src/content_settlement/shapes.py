"""Texts that strangers and the service send: read without an error, and used only if every member is there that is used of them."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, Callable


def loads(text: str | bytes | None) -> Any:
    """The value of a JSON text; None for what is none, or nested deeper than anything that is meant."""
    try:
        return json.loads(text or b"")
    except (ValueError, RecursionError):
        return None


def unbase64(text: str) -> bytes:
    """The bytes of base64 or base64url, padded or not; none for what is neither."""
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except (ValueError, binascii.Error):
        return b""


def is_quote(body: Any) -> bool:
    """True for a quote that can be offered and sold by."""
    one = _members(body)
    offer = _members(one.get("x402"))
    header = offer.get("header")
    return (
        _is_whole(one.get("price"))
        and one["price"] >= 0
        and _is_number(one.get("expiresAt"))
        and all(isinstance(one.get(name), str) for name in ("quoteToken", "slug"))
        and isinstance(one.get("title", ""), str)
        and isinstance(one.get("legs"), list)
        and _is_list(one.get("payees"), lambda payee: isinstance(_members(payee).get("authorId"), str) and _is_number(_members(payee).get("share")))
        and isinstance(header, str)
        and re.fullmatch(r"[A-Za-z0-9+/]+=*", header) is not None
        and isinstance(loads(unbase64(header)), dict)
        and isinstance(offer.get("body"), dict)
    )


def is_config(body: Any) -> bool:
    """True for settings that a gate can decide by."""
    enforcement = _members(_members(body).get("enforcement"))
    policy, scope = _members(enforcement.get("crawlerPolicy")), _members(enforcement.get("gateScope"))
    lists = [enforcement.get("articlePrefixes"), enforcement.get("seoAllowlist"), *map(policy.get, ("allow", "charge", "block"))]
    lists.append(_members(_members(body).get("manifest")).get("resources", []))
    if scope.get("mode") == "site":
        lists += [scope.get("excludePrefixes"), scope.get("includeExtensions", [])]
    return (
        all(_is_list(one, lambda text: isinstance(text, str)) for one in lists)
        and isinstance(enforcement.get("licenseIdentity"), str)
        and isinstance(enforcement.get("visitorClasses", {}), dict)
        and scope.get("mode") in ("prefixes", "site")
    )


# Most addresses and ranges of all lists together.
_MOST_RANGES = 20_000


def addresses_of(body: Any) -> dict[str, Any] | None:
    """The addresses that operators of robots publish, as far as they can be used; None where they cannot."""
    found = _members(_members(body).get("addresses"))
    checked_at, ranges = found.get("checkedAt"), found.get("ranges", {})
    if not _is_whole(found.get("version")) or not isinstance(checked_at, dict) or not isinstance(ranges, dict):
        return None
    if not all(_is_number(one) for one in checked_at.values()):
        return None
    if not all(_is_list(one, lambda text: isinstance(text, str)) for one in ranges.values()):
        return None
    return found if sum(map(len, ranges.values())) <= _MOST_RANGES else None


def is_licence(text: Any) -> bool:
    """True for a text that can be a licence, and fits into a header."""
    return isinstance(text, str) and len(text) <= 4_096 and re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+", text, re.ASCII) is not None


def is_header_text(text: Any) -> bool:
    """True for a short sentence that may stand in a header."""
    return isinstance(text, str) and re.fullmatch(r"[\x20-\x7e]{1,200}", text) is not None


def _members(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and abs(value) < float("inf"))


def _is_list(value: Any, is_one: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(is_one(one) for one in value)
