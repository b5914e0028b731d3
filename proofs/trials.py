"""Long trials of the verified core, whose figures docs/verified-core.md tells; not part of the tests.

    python proofs/trials.py logs 1000000      the enclosure of logarithms against Arb, and mpmath where it is installed
    python proofs/trials.py fuzz 900          damaged files, for so many seconds: rropt-core and the kernel agree
    python proofs/trials.py false 25000 5000  changed proofs of false claims, by chance, by reasoning on the rules:
                                              none is accepted, and rropt-core, its JavaScript (`make core-js`, node)
                                              and the kernel agree
    python proofs/trials.py grow BASE N FILE  a proof file of boxes with N leaves at least, each leaf of BASE split
    python proofs/trials.py pad BASE N FILE   the same proof in N bytes at least: flows of 0 are added to each leaf

`make trials` compares the integers of the extraction with Coq's (proofs/coq/Trial.v).
"""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import flint

from rropt import kernel

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
CORE = HERE / "build" / "rropt-core"
ANSWER = re.compile(
    r"PROVED \(verified core\): .*|REFUTED at line [1-9]\d*|UNREADABLE line [1-9]\d* column [1-9]\d*: [ -~]+"
)


def argument(draw: random.Random) -> int:
    """A number of 1 to 600 bits, often near a power of 2."""
    bits = draw.randint(1, 600)
    if draw.random() < 0.3:
        return (1 << bits) + draw.randint(-3, 3) + 3
    return draw.getrandbits(bits) + 1


