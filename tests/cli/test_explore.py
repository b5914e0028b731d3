"""`rropt explore`: what is served, and to whom; and the policy of the pages."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from rropt import __main__ as cli
from rropt.cli.page_server import page_server


@pytest.fixture
def home(tmp_path: Path) -> Iterator[str]:
    """The address of a folder with two files, beside which there is another one."""
    folder = tmp_path / "pages"
    (folder / "data").mkdir(parents=True)
    (folder / "index.html").write_text("page", encoding="utf-8")
    (folder / "data" / "a b.js").write_text("script", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    server = page_server(folder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_files_of_the_folder_are_served(home: str) -> None:
    for path, text, kind in (("/", "page", "text/html"), ("/data/a%20b.js?x=1", "script", "text/javascript")):
        with urllib.request.urlopen(home + path) as answer:
            assert answer.read().decode() == text
            assert answer.headers["Content-Type"].startswith(kind)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_nothing_else_is_served(home: str, tmp_path: Path) -> None:
    absolute = f"/{tmp_path.as_posix()}/secret.txt"
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", absolute, "/data/", "/data", "/x", "/\\x"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(home + path)
    with pytest.raises(urllib.error.HTTPError, match="501"):
        urllib.request.urlopen(home, data=b"x")
    # A name that another site made for this address.
    port = home.rpartition(":")[2]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(urllib.request.Request(home, headers={"Host": f"example.org:{port}"}))


@pytest.mark.skipif(os.name != "posix", reason="Windows has another Ctrl-C")
def test_it_says_its_address_and_ends_at_ctrl_c(home: str, tmp_path: Path) -> None:
    # A process that a shell starts in the background ignores Ctrl-C, and so do its children.
    start = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    start += "from rropt.__main__ import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", start, "explore", "--no-browser", "--folder", str(tmp_path / "pages")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        with urllib.request.urlopen(address) as answer:
            assert answer.read() == b"page"
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=60) == ("", "")
        finally:
            process.kill()
    assert process.returncode == 0


def test_without_pages_it_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explore", "--no-browser", "--folder", str(tmp_path)]) == 2
    assert "make web" in capsys.readouterr().err


def test_a_port_that_is_taken_is_one_line(home: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for port in (home.rpartition(":")[2], "99999"):
        assert cli.main(["explore", "--no-browser", "--folder", str(tmp_path / "pages"), "--port", port]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_pages_have_no_inline_code_and_one_policy(checkout: Path) -> None:
    policies = set()
    for path in (checkout / "web").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|\son\w+=|\sstyle=|javascript:|<script(?! src=)|//", text), path
        policies.update(re.findall(r'Content-Security-Policy" content="([^"]*)"', text))
    # The page Check runs Python as WebAssembly, which its policy must allow.
    (policy,) = {one.replace(" 'wasm-unsafe-eval'", "") for one in policies}
    assert len(policies) == 2
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    scripts = "".join(path.read_text(encoding="utf-8") for path in (checkout / "web").glob("*.js"))
    assert len(scripts) > 10000
    # A namespace, and an address that is never asked.
    scripts = scripts.replace('"http://www.w3.org/2000/svg"', "").replace('"http://localhost/"', "")
    found = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|fetch\(|XMLHttp|https?:", scripts
    )
    assert found == []
