"""Whether who calls himself Googlebot is Google: by the addresses that operators of robots publish, and by the names of addresses where they publish
none. The rules and the lists are those of the package for Node."""

from __future__ import annotations

import json
import re
import socket
import threading
from pathlib import Path
from typing import Any, Callable, Mapping, NamedTuple, Protocol, Sequence

from .memory import Lru, Rate
from .whence import Ip, Ranges, ip_of

_TABLE = json.loads(Path(__file__).with_name("addresses.generated.json").read_text("utf-8"))
_DAY = 86_400.0
# How long after a list was read it says whom it does not name: where name servers tell as well, and where they do not.
_FRESH_BESIDE_NAMES = 2 * _DAY
_FRESH_ALONE = 14 * _DAY
_REMEMBERED = 5_000
_MAX_UA_CHARS = 512


class _Claim(NamedTuple):
    names: re.Pattern[str]
    lists: tuple[str, ...]
    hosts: re.Pattern[str] | None


_CLAIMS = tuple(
    _Claim(
        re.compile(one["names"], re.ASCII),
        tuple(one["lists"]),
        # A pattern that ends in `$` also fits before the end of a line.
        None if one["hosts"] is None else re.compile(one["hosts"].replace("$", r"\Z"), re.ASCII),
    )
    for one in _TABLE["claims"]
)


class Names(Protocol):
    """Questions to name servers; each is empty where they say that there is nothing, and raises OSError where they do not answer."""

    def hosts(self, address: str) -> Sequence[str]: ...

    def addresses(self, host: str) -> Sequence[str]: ...


