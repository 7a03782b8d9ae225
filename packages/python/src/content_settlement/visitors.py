"""Who reads: decided at the site, from the User-Agent and what the site's owner said of it. Which names there are comes with a release."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Mapping, NamedTuple

from .memory import Lru

_NAMES = json.loads(Path(__file__).with_name("robots.generated.json").read_text("utf-8"))
_CLASSES = {name: re.compile(pattern, re.ASCII) for name, pattern in _NAMES["classes"].items()}
_ROBOTS = re.compile(_NAMES["robots"], re.ASCII | re.IGNORECASE)
_BROWSERS = re.compile(_NAMES["browsers"], re.ASCII)
_CDNS = re.compile(_NAMES["cdns"])
_WITH_BROWSER = re.compile(r"\Amozilla/5\.0 .*chrome/")
_MAX_UA_CHARS = 512
_REMEMBERED = 5_000
# Who counts as a search engine until the site's settings arrive.
_SEARCH_ENGINES = ("googlebot", "bingbot", "duckduckbot", "applebot", "yandexbot", "baiduspider")


class Caller(NamedTuple):
    """A reader: `person`, `search`, `robot`, `allowed`, `blocked` or `agent`; and what it was told by (`classifyReason` of reports)."""

    who: str
    reason: str


class Classifier:
    """Tells readers apart by their User-Agent. `enforcement` None: the site's settings are unknown. Block wins over allow, allow over charge, and
    these over the classes. What no list takes for a robot is a person."""

    def __init__(self, enforcement: Mapping[str, Any] | None) -> None:
        self._enforcement = enforcement or {}
        self._remembered: Lru[Caller] = Lru(_REMEMBERED)

    def __call__(self, user_agent: str | None) -> Caller:
        ua = (user_agent or "")[:_MAX_UA_CHARS]
        known = self._remembered.get(ua)
        if known is None:
            known = self._classify(ua.lower())
            self._remembered.set(ua, known)
        return known

    def pretender(self) -> Caller:
        """What becomes of one who says to be a browser and is none."""
        return self._by_class("pretender", "pretender")

    def masquerade(self) -> Caller | None:
        """What becomes of one who says to be a robot and comes from none of its addresses; None where the owner believes names."""
        found = self._by_class("masquerade", "masquerade")
        return None if found.who == "robot" else found

    def _classify(self, ua: str) -> Caller:
        policy = self._enforcement.get("crawlerPolicy", {})
        for word, caller in (
            ("block", Caller("blocked", "policy_block")),
            ("allow", Caller("allowed", "policy_allow")),
            ("charge", Caller("agent", "policy_charge")),
        ):
            if any(part in ua for part in policy.get(word, ())):
                return caller
        if not ua.strip(" \t\r\n\f\v-"):
            return self._by_class("automation", "no_name")
        # Under a CDN's own name come people, search engines and agents alike: nobody is charged by mistake.
        if _CDNS.search(ua):
            return Caller("person", "cdn")
        if any(part in ua for part in self._enforcement.get("seoAllowlist", _SEARCH_ENGINES)):
            return self._by_class("search", "search_engine")
        # Editors have browsers inside, with the editor's name in front of the engine's: people read in them.
        text = _BROWSERS.sub("", ua) if _WITH_BROWSER.search(ua) else ua
        if _CLASSES["ai"].search(text):
            return self._by_class("ai", "crawler_list")
        if not _ROBOTS.search(text):
            return Caller("person", "person")
        for name, pattern in _CLASSES.items():
            if name != "ai" and pattern.search(text):
                return self._by_class(name, "search_engine" if name == "search" else name)
        return self._by_class("automation", "isbot")

    def _by_class(self, name: str, reason: str) -> Caller:
        fate = self._enforcement.get("visitorClasses", {}).get(name, _NAMES["defaults"][name])
        if fate == "block":
            return Caller("blocked", "policy_block")
        return Caller("agent" if fate == "charge" else "search" if name == "search" else "robot", reason)


_READ_FOR = {
    "train": "gptbot claudebot anthropic-ai google-extended bytespider ccbot meta-externalagent timpibot diffbot",
    "search": "oai-searchbot claude-searchbot perplexitybot googlebot bingbot applebot amazonbot youbot",
    "assistant": "chatgpt-user claude-user perplexity-user meta-externalfetcher mistralai-user duckassistbot cohere-ai",
    "agent": "chatgpt_agent google-agent googleagent-mariner novaact manus-user amazonbuyforme twinagent",
}
_CATEGORY_OF = {name.replace("_", " "): category for category, names in _READ_FOR.items() for name in names.split()}
_NAMED = re.compile(
    "(?<![a-z0-9-])(?:" + "|".join(sorted(map(re.escape, _CATEGORY_OF), key=len, reverse=True)) + ")(?![a-z0-9-])",
    re.IGNORECASE | re.ASCII,
)


def category_of(user_agent: str) -> str | None:
    """What the agent of a User-Agent says it reads for; None where that is not known."""
    found = _NAMED.search(user_agent[:_MAX_UA_CHARS])
    return _CATEGORY_OF.get(found.group().lower()) if found else None
