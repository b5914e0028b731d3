"""The command `rropt explore`: the pages of `make web`, on this machine only."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from typing import Annotated, ClassVar
from urllib.parse import unquote, urlsplit

import typer

from rropt.cli.lines import say
from rropt.errors import InputError, Missing

HOST = "127.0.0.1"
BUILT = Path(__file__).resolve().parents[2] / "out" / "web"
FIRST = "index.html"


def explore(
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="The pages (default: out/web of the checkout).")
    ] = None,
    port: Annotated[int, typer.Option("--port", help="A port of 127.0.0.1 (default: any free one).", min=0)] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address and open no browser.")] = False,
) -> None:
    """Open the pages that explore, randomise and check, on 127.0.0.1, until Ctrl-C.

    make web builds them in a checkout; an installation from a wheel does not have them. They work without this command
    too: open index.html of the folder.
    """
    place = BUILT if folder is None else folder
    if not (place / FIRST).is_file():
        remedy = "run make web in a checkout of rropt, or give --folder" if folder is None else "run make web"
        raise Missing("the pages are not there", str(place), remedy)
    try:
        server = page_server(place, port)
    except (OSError, OverflowError) as error:
        raise InputError(f"port {port} is not free ({error})", "--port", "give another one, or none") from None
    address = f"http://{HOST}:{server.server_port}/{FIRST}"
    say(f"{address} (Ctrl-C ends it)")
    sys.stdout.flush()
    with server:
        if not no_browser:
            webbrowser.open(address)
        # Ctrl-C is how this command ends.
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def page_server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of the files that are in a folder now, on this machine only."""

    class Handler(FileHandler):
        files: ClassVar[dict[str, Path]] = {
            f"/{path.relative_to(folder).as_posix()}": path for path in sorted(folder.rglob("*")) if path.is_file()
        }

    return ThreadingHTTPServer((HOST, port), Handler)


class FileHandler(BaseHTTPRequestHandler):
    """Answers GET and HEAD for the paths of `files`: a path is looked up, and never joined with a folder."""

    files: ClassVar[dict[str, Path]] = {}

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, body: bool) -> None:
        asked = unquote(urlsplit(self.path).path)
        place = self.files.get(f"/{FIRST}" if asked == "/" else asked)
        # A page of another site reaches this server under a name of its own (DNS rebinding); it gets nothing.
        own = self.headers.get("Host", "").rpartition(":")[0] in (HOST, "localhost")
        if place is None or not own or not place.is_file():
            self.send_error(404)
            return
        data = place.read_bytes()
        kind = guess_type(place.name)[0] or "application/octet-stream"
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Requests are not printed."""
