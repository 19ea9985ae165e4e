"""Drive the system's Chromium over its debugging pipe: no driver program, no Python package.

Chromium reads commands from file descriptor 3 and writes replies and events to 4, as JSON with a
zero byte after each message (the Chrome DevTools Protocol).
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL = "apt-get install chromium"
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars",
)
LAUNCH = 'exec "${@:3}" 3<&"$1" 4>&"$2"'


def find_chromium() -> str | None:
    """Return the path of the system's Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A headless Chromium with one tab; use it in a ``with`` statement.

    `requests` holds every address the tab asked for and `errors` every console error, failed
    request and uncaught exception, since the last `open`.
    """

    def __init__(self, chromium: str, timeout: float = 90.0) -> None:
        """Start the browser; `timeout` [s] bounds every wait."""
        self.timeout = timeout
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._loaded = False
        self._next_id = 0
        self._buffer = b""
        self._session: str | None = None
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        self._process = subprocess.Popen(
            ["bash", "-c", LAUNCH, "launch", str(to_child), str(from_child), chromium, *FLAGS,
             f"--user-data-dir={self._profile}"],
            pass_fds=(to_child, from_child), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        try:
            self._attach()
        except (OSError, RuntimeError):
            self.close()
            raise

    def _attach(self) -> None:
        """Open a tab and ask for its events."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        """Return the browser."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End the browser."""
        self.close()

    def close(self) -> None:
        """End the browser and delete its profile."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; raise RuntimeError if the browser refuses."""
        self._next_id += 1
        message = {"id": self._next_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.timeout
        while True:
            reply = self._receive(deadline)
            if reply.get("id") == self._next_id:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']['message']}")
                return reply["result"]

    def _receive(self, deadline: float) -> dict[str, Any]:
        """Return the next message, noting events; raise TimeoutError after the deadline."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser did not answer in time")
            data = os.read(self._read, 1 << 16)
            if not data:
                raise RuntimeError("the browser ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        if "method" in message:
            self._note(message["method"], message["params"])
        return message

    def _note(self, event: str, data: dict[str, Any]) -> None:
        """Keep requests and errors."""
        if event == "Page.loadEventFired":
            self._loaded = True
        elif event == "Network.requestWillBeSent":
            self.requests.append(data["request"]["url"])
        elif event == "Network.loadingFailed" and not data.get("canceled"):
            self.errors.append(f"failed request: {data['errorText']}")
        elif event == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Runtime.consoleAPICalled" and data["type"] in {"error", "assert"}:
            self.errors.append(" ".join(str(a.get("value", "")) for a in data["args"]))
        elif event == "Log.entryAdded" and data["entry"]["level"] == "error":
            self.errors.append(f"{data['entry']['text']} {data['entry'].get('url', '')}")

    def open(self, url: str) -> None:
        """Go to `url` and wait until it is loaded with its fonts."""
        self.requests.clear()
        self.errors.clear()
        self._loaded = False
        self.call("Page.navigate", url=url)
        self.loaded()

    def loaded(self) -> None:
        """Wait for the load event of a page that was asked for, then for its fonts."""
        deadline = time.monotonic() + self.timeout
        while not self._loaded:
            self._receive(deadline)
        self.evaluate("document.fonts.ready.then(() => true)")

    def click(self, selector: str) -> None:
        """Click the link that `selector` finds and wait for the page behind it."""
        self._loaded = False
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
        self.loaded()

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, promises awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", str(details)))
        return result["result"].get("value")

    def wait_for(self, expression: str) -> Any:
        """Return the value of a JavaScript expression as soon as it is true."""
        deadline = time.monotonic() + self.timeout
        while not (value := self.evaluate(expression)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(0.05)
        return value

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        """Show pages in a window, or on a phone, of `width` x `height` CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=phone)
