"""Where a request comes from: the address of who asks, through proxies that the site has named, or as far as it can be told without."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_right
from typing import Callable, Sequence, Union

Ip = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]

_WITH_PORT = re.compile(r"\[([^\]]*)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}", re.ASCII)
# More proxies than anybody has, one behind the other; and addresses that are looked at where no proxy was named.
_MOST_HOPS = 8
_MOST_GUESSES = 4
# Headers in which proxies name the one address that called them, and what only a proxy sends.
_ONE_ADDRESS = ("cf-connecting-ip", "true-client-ip", "x-real-ip")
_OF_PROXIES = ("via", "forwarded", "x-forwarded-for", *_ONE_ADDRESS)

Header = Callable[[str], "str | None"]
Whence = Callable[["str | None", Header], "list[Ip]"]


def ip_of(text: str | None) -> Ip | None:
    """The address in a text as sockets and proxies write it, a port behind it or not; IPv4 inside IPv6 as IPv4. None for no address."""
    found = _WITH_PORT.fullmatch(text or "")
    bare = (found.group(1) or found.group(2) or "") if found else text or ""
    try:
        ip = ipaddress.ip_address(bare.split("%", 1)[0])
    except ValueError:
        return None
    return (isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped) or ip


class Ranges:
    """A set of ranges in CIDR notation, or of addresses alone. Raises ValueError for a text that is none."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._spans: dict[int, tuple[list[int], list[int]]] = {}
        self.size = len(texts)
        networks = [_network(text) for text in texts]
        for version in (4, 6):
            spans = sorted((int(one[0]), int(one[-1])) for one in networks if one.version == version)
            starts, reach, furthest = [], [], -1
            for start, end in spans:
                furthest = max(furthest, end)
                starts.append(start)
                reach.append(furthest)
            self._spans[version] = (starts, reach)

    def __contains__(self, ip: Ip) -> bool:
        starts, reach = self._spans[ip.version]
        at = bisect_right(starts, int(ip))
        return at > 0 and int(ip) <= reach[at - 1]


def create_whence(trusted_proxies: Sequence[str] | None) -> Whence:
    """Reads where requests come from, by the address at the other end of the connection and the headers. `trusted_proxies` (CIDR): those alone are
    believed, from right to left in `X-Forwarded-For`, up to the first that is none of them; an empty list: nobody is in front. None: the site did
    not say who is in front of it, and every address that the connection or a proxy's header names may be the one. Raises ValueError."""
    if trusted_proxies is None:
        return _guess
    trusted = Ranges(trusted_proxies)
    return lambda peer, header: _through(trusted, peer, header)


def _through(trusted: Ranges, peer: str | None, header: Header) -> list[Ip]:
    if not peer and trusted.size == 0:
        return []
    for hop in [*([peer] if peer else []), *reversed(_hops(header))]:
        ip = ip_of(hop)
        if ip is None:
            return []
        if ip not in trusted:
            # Nobody on the internet has it: a proxy that the site forgot to name, which hides who asks.
            is_proxy = not ip.is_global and any(header(name) for name in _OF_PROXIES)
            return [] if is_proxy else [ip]
    return []


def _guess(peer: str | None, header: Header) -> list[Ip]:
    texts = [*reversed(_hops(header)), *(header(name) for name in _ONE_ADDRESS)]
    named = [ip for ip in map(ip_of, texts) if ip is not None and ip.is_global]
    # A proxy that does not say who asks: it alone is known.
    if not named and any(header(name) for name in _OF_PROXIES):
        return []
    near = ip_of(peer)
    return list(dict.fromkeys([*([near] if near is not None and near.is_global else []), *named]))[:_MOST_GUESSES]


def _hops(header: Header) -> list[str]:
    return [hop.strip() for hop in (header("x-forwarded-for") or "").split(",")[-_MOST_HOPS:]]


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    if re.fullmatch(r"[0-9a-f:.]+(?:/\d{1,3})?", text.strip(), re.ASCII | re.IGNORECASE) is None:
        raise ValueError(f"{text} is no range of addresses")
    return ipaddress.ip_network(text.strip(), strict=False)
