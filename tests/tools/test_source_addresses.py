"""Which addresses are gone or moved: asked of a server of our own, and where there is none."""

from __future__ import annotations

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from catalogue.reading.shared import sources
from tools import source_addresses as addresses

MOVES = {"/old": (301, "/here"), "/away": (302, "/here"), "/both": (302, "/old"),
         "/lost": (301, "/missing"), "/slash": (301, "/slash/"), "/kept": (308, "/here")}
ANSWERS = {"/here": 200, "/slash/": 200, "/missing": 404, "/former": 410, "/private": 403,
           "/broken": 500, "/%E8%B7%AF": 200}


class Pages(BaseHTTPRequestHandler):
    """Pages that are there, gone, moved, or refuse to tell their head."""

    now, most, lock = 0, 0, threading.Lock()

    def do_GET(self):  # the name that the library asks for
        path = self.path
        if path == "/late":
            time.sleep(1)
        if path.startswith("/busy"):
            with Pages.lock:
                Pages.now += 1
                Pages.most = max(Pages.most, Pages.now)
            time.sleep(0.05)
            with Pages.lock:
                Pages.now -= 1
        if path == "/no-head" and self.command == "HEAD":
            self.send_response(405)
        elif path in MOVES:
            self.send_response(MOVES[path][0])
            self.send_header("Location", MOVES[path][1])
        else:
            self.send_response(ANSWERS.get(path, 200))
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def site(monkeypatch):
    """The address of a server that runs while a test does."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def closed(monkeypatch):
    """The address of a port on which nobody listens."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as held:  # bound and not listening: nobody else takes it meanwhile
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/here"


@pytest.mark.parametrize(("path", "state", "detail"), [
    ("/here", "here", ""), ("/here#part", "here", ""), ("/no-head", "here", ""),
    ("/路", "here", ""), ("/%E8%B7%AF", "here", ""),
    ("/missing", "gone", "404"), ("/former", "gone", "410"), ("/lost", "gone", "404"),
    ("/old", "moved", "/here"), ("/kept", "moved", "/here"),
    ("/slash", "here", ""),  # but for its end the same address
    ("/away", "here", ""), ("/both", "here", ""),  # what leads on for now has not moved
    ("/private", "unclear", "403"), ("/broken", "unclear", "500"),
])
def test_what_becomes_of_an_address(site, path, state, detail):
    found = addresses.ask(site + path, 5)
    assert found.state == state
    assert found.detail.removeprefix(site) == detail


def test_what_does_not_answer_in_time_is_unclear(site):
    assert addresses.ask(f"{site}/late", 0.2) == (f"{site}/late", "unclear", "no answer in time")


def test_one_host_that_cannot_be_reached_is_gone_all_of_them_are_no_network(site, closed):
    found = addresses.ask_all([f"{site}/here", closed], 5, 2)
    assert {each.address: each.state for each in found} == {f"{site}/here": "here", closed: "gone"}
    assert addresses.ask_all([closed], 5, 2) == []


def test_no_more_are_asked_at_once_than_allowed(site):
    Pages.most = 0
    found = addresses.ask_all([f"{site}/busy-{number}" for number in range(12)], 5, 3)
    assert len(found) == 12
    assert 1 <= Pages.most <= 3


def test_each_kind_asks_for_what_its_files_cite():
    every = addresses.cited()
    assert set(every) == {entry["url"] for entry in sources().values() if "url" in entry}
    prices = addresses.cited("prices")
    assert set(prices) < set(every)
    assert ["deepseek-pricing-cny"] in prices.values()
    assert not any("hf-qwen3-8b-config" in keys for keys in prices.values())


@pytest.mark.parametrize(("paths", "code", "said"), [
    (["/here", "/private"], 0, "2 addresses: 1 here, 0 gone, 0 moved, 1 unclear"),
    (["/here", "/missing"], 1, "gone: mine-1: {site}/missing (404)"),
    (["/here", "/old"], 1, "moved: mine-1: {site}/old ({site}/here)"),
])
def test_it_ends_with_1_if_anything_is_gone_or_moved(site, monkeypatch, capsys, paths, code, said):
    known = {f"mine-{number}": {"title": "Mine", "url": site + path}
             for number, path in enumerate(paths)}
    monkeypatch.setattr(addresses, "sources", lambda: known)
    assert addresses.main([]) == code
    assert said.format(site=site) in capsys.readouterr().out


def test_without_a_network_one_sentence_says_so(closed, monkeypatch, capsys):
    monkeypatch.setattr(addresses, "sources", lambda: {"mine": {"title": "M", "url": closed}})
    assert addresses.main([]) == 1
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert "there is no network" in err


@pytest.mark.parametrize("wrong", [["--seconds", "0"], ["--at-once", "0"], ["--kind", "nothing"]])
def test_what_cannot_be_asked_is_refused(wrong, capsys):
    with pytest.raises(SystemExit) as ended:
        addresses.main(wrong)
    assert ended.value.code == 2
    assert wrong[0] in capsys.readouterr().err
