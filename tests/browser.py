"""Chromium without a window, driven over two pipes in its DevTools protocol: the standard library suffices."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-quic",
)  # fmt: skip
PATIENCE = 120.0


class Page:
    """One page: what it is asked, what it fetched, and its errors."""

    def __init__(self, writing: int, reading: int) -> None:
        self._writing, self._reading, self._rest, self._number = writing, reading, b"", 0
        self._session: str | None = None
        self.fetched: list[str] = []
        self.errors: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command; what happens meanwhile is noted."""
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self._writing, data) :]
        return self._until(lambda message: message.get("id") == self._number)

    def _until(self, is_it: Any) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while True:
            while b"\0" not in self._rest:
                ready, _, _ = select.select([self._reading], [], [], max(deadline - time.monotonic(), 0))
                assert ready, "the browser does not answer"
                more = os.read(self._reading, 1 << 16)
                assert more, "the browser has ended"
                self._rest += more
            line, _, self._rest = self._rest.partition(b"\0")
            message = json.loads(line)
            self._note(message.get("method"), message.get("params"))
            if is_it(message):
                assert "error" not in message, message
                return dict(message.get("result", {}))

    def _note(self, method: str | None, found: Any) -> None:
        if method == "Network.requestWillBeSent":
            self.fetched.append(found["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(found["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and found["type"] in ("error", "assert"):
            self.errors.append(json.dumps(found["args"]))
        elif method == "Log.entryAdded" and found["entry"]["level"] == "error":
            self.errors.append(found["entry"]["text"])

    def open(self, url: str) -> None:
        """Go to a page (by way of an empty one: a new fragment alone loads nothing), and wait until it is loaded."""
        for one in ("about:blank", url):
            self.ask("Page.navigate", url=one)
            self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def reload(self) -> None:
        self.ask("Page.reload")
        self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript, of a promise what it becomes."""
        found = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until an expression is true."""
        deadline = time.monotonic() + PATIENCE
        while not self.value(f"!!({condition})"):
            assert time.monotonic() < deadline, f"never true: {condition}"
            time.sleep(0.02)

    def text(self, identifier: str) -> str:
        return str(self.value(f"document.getElementById({identifier!r}).textContent"))

    def choose_file(self, identifier: str, path: Path) -> None:
        """Give a file to an input."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=f"#{identifier}")["nodeId"]
        self.ask("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def drop(self, identifier: str, path: Path) -> None:
        """Drag a file or a folder from the desk onto an element."""
        box = f"document.getElementById({identifier!r}).getBoundingClientRect()"
        x, y = self.value(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({box})")
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.ask("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def press(self, key: str) -> None:
        """Press a key, as Enter or ArrowRight."""
        code = {"Enter": 13, "ArrowRight": 39}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def show(self, width: int, dark: bool) -> None:
        """A window of this width, in a light or a dark theme."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with one page and a profile of its own."""
    ours, theirs = os.pipe(), os.pipe()
    # Chromium reads commands from descriptor 3 and writes to 4: the originals must be others.
    reading, writing = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (ours[0], theirs[1]))

    def place() -> None:
        os.dup2(reading, 3)
        os.dup2(writing, 4)

    command = [str(BROWSER), *QUIET, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
    with subprocess.Popen(
        command, preexec_fn=place, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        for fd in (ours[0], theirs[1], reading, writing):
            os.close(fd)
        try:
            page = Page(ours[1], theirs[0])
            yield page
            page._session = None
            page.ask("Browser.close")
        finally:
            process.terminate()
            os.close(ours[1])
            os.close(theirs[0])
