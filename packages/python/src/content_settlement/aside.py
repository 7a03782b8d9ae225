"""What is a page of all that a site answers. Only pages are sold: feeds, styles, health checks, webhooks, redirects and errors pass."""

from __future__ import annotations

import re
from typing import Sequence

_I = re.IGNORECASE
_FEEDS = "xml|rss|atom|rdf"
_DATA = "map|webmanifest"
_MEDIA = "ico|png|jpe?g|gif|webp|avif|svg|bmp|woff2?|[ot]tf|eot|mp[34]|m4[av]|web[mp]|og[gv]|wav|vtt|wasm"
_FILE = re.compile(rf"\.(?:css|m?js|{_FEEDS}|{_DATA}|{_MEDIA})\Z", _I)
_CHECKS = r"_?health(?:z|[-_]?checks?)?|live(?:z|ness)?|ready(?:z|ness)?|ping|heartbeat|metrics"
_INTERFACE = re.compile(r"/(?:api|graphql|wp-json)(?:/|\Z)", _I)
_NAME = re.compile(r"/(?:(?:app-)?ads\.txt|humans\.txt|security\.txt|manifest\.json|feed\.json)\Z", _I)
_CHECK = re.compile(rf"/(?:{_CHECKS})\Z", _I)
_ROOT_CHECK = re.compile(rf"/(?:{_CHECKS})\Z", _I)

_DOCUMENT = re.compile(r"(?:text/html|application/xhtml\+xml)\b", _I)
_PAGE = re.compile(r"(?:text/(?:html|plain|(?:x-)?markdown)|application/(?:xhtml\+xml|pdf|epub\+zip))\b|\Z", _I)
_NO_PAGE = re.compile(
    r"(?:(?:image|font)/|text/(?:css|(?:java|ecma)script|event-stream)\b|application/(?:(?:x-)?(?:java|ecma)script"
    r"|(?:rss|atom)\+xml|manifest\+json|wasm|font-[\w-]+|vnd\.ms-fontobject)\b)",
    _I | re.ASCII,
)
# Types that servers give files by their endings, besides those of which no page is made.
_OWN_TYPES = (
    (re.compile(rf"\.(?:{_FEEDS})\Z", _I), re.compile(r"(?:text|application)/(?:[\w.-]+\+)?xml\b", _I)),
    (re.compile(rf"\.(?:{_DATA})\Z", _I), re.compile(r"(?:application/(?:json|octet-stream)|text/plain)\b", _I)),
    (
        re.compile(rf"\.(?:{_MEDIA})\Z", _I),
        re.compile(r"(?:(?:audio|video)/|application/(?:ogg|octet-stream|(?:x-)?font)\b|text/vtt\b)", _I),
    ),
)
ACKNOWLEDGEMENT_BYTES = 256
_LIKE_PAGE = re.compile(r"[\x00-\x08]|\A\s*<(?:!doctype|html|head|body)\b", _I)


def is_aside(path: str, pages: Sequence[str] | None = None) -> bool:
    """True for a plain path that is no page by its name: nobody is asked what it costs before the site has answered. An answer that is a page
    after all is offered. `pages`: endings that the owner names as pages."""
    found = _INTERFACE.match(path) or _NAME.search(path) or _CHECK.search(path) or _FILE.search(path)
    return bool(found) and not any(path.lower().endswith(one) for one in pages or ())


def name_of(path: str) -> str:
    """How a path is asked for that is aside: `file`, or `name` for one that no article has."""
    return "name" if _INTERFACE.match(path) or _NAME.search(path) or _ROOT_CHECK.match(path) else "file"


def may_be_page(status: int, type_: str, asked: str, path: str) -> bool:
    """True for a head under which a page may come. `asked`: `page`, `file`, `name`, `method` (one that gets no page), or
    `form`: another form of an article, which is the article whatever its type."""
    if not 200 <= status <= 299 or status in (204, 205):
        return False
    if asked == "form":
        return True
    if asked == "name":
        return bool(_DOCUMENT.match(type_))
    if asked == "method":
        return bool(_PAGE.match(type_))
    is_file = asked == "file" and any(ending.search(path) and own.match(type_) for ending, own in _OWN_TYPES)
    return not is_file and not _NO_PAGE.match(type_)


def is_acknowledgement(body: bytes | None) -> bool:
    """True for a short answer that is no document, as the `ok` of a webhook. None: an answer that goes on."""
    if body is None or len(body) > ACKNOWLEDGEMENT_BYTES:
        return False
    try:
        return not _LIKE_PAGE.search(body.decode("utf-8"))
    except UnicodeDecodeError:
        return False