def logs(count: int) -> None:
    """Ends on the right side of Arb's and mpmath's enclosures, and the width that the text promises."""
    try:
        import mpmath
    except ImportError:
        mpmath = None
        print("mpmath is not installed: Arb alone")
    else:
        mpmath.mp.prec = 900
    flint.ctx.prec, draw, widest = 900, random.Random(1), 0.0
    for _ in range(count):
        n, d = argument(draw), argument(draw)
        if draw.random() < 0.2:
            n = d + draw.randint(0, 5)  # near 1
        low, high = kernel.log(n, d)
        exact = (flint.arb(n) / flint.arb(d)).log() * kernel.D
        if not low <= exact <= high:
            sys.exit(f"log({n}, {d}) is outside of Arb's")
        if mpmath is not None and not low <= mpmath.log(mpmath.mpf(n) / d) * kernel.D <= high:
            sys.exit(f"log({n}, {d}) is outside of mpmath's")
        most = 500 + 130 * abs(n.bit_length() - d.bit_length())
        widest = max(widest, (high - low) / most)
        if high - low > most:
            sys.exit(f"log({n}, {d}) is {high - low} units wide")
    print(f"{count} arguments: all inside; the widest has {widest:.0%} of the width that is promised")


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The bytes with one to four of them, of their fields, or of their lines changed, lost, doubled or cut off."""
    data = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at, to = draw.randrange(len(data) + 1), draw.randrange(len(data) + 1)
        how = draw.randrange(8)
        if how == 0:
            data[at : at + draw.randint(0, 4)] = draw.randbytes(draw.randint(0, 4))
        elif how == 1:
            data[at : at + 1] = draw.choice(
                [b"\n", b" ", b"-", b"0", b";", b"\r\n", b"\0", b"  ", b"\xff", b"9" * 40000]
            )
        elif how == 2:
            del data[at:]
        elif how == 3:
            data[to:to] = data[at : at + draw.randint(1, 200)]
        else:
            split = b"\n" if how < 6 else b" "
            words = bytes(data).split(split)
            i, j = draw.randrange(len(words)), draw.randrange(len(words))
            if how % 2:
                words[i], words[j] = words[j], words[i]
            else:
                words[i : i + 1] = draw.choice([[], [words[i]] * 2, [words[j]]])
            data = bytearray(split.join(words))
        data = data or bytearray(b"\n")
    return bytes(data)


def fuzz(seconds: int) -> None:
    """Each damaged file gets one line from rropt-core, and the kernel says the same but for the column."""
    from core_files import proof_files, resealed

    files, draw, counts = [text.encode() for _, text in proof_files().values()], random.Random(time.time_ns()), {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = damaged(draw.choice(files), draw)
        if draw.random() < 0.3 and b"\nclaim" in data:  # so that damage to the problem is read, too
            data = resealed(data.decode("latin-1")).encode("latin-1")
        done = subprocess.run([CORE], input=data, capture_output=True)
        lines = done.stdout.decode("latin-1").splitlines() or [""]
        status, line = kernel.verdict(io.BytesIO(data))
        said = lines[-1].replace("verified core", "kernel")
        whole = done.stderr == b"" and ANSWER.fullmatch(lines[-1]) is not None
        if not whole or (done.returncode, said.split(" column ")[0]) != (status, line.split(" column ")[0]):
            HERE.joinpath("build", "finding.core").write_bytes(data)
            sys.exit(f"core {done.returncode} {lines[-1]!r} {done.stderr!r}\nkernel {status} {line!r}")
        word = line.split(" ")[0]
        counts[word] = counts.get(word, 0) + 1
    print(f"{sum(counts.values())} damaged files in {seconds} seconds: {counts}")


OUTSIDE = (-1, -2, 10**6, -(10**6), 1 << 64, -(1 << 64), 1 << 400)


def children(lines: list[str], at: int) -> int:
    """The number after the lines of the first open state at `at`: its token and those of its children."""
    open_states = 1
    while open_states and at < len(lines):
        open_states += {**dict.fromkeys("sxrgnbwp", 1), **dict.fromkeys("lSct", -1)}.get(lines[at].split(" ")[0], 0)
        at += 1
    return at


def reasoned(lines: list[str], first: int, draw: random.Random) -> list[str]:
    """The lines of a proof with one change that a rule forbids: a sign, a unit, an index outside, what is known in one
    branch used in its sibling, a line or a field lost or doubled. `first` is the number of the first token."""
    lines, tokens = lines[:], [i for i in range(first, len(lines)) if lines[i] not in ("", "end")]
    branches = [i for i in tokens if lines[i][0] in "sxrgnbwp"]
    head = next(i for i, line in enumerate(lines) if line.startswith("unit"))
    how = draw.randrange(8) if tokens else draw.randrange(3)
    if how < 4:  # one number after the claim: its sign, one unit, an index outside, a sign of a whole line
        spots = [i for i in range(head, len(lines)) if re.search(r" -?\d", lines[i])]
        i = draw.choice(spots)
        fields = lines[i].split(" ")
        j = draw.choice([j for j, field in enumerate(fields) if field.lstrip("-").isdigit()])
        old = int(fields[j])
        if how == 3:
            lines[i] = re.sub(r" (-?)(\d)", lambda found: f" {'' if found[1] else '-'}{found[2]}", lines[i])
            lines[i] = re.sub(r" -0(?= |$)", " 0", lines[i])
        else:
            fields[j] = str([-old, old + draw.choice([-1, 1]), draw.choice(OUTSIDE)][how])
            lines[i] = " ".join(fields)
    elif how == 4 and branches:  # the first child stands for both, or the second
        i = draw.choice(branches)
        middle = children(lines, i + 1)
        end = children(lines, middle)
        one, two = lines[i + 1 : middle], lines[middle:end]
        lines[i + 1 : end] = draw.choice([one + one, two + two, two + one])
    elif how == 5 and branches:  # limits of one branch, or the branch itself, before or behind it
        i, j = draw.choice(tokens), draw.choice(branches)
        lines.insert(j, lines.pop(i))
    elif how == 6:
        i = draw.choice(tokens)
        lines[i : i + 1] = draw.choice([[], [lines[i], lines[i]]])
    else:
        i = draw.choice(tokens)
        fields = lines[i].split(" ")
        j = draw.randrange(len(fields))
        fields[j : j + 1] = draw.choice([[], [fields[j], fields[j]]])
        lines[i] = " ".join(fields)
    return lines


class Scripted:
    """rropt-core.js in one process of node, as a function of the text of a proof file."""

    def __init__(self) -> None:
        command = ["node", HERE / "core" / "many.js", CORE.with_suffix(".js")]
        self.node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.file = Path(tempfile.mkdtemp()) / "proof.core"

    def __call__(self, text: str) -> tuple[int, str]:
        """The exit status, and the last line."""
        self.file.write_text(text, encoding="ascii")
        print(self.file, file=self.node.stdin, flush=True)
        status, _, line = self.node.stdout.readline().rstrip("\n").partition(" ")
        return int(status), line


def false(by_chance: int, by_reasoning: int) -> None:
    """Half of those by chance, and all by reasoning, claim by 2^-130 less than a known mechanism attains."""
    from core_files import claiming_less, mutants, proof_files

    files, draw, counts, scripted = list(proof_files().values()), random.Random(time.time_ns()), {}, Scripted()
    files = [pair for pair in files if pair[0]["bound"] is not None]
    for number in range(by_chance + by_reasoning):
        certificate, text = draw.choice(files)
        low = certificate["problem"]["sense"] == "minimize"
        value = Fraction(certificate["value"]["upper" if low else "lower"]) * (-1 if low else 1) - Fraction(1, 1 << 130)
        lying = number >= by_chance or number % 2
        if lying:
            text = claiming_less(text, value.as_integer_ratio())
        if number < by_chance:
            text = next(mutants(text, 1, draw.getrandbits(60)))
        else:
            lines = text.split("\n")
            text = "\n".join(
                reasoned(lines, next(i for i, one in enumerate(lines) if one.startswith("ratios")) + 1, draw)
            )
        done = subprocess.run([CORE], input=text.encode(), capture_output=True)
        status, line = kernel.verdict(io.BytesIO(text.encode()))
        said = {(status, line)}
        said |= {(done.returncode, (done.stdout.decode().splitlines() or [""])[-1]), scripted(text)}
        said = {(one, words.replace("verified core", "kernel").split(" column ")[0]) for one, words in said}
        if (lying and status == 0) or len(said) > 1:
            HERE.joinpath("build", "finding.core").write_text(text, encoding="ascii")
            sys.exit(f"number {number}: {said}")
        key = (
            ("by chance " if number < by_chance else "by reasoning ") + ("false " if lying else "") + line.split(" ")[0]
        )
        counts[key] = counts.get(key, 0) + 1
    print(counts)


def read(base: str) -> tuple[list[str], int, kernel.Kernel]:
    """The lines of a proof file, the number of the first token, and the kernel before it."""
    reader = kernel.Reader(io.BytesIO(Path(base).read_bytes()))
    started = kernel.Kernel(kernel.read_problem(reader), kernel.read_header(reader))
    return Path(base).read_text(encoding="ascii").split("\n"), reader.number - 1, started


def grow(base: str, leaves: int, out: str) -> None:
    """Split each leaf of a proof of boxes in the middle of its longest side, again and again."""
    lines, first, state = read(base)
    depth = max(0, -(-leaves // sum(line.startswith("l") for line in lines[first:])) - 1).bit_length()
    with Path(out).open("w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in lines[:first])

        def step(line: str) -> None:
            file.write(line + "\n")
            state.advance(kernel.read_token([(0, word) for word in line.split(" ")]))

        def split(line: str, more: int) -> None:
            if not more:
                return step(line)
            column = state.stack[-1].columns[0]
            sides = [(high - low, x) for x, (low, high) in enumerate(zip(column.low, column.high, strict=True))]
            x = max(sides)[1]
            step(f"s 0 {x} {(column.low[x] + column.high[x]) // 2}")
            split(line, more - 1)
            split(line, more - 1)

        for line in lines[first : lines.index("end")]:
            split(line, depth if line.startswith("l") else 0)
        file.write("end\n")


def pad(base: str, size: int, out: str) -> None:
    """Write flows of 0 along edge 0 before the multipliers of each leaf."""
    lines = Path(base).read_text(encoding="ascii").splitlines()
    share = size // sum(line.startswith("l ") for line in lines) // len(" F 1 0")
    with Path(out).open("w", encoding="ascii") as file:
        for line in lines:
            if line.startswith("l "):
                head = re.match(r"l( -?\d+)*", line)[0]
                line = head + " F 1 0" * share + line[len(head) :]
            file.write(line + "\n")


if __name__ == "__main__":
    name, *given = sys.argv[1:]
    {"logs": logs, "fuzz": fuzz, "false": false, "grow": grow, "pad": pad}[name](
        *(int(a) if a.isdigit() else a for a in given)
    )
