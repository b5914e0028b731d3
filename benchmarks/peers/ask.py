"""A throw-away environment for each package, and questions to what runs in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from atexit import register
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
INSTALL_SECONDS = 600
TASK_SECONDS = 900
"""Of the clock: OpenDP draws 200,000 values in 17 s of a processor, and waits for it where others work."""


class Missing(Exception):
    """There is no answer: why, in one line."""


@dataclass(frozen=True)
class Peer:
    """A package by its name in the registry, and what else its environment needs."""

    name: str
    script: str
    besides: tuple[str, ...] = ()

    def ask(self, task: dict[str, Any], seconds: float = TASK_SECONDS) -> dict[str, Any]:
        """The answer to one task. Raises Missing: not installed, no answer in time, or the error that it ended with."""
        python = environment(self)
        try:
            done = subprocess.run(
                [str(python), "-I", str(HERE / self.script)],
                input=json.dumps(task),
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Missing(f"no answer in {seconds:g} s") from None
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
            # Where the environment lies is nobody's business.
            raise Missing(last.replace(f"{_folder()}{os.sep}", "")[:200])
        answer = json.loads(done.stdout.strip().splitlines()[-1])
        assert isinstance(answer, dict)
        return answer


@cache
def _folder() -> Path:
    """Of all environments of this process; gone with it."""
    folder = Path(tempfile.mkdtemp(prefix="rropt-peers-"))
    register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _installed(peer: Peer) -> Path | str:
    """The environment's interpreter, or why there is none."""
    folder = _folder() / peer.name
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", peer.name, *peer.besides]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"not installed in {INSTALL_SECONDS} s"
    if done.returncode:
        return "not installed: " + (done.stderr.strip().splitlines() or ["pip failed"])[-1][:200]
    return python


def environment(peer: Peer) -> Path:
    """The interpreter of a peer's environment, made at the first call. Raises Missing."""
    found = _installed(peer)
    if isinstance(found, str):
        raise Missing(found)
    return found


QIF = Peer("qif", "work_qif.py")
DIT = Peer("dit", "work_dit.py")
SCIP = Peer("pyscipopt", "work_scip.py")
BESIDES = {
    # Both hash texts by xxhash, which takes bytes alone since its version 4.
    "multi-freq-ldpy": ("scipy", "xxhash<4"),
    "pure-ldp": ("scikit-learn", "statsmodels", "xxhash<4"),
    "opendp": ("numpy",),
}


def sampler(name: str) -> Peer:
    """A package that draws."""
    return Peer(name, "work_pairs.py", BESIDES[name])
