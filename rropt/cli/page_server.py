"""A server of the files of one folder, on this machine only."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote, urlsplit

HOST = "127.0.0.1"
FIRST = "index.html"


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
