"""Ask the addresses of what is cited whether they still answer.

    python -m tools.source_addresses [--kind KIND] [--seconds SECONDS] [--at-once NUMBER]

Each address is asked for its head, and for its page where the head is refused. What is *gone* (404,
410, a host that does not exist) or has *moved* for good (301, 308) is printed with the sources that
cite it; what answers otherwise, or not in time, is *unclear*: a page for people may refuse a
program. Ends with 0 if nothing is gone or moved, else with 1, also where there is no network.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urldefrag, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from catalogue import ParamsError
from catalogue.ageing import DATED
from catalogue.naming import names
from catalogue.reading import yamlfile
from catalogue.reading.record import ROOT
from catalogue.reading.shared import sources

GONE = (404, 410)
FOR_GOOD = (301, 308)
FIRST = 8  # hosts; if none of them can be reached, there is no network
HEADERS = {"User-Agent": "Mozilla/5.0 (check of cited addresses)", "Accept": "*/*"}
SAFE = "%/:?#[]@!$&'()*+,;=~"  # signs of an address that stay as they are


class Found(NamedTuple):
    """What became of an address: ``here``, ``gone``, ``moved``, ``unclear`` or ``unreached``."""

    address: str
    state: str
    detail: str = ""


class _Followed(HTTPRedirectHandler):
    """Follows redirections and keeps where the lasting ones lead, up to the first passing one."""

    def __init__(self) -> None:
        self.moved: str | None = None
        self._passing = False

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any,
                         newurl: str) -> Request | None:
        self._passing |= code not in FOR_GOOD
        if not self._passing:
            self.moved = newurl
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None:
            following.method = req.get_method()
        return following


def cited(kind: str | None = None) -> dict[str, list[str]]:
    """Address -> keys of the sources that have it, of all or of those that a kind's files cite."""
    wanted = set(sources()) if kind is None else {
        key for name in names(kind)
        for key in _named(yamlfile.read(ROOT / kind / f"{name}.yml").data)}
    found: dict[str, list[str]] = {}
    for key, entry in sources().items():
        if key in wanted and "url" in entry:
            found.setdefault(entry["url"], []).append(key)
    return found


def _named(data: Any) -> Iterator[str]:
    """Every source that a file names."""
    if isinstance(data, dict) and isinstance(data.get("source"), str):
        yield data["source"]
    parts = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    for part in parts:
        yield from _named(part)


def ask(address: str, seconds: float) -> Found:
    """What becomes of one address within so many seconds for each of two requests."""
    found = _asked(address, "HEAD", seconds)
    return found if found.state in ("here", "moved") else _asked(address, "GET", seconds)


def _asked(address: str, method: str, seconds: float) -> Found:
    followed = _Followed()
    plain = quote(urldefrag(address).url, safe=SAFE)
    try:
        with build_opener(followed).open(Request(plain, method=method, headers=HEADERS),
                                         timeout=seconds):
            pass
    except HTTPError as error:
        error.close()
        return Found(address, "gone" if error.code in GONE else "unclear", str(error.code))
    except (URLError, OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        late = isinstance(reason, TimeoutError)
        return Found(address, "unclear" if late else "unreached",
                     "no answer in time" if late else str(reason) or type(reason).__name__)
    if followed.moved and followed.moved.rstrip("/") != plain.rstrip("/"):
        return Found(address, "moved", followed.moved)
    return Found(address, "here")


def ask_all(addresses: Iterable[str], seconds: float, at_once: int) -> list[Found]:
    """What becomes of each address, so many asked at once; empty where there is no network.

    Addresses of the first few hosts are asked before the rest: if none of them can be reached, nor
    can any.
    """
    rest = list(addresses)
    hosts: dict[str, str] = {}
    for address in rest:
        hosts.setdefault(urlsplit(address).netloc, address)
    first = list(hosts.values())[:FIRST]
    with ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(partial(ask, seconds=seconds), first))
        if all(each.state == "unreached" for each in found):
            return []
        found += pool.map(partial(ask, seconds=seconds),
                          [address for address in rest if address not in first])
    return [each._replace(state="gone") if each.state == "unreached" else each for each in found]


def main(arguments: list[str] | None = None) -> int:
    """Print what is gone, moved or unclear; 1 if anything is gone or moved, or nothing answers."""
    parser = argparse.ArgumentParser(prog="python -m tools.source_addresses",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kind", choices=DATED, help="only what files of this kind cite")
    parser.add_argument("--seconds", type=float, default=20, help="to wait for an answer")
    parser.add_argument("--at-once", type=int, default=8, help="addresses asked at once")
    given = parser.parse_args(arguments)
    if given.seconds <= 0 or given.at_once < 1:
        parser.error("--seconds and --at-once: expected a number above 0")
    try:
        keys = cited(given.kind)
    except ParamsError as error:
        parser.error(str(error))
    if not keys:
        print("no address is cited")
        return 0
    found = ask_all(keys, given.seconds, given.at_once)
    if not found:
        print("none of the first addresses can be reached: there is no network, "
              "and nothing was checked", file=sys.stderr)
        return 1
    for state in ("gone", "moved", "unclear"):
        for each in found:
            if each.state == state:
                print(f"{state}: {', '.join(keys[each.address])}: {each.address} ({each.detail})")
    counts = {state: sum(each.state == state for each in found)
              for state in ("here", "gone", "moved", "unclear")}
    print(f"{len(found)} addresses: "
          + ", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if counts["gone"] or counts["moved"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