class _PlatformNames:
    _NOTHING = tuple(getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA") if hasattr(socket, name))

    def hosts(self, address: str) -> Sequence[str]:
        try:
            name, others, _ = socket.gethostbyaddr(address)
        except socket.herror as error:
            # 1: no such host, 4: a host without such a record; others: no answer.
            if error.errno in (1, 4):
                return ()
            raise
        return (name, *others)

    def addresses(self, host: str) -> Sequence[str]:
        try:
            return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
        except socket.gaierror as error:
            if error.errno in self._NOTHING:
                return ()
            raise


class Reverse:
    """Whose an address is by its name in the DNS: the host that it leads to has to lead back to it. Never waits: threads ask, four addresses at once
    and ten a second; of more, nothing is known until later. Remembers 5,000 answers."""

    _KEPT = {True: _DAY, False: 3_600.0, None: 60.0}
    _MOST_HOSTS = 5

    def __init__(self, now: Callable[[], float], names: Names | None = None) -> None:
        self._now = now
        self._names: Names = names or _PlatformNames()
        self._known: Lru[tuple[bool | None, float]] = Lru(_REMEMBERED)
        self._rate = Rate(now, 4, 10)
        self._asking: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()

    def belongs(self, ip: Ip, hosts: re.Pattern[str]) -> bool | None:
        """True or false once name servers have said so, None until then."""
        # Who has one address of IPv6 has its whole /64. A no is of the address alone: behind proxies that nobody named a stranger may have written one beside
        # the robot's.
        key = f"{ip}/ {hosts.pattern}"
        of_all = self._known.get(_network_of(ip, hosts))
        if of_all is not None and self._now() < of_all[1]:
            return of_all[0]
        kept = self._known.get(key) or of_all
        if kept is None or self._now() >= kept[1]:
            self._ask(key, ip, hosts)
        return None if kept is None else kept[0]

    def settled(self) -> None:
        """Waits for the questions under way."""
        for thread in list(self._asking.values()):
            thread.join()

    def _ask(self, key: str, ip: Ip, hosts: re.Pattern[str]) -> None:
        with self._lock:
            if key in self._asking or not self._rate.begin():
                return
            thread = threading.Thread(target=self._find, args=(key, ip, hosts), name="content-settlement-dns", daemon=True)
            self._asking[key] = thread
            thread.start()

    def _find(self, key: str, ip: Ip, hosts: re.Pattern[str]) -> None:
        found: bool | None = None
        try:
            found = self._is_confirmed(ip, hosts)
        except (OSError, UnicodeError):
            pass
        finally:
            self._known.set(key if found is False else _network_of(ip, hosts), (found, self._now() + self._KEPT[found]))
            self._rate.end()
            with self._lock:
                del self._asking[key]

    def _is_confirmed(self, ip: Ip, hosts: re.Pattern[str]) -> bool:
        named = [host.lower().rstrip(".") for host in self._names.hosts(str(ip))]
        likely = [host for host in named if re.fullmatch(r"[a-z0-9.-]{1,253}", host, re.ASCII) and hosts.search(host)]
        return any(ip_of(one) == ip for host in likely[: self._MOST_HOSTS] for one in self._names.addresses(host))


class _List(NamedTuple):
    ranges: Ranges
    checked_at: float


class Claims:
    """Judges names, by the lists of this release until the service has sent its own."""

    def __init__(self, now: Callable[[], float], reverse: Reverse | None = None) -> None:
        self._now = now
        self.reverse = reverse or Reverse(now)
        self._lists = {
            name: _List(Ranges(one["ranges"].split(",")), one["checkedAt"] / 1_000) for name, one in _TABLE["lists"].items()
        }
        self._learnt: dict[str, Ranges] = {}
        self._claims_of: Lru[tuple[_Claim, ...]] = Lru(_REMEMBERED)
        self.version = 0

    def worth(self, user_agent: str, whence: Callable[[], Sequence[Ip]]) -> bool | None:
        """True for a name that is who it says, False for one that is not; None where nobody can say, or there is no such name. Never waits."""
        claims = self._named(user_agent)
        if not claims:
            return None
        addresses = whence()
        found = [self._judge(claim, addresses) for claim in claims]
        # A robot may say that it is like another one; a false name among true ones is still who it says.
        return True if True in found else False if False in found else None

    def learn(self, addresses: Mapping[str, Any]) -> None:
        """Takes the service's lists over: its word wins over this release's. Raises ValueError for a range that is none."""
        read = {name: Ranges(texts) for name, texts in addresses.get("ranges", {}).items()}
        self._learnt = {**self._learnt, **read}
        self.version = addresses["version"]
        checked_at = addresses["checkedAt"]
        own = {name: _List(ranges, checked_at.get(name, 0) / 1_000) for name, ranges in self._learnt.items()}
        self._lists = {**self._lists, **own}

    def _named(self, user_agent: str) -> tuple[_Claim, ...]:
        ua = user_agent[:_MAX_UA_CHARS]
        kept = self._claims_of.get(ua)
        if kept is None:
            kept = tuple(claim for claim in _CLAIMS if claim.names.search(ua.lower()))
            self._claims_of.set(ua, kept)
        return kept

    def _judge(self, claim: _Claim, addresses: Sequence[Ip]) -> bool | None:
        found = [self._is_of(claim, ip) for ip in addresses]
        return True if True in found else None if not found or None in found else False

    def _is_of(self, claim: _Claim, ip: Ip) -> bool | None:
        own = [self._lists.get(name) for name in claim.lists]
        if any(one is not None and ip in one.ranges for one in own):
            return True
        # Whoever comes from an address that is newer than the list pays once: what name servers say of it wins as soon as it is known.
        by_name = None if claim.hosts is None else self.reverse.belongs(ip, claim.hosts)
        if by_name is True:
            return True
        fresh = _FRESH_ALONE if claim.hosts is None else _FRESH_BESIDE_NAMES
        is_complete = bool(own) and all(one is not None and abs(self._now() - one.checked_at) < fresh for one in own)
        return False if is_complete else by_name


def _network_of(ip: Ip, hosts: re.Pattern[str]) -> str:
    return f"{ip if ip.version == 4 else int(ip) >> 64} {hosts.pattern}"
