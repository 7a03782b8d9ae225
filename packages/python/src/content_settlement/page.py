"""Which page a request is about, in the one form that the service compares pages in. When in doubt, the service is asked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence
from urllib.parse import quote, unquote_to_bytes, urlsplit

# Read free by everybody everywhere: what crawlers read before they know what anything costs, and proofs of the host.
_ALWAYS_OPEN = re.compile(r"/(robots\.txt|sitemap\.xml|security\.txt|crawlers\.json|\.well-known(/.*)?)", re.DOTALL)
_EXTENSION = re.compile(r"\.[a-z0-9]{1,15}\Z", re.IGNORECASE | re.ASCII)
_DOTS = re.compile(r"[/\\]\.{1,2}(?:[/\\]|\Z)")
# And what else may end a line, since a pattern that ends in `$` also fits before one.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
MAX_RESOURCE_CHARS = 2_048


@dataclass(frozen=True)
class Address:
    """Where a page stands: its path in plain form, the paths that a server might mean by this one, itself included, and whether it ends as another
    form of an article does."""

    path: str
    origin: str
    resource: str
    spellings: tuple[str, ...]
    may_be_form: bool = False
    # True where the spellings are those of two addresses: none that is free speaks for the other.
    is_double: bool = False


def path_of(raw: bytes) -> str | None:
    """The plain form of a path that was decoded once: repeated slashes as one, closing ones as none. None for one with dot segments or a control
    character: whether it is a page, and which, every server decides by itself. A path that is no text stays encoded."""
    if _CONTROL.search(raw.decode("utf-8", "replace")):
        return None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = quote(raw)
    if not text.startswith("/") or _DOTS.search(text):
        return None
    return re.sub(r"/{2,}", "/", text).removesuffix("/") or "/"


def lower(text: str) -> str:
    """In lower case, each letter as long as it was."""
    if text.isascii():
        return text.lower()
    return "".join(c.lower() if unicodedata.category(c) == "Lu" and len(c.lower()) == 1 else c for c in text)


def slug_of(prefixes: Sequence[str], path: str) -> str | None:
    """What follows the longest article prefix that fits a plain path; None when none fits or nothing follows."""
    fitting = [one for one in prefixes if path.startswith(one) and len(path) > len(one)]
    return path[len(max(fitting, key=len)) :] if fitting else None


def is_in_scope(enforcement: Mapping[str, Any], path: str) -> bool:
    """True when the service has to be asked about a plain path. Case is ignored: many servers send a page for any."""
    if _ALWAYS_OPEN.fullmatch(path):
        return False
    scope = enforcement["gateScope"]
    is_article = slug_of([lower(one) for one in enforcement["articlePrefixes"]], lower(path)) is not None
    if scope["mode"] == "prefixes":
        return is_article
    if any(_is_under(prefix, path) for prefix in scope["excludePrefixes"]):
        return False
    found = _EXTENSION.search(path[path.rfind("/") :])
    endings = scope.get("includeExtensions")
    return is_article or endings is None or found is None or found.group().lower() in endings


def _is_under(prefix: str, path: str) -> bool:
    folder = path_of(unquote_to_bytes(prefix)) or prefix
    return folder == "/" or path == folder or path.startswith(folder + "/")


def spellings_of(prefixes: Sequence[str], path: str) -> tuple[str, ...]:
    """Plain paths that a server might mean by one, itself first: with the prefix, and with all of it, as servers that ignore case read it."""
    small = lower(path)
    slug = slug_of([lower(one) for one in prefixes], small)
    if slug is None:
        return (path,)
    start = small[: len(small) - len(slug)]
    prefix = next((one for one in prefixes if lower(one) == start), "/")
    return tuple(dict.fromkeys([path, prefix + path[len(path) - len(slug) :], prefix + slug]))


def resource_of(origin: str, path: str) -> str:
    """The address of a plain path on an origin, each segment encoded as `encodeURIComponent` does."""
    return origin + "/".join(quote(part, safe="!*'()") for part in path.split("/"))


def host_of(named: str) -> str | None:
    """The name in a Host header, in lower case and without its port; None for what is no host."""
    try:
        parts = urlsplit(f"https://{named}")
        is_host = parts.netloc == named and "@" not in named and (parts.port is None or parts.port > 0)
        return parts.hostname if is_host else None
    except ValueError:
        return None


def address_of(config: Any, origin: str | None, named: str, path: str | None) -> tuple[bool, Address | None]:
    """Whether the service has to be asked, and the address; None for what no page can have, or none with a price. `config` None: the settings
    are unknown."""
    if path is None:
        return config is not None, None
    is_scoped = config is not None and is_in_scope(config.enforcement, path)
    if origin is None:
        host = host_of(named)
        if config is not None and host not in config.hosts:
            host = config.hosts[0] if config.hosts else None
        origin = None if host is None else f"https://{host}"
    if origin is None:
        return is_scoped, None
    resource = resource_of(origin, path)
    if len(resource) > MAX_RESOURCE_CHARS:
        return is_scoped, None
    if config is None:
        return is_scoped, Address(path, origin, resource, (path,))
    may_be_form = any(path.lower().endswith(form) for form in config.forms)
    return is_scoped, Address(path, origin, resource, spellings_of(config.enforcement["articlePrefixes"], path), may_be_form)


def either(first: tuple[bool, Address | None], second: tuple[bool, Address | None]) -> tuple[bool, Address | None]:
    """One address for two that a request may be about, so that whichever is sold is paid for."""
    if not (first[0] and second[0]):
        return second if second[0] else first
    one, other = first[1], second[1]
    if one is None or other is None:
        return True, None
    spellings = tuple(dict.fromkeys([*one.spellings, *other.spellings]))
    return True, replace(one, spellings=spellings, may_be_form=one.may_be_form or other.may_be_form, is_double=True)


def may_cover(scope: Any, resource: str) -> bool:
    """False when a licence's scope lists patterns (RFC 9309) and none covers the resource. It only spares the service a question."""
    patterns = scope.get("patterns") if isinstance(scope, dict) else None
    if not isinstance(patterns, list):
        return True
    path = _plain(urlsplit(resource).path)
    return any(isinstance(one, str) and _covers(one, path) for one in patterns)


def _plain(path: str) -> str:
    return re.sub(r"/{2,}", "/", unquote_to_bytes(path).decode("utf-8", "replace"))


def _covers(pattern: str, path: str) -> bool:
    is_anchored = pattern.endswith("$")
    first, *rest = [_plain(part) for part in (pattern[:-1] if is_anchored else pattern).split("*")]
    if not path.startswith(first):
        return False
    if is_anchored and not rest:
        return path == first
    last = rest.pop() if is_anchored else ""
    start = len(first)
    for part in rest:
        found = path.find(part, start)
        if found < 0:
            return False
        start = found + len(part)
    return path.endswith(last) and len(path) - len(last) >= start
