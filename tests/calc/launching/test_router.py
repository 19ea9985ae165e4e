"""The router before servers of one pool: HAProxy with mock servers behind it."""

import json
import re
import socket
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from calc.launching.scripts import router_files
from tests.support._launch import ALONE, needs, pool

RANKS, SESSIONS, TURNS = 4, 16, 3


class Echo(BaseHTTPRequestHandler):
    """Answers with its own port and the rank that it is asked for."""

    def do_GET(self):
        told = json.dumps([self.server.server_port, self.headers.get("X-Data-Parallel-Rank")])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(told.encode())

    def log_message(self, *_):
        pass


def free():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def behind(ports, engine, ranks):
    """The configuration of the router before servers on some ports, on free ports itself."""
    parts = tuple(replace(part, node=0, port=port)
                  for part, port in zip(ALONE.parts, ports, strict=True))
    served = replace(pool(engine, replace(ALONE, joined=ranks, parts=parts)),
                     hosts=("127.0.0.1",))
    text = router_files((served,))["router/haproxy.cfg"]
    own = {port: free() for port in set(re.findall(r"\b80[89]\d\b", text))}
    return re.sub(r"\b80[89]\d\b", lambda port: str(own[port[0]]), text), own["8080"]


@needs("haproxy")
@pytest.mark.parametrize(("engine", "ranks"), [
    ("vllm@0.33.0", RANKS), ("sglang@0.5.23", RANKS), ("vllm@0.8.5.post1", RANKS),
    ("vllm@0.33.0", 1)])
def test_a_session_returns_to_its_server_and_rank_and_sessions_are_dealt_evenly(
        tmp_path, engine, ranks):
    with ExitStack() as stack:
        servers = [stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Echo))
                   for _ in ALONE.parts]
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
        text, port = behind([server.server_port for server in servers], engine, ranks)
        (tmp_path / "haproxy.cfg").write_text(text, encoding="utf-8")
        router = subprocess.Popen(["haproxy", "-f", tmp_path / "haproxy.cfg"])
        stack.callback(router.wait)
        stack.callback(router.terminate)
        for _ in range(100):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)

        def answered(session):
            asked = urllib.request.Request(f"http://127.0.0.1:{port}/v1/models",
                                           headers={"X-Session-ID": f"session {session}"})
            with urllib.request.urlopen(asked, timeout=10) as found:
                return tuple(json.load(found))

        turns = [[answered(session) for session in range(SESSIONS)] for _ in range(TURNS)]
    assert turns[0] == turns[1] == turns[2]
    named = ranks if engine != "vllm@0.8.5.post1" else 1  # which reads no rank
    places = Counter(turns[0])
    assert set(places.values()) == {SESSIONS // (len(servers) * named)}
    assert {rank for _, rank in places} == ({*map(str, range(named))} if named > 1 else {None})
