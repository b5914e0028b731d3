"""The extracted checker as JavaScript prints what the kernel says, under node (`make core-js`).

Two compilers run before the first test. That the extracted program says what the kernel says is held by test_core.py.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest
from core_files import compiled_core, judged, mutants, proof_files
from drawing import thinned

FILES = proof_files()
TOOLS = [shutil.which(tool) for tool in ("ocamlfind", "js_of_ocaml", "node")]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not all(TOOLS), reason="needs ocaml, js_of_ocaml and node (Debian: js-of-ocaml nodejs)"),
]


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """The extracted checker, as a function of the text of a proof file."""
    folder = tmp_path_factory.mktemp("js")
    program = compiled_core(folder)

    def run(text):
        (folder / "proof.core").write_bytes(text.encode())
        done = subprocess.run(["node", program.name, "proof.core"], cwd=folder, capture_output=True)
        assert done.stderr == b""
        return done.returncode, done.stdout.decode().splitlines()[-1]

    return run


def alike(script, text):
    """One verdict; of a line that cannot be read both name the line."""
    status, line = script(text)
    assert status == judged(text)[0], text
    said = [one.replace("verified core", "kernel").split(" column ")[0] for one in (line, judged(text)[1])]
    assert said[0] == said[1]


@pytest.mark.parametrize("name", thinned(FILES, 33))
def test_certificates_and_mutants_have_one_verdict(script, name):
    alike(script, FILES[name][1])
    for mutant in mutants(FILES[name][1], 1, seed=12):
        alike(script, mutant)
