"""Headless Chromium through ChromeDriver's HTTP interface: what a page shows, and what it complains about."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from base64 import b64decode
from contextlib import contextmanager

AVAILABLE = shutil.which("chromium") is not None and shutil.which("chromedriver") is not None
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
    "--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage", "--force-device-scale-factor=1",
)  # fmt: skip


class Browser:
    """One session of the browser."""

    def __init__(self, address):
        self._address = address
        self._session = ""

    def start(self, folder, *, width, height, phone):
        options = {"binary": shutil.which("chromium"), "args": [*FLAGS, f"--user-data-dir={folder}"]}
        if phone:
            options["mobileEmulation"] = {
                "deviceMetrics": {"width": width, "height": height, "pixelRatio": 1.0, "touch": True}
            }
        else:
            options["args"].append(f"--window-size={width},{height}")
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self._session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def open(self, path):
        self.visit(path.resolve().as_uri())

    def visit(self, address):
        self._send("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        """Run the body of a function in the page and return what it returns."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition, seconds=30.0):
        """Wait until an expression holds in the page."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition});"):
            assert time.monotonic() < end, condition
            time.sleep(0.05)

    def complaints(self):
        """Return what the page wrote to the console, and requests that failed or were refused."""
        return [entry["message"] for entry in self._send("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        """Write a picture of the whole page."""
        size = self.run("return [document.documentElement.clientWidth, document.documentElement.scrollHeight];")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        found = self.cdp("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        path.write_bytes(b64decode(found["data"]))

    def cdp(self, command, parameters):
        """Send a command of the DevTools protocol."""
        return self._send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def stop(self):
        if self._session:
            self._send("DELETE", "", None)

    def _send(self, method, path, data):
        return self._call(method, f"/session/{self._session}{path}", data)

    def _call(self, method, path, data):
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(
            self._address + path, body, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from None


@contextmanager
def browser(folder, *, width=1280, height=900, phone=False):
    """Open a browser with a profile of its own in `folder`; everything started here ends here."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    session = Browser(f"http://127.0.0.1:{port}")
    try:
        _wait_for(port, process)
        session.start(folder, width=width, height=height, phone=phone)
        yield session
    finally:
        try:
            session.stop()
        finally:
            process.terminate()
            process.wait(20)


def _wait_for(port, process):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        assert process.poll() is None, "chromedriver ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("chromedriver does not answer")
