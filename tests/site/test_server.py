"""The site behind Debian's nginx, with the configuration that the book ships."""

import contextlib
import gzip
import http.client
import shutil
import socket
import subprocess
import time

import pytest

from tools.site import ROOT

PAGES = ("index.html", "zh/index.html", "chapters/memory.html", "chapters/calculators.html")
pytestmark = pytest.mark.skipif(shutil.which("nginx") is None, reason="no nginx")


@pytest.fixture(scope="module")
def port(site, tmp_path_factory):
    """The port of a server of the site; its configuration differs in place and port."""
    folder = tmp_path_factory.mktemp("nginx")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    text = (ROOT / "book/nginx.conf").read_text(encoding="utf-8")
    (folder / "site.conf").write_text(text.replace("/srv/will-it-fit;", f"{site};").replace(
        "listen 8080;", f"listen 127.0.0.1:{number};"))
    places = " ".join(f"{name}_temp_path {folder}/{name};"
                      for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; user root;\n"
        f"events {{}}\nhttp {{ access_log off; {places} include {folder}/site.conf; }}\n")
    server = subprocess.Popen(["nginx", "-c", folder / "nginx.conf", "-e", folder / "error.log"])
    for _ in range(100):
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", number)):
                break
        time.sleep(0.05)
    yield number
    server.terminate()
    server.wait()


def get(port, path, method="GET", **headers):
    """Status, headers and body of a response."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as line:
        line.request(method, f"/{path}",
                     headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = line.getresponse()
        return response.status, response.headers, response.read()


def test_pages_are_compressed_and_revalidated(port, site):
    status, headers, body = get(port, "index.html", Accept_Encoding="gzip")
    assert (status, headers["content-encoding"]) == (200, "gzip")
    assert gzip.decompress(body) == (site / "index.html").read_bytes()
    assert headers["cache-control"] == "no-cache"
    assert get(port, "index.html", If_None_Match=headers["etag"])[0] == 304


def test_every_response_has_the_policy(port):
    for path in ("index.html", "_static/book.css", "no-such-page"):
        headers = get(port, path)[1]
        assert {"script-src 'self'", "default-src 'none'"} <= set(
            headers["content-security-policy"].split("; ")), path
        assert headers["x-content-type-options"] == "nosniff"
    assert (get(port, "no-such-page")[0], get(port, "_static/")[0]) == (404, 403)
    assert get(port, "index.html", method="POST")[0] == 403


def test_pages_work_under_the_policy(port, browser):
    """A script or style that the policy blocks is an error on the console."""
    for name in PAGES:
        browser.open(f"http://127.0.0.1:{port}/{name}")
        assert browser.errors == [], name
        assert browser.evaluate("document.documentElement.dataset.theme"), name
