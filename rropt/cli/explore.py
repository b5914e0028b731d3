"""The command `rropt explore`: the pages of `make web`, on this machine only."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from rropt.cli.lines import say
from rropt.errors import InputError, Missing

BUILT = Path(__file__).resolve().parents[2] / "out" / "web"


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
    import webbrowser

    from rropt.cli.page_server import FIRST, HOST, page_server

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
