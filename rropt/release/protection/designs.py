"""One design for each stratum of each group of columns, with its certificate; equal ones are solved once."""

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from rropt.declare.constraints import LDP
from rropt.declare.objectives.risk import MinimaxRisk
from rropt.errors import Conflict, InputError
from rropt.exact import exp_enclosure
from rropt.io.files import folders, write_whole
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.problem import Minimize, Problem
from rropt.prove.certificates import Certificate
from rropt.prove.mechanism_files import CERTIFICATE, MECHANISM
from rropt.release.plans.cross import joined, split
from rropt.release.plans.plan import Design, ProtectedColumn, Release
from rropt.release.plans.provenance import digest
from rropt.release.precision import MOST_RATIO, Cell, Group, Moments, Stratum, estimator_of
from rropt.solve.designs.symmetric import best_size, even_mechanism

CERTIFIED = 64
"""The most inputs of a problem of estimation that a certificate proves."""
SOLVED = 16
"""The most inputs for which a design is solved at unequal frequencies."""
GAP = 1e-4
"""The relative gap of such a design."""
RELEASE = "RELEASE.toml"


@dataclass(frozen=True, eq=False)
class Made:
    """A design: the `mechanism`, its `certificate` (None: none), the `frequencies` that it was made for, and its
    unbiased `estimator` (K x m)."""

    mechanism: Mechanism
    certificate: Certificate | None
    frequencies: np.ndarray
    estimator: np.ndarray

    @property
    def design(self) -> Design:
        """The design as releases take it."""
        if self.certificate is None:
            return Design(self.mechanism)
        return Design(self.mechanism, "", self.certificate.document["problem"], "checked")


@dataclass
class Designs:
    """The designs of a release, by group and stratum."""

    found: dict[Group, dict[Stratum, Made]] = field(default_factory=dict)
    _known: dict[tuple[tuple[str, ...], Fraction, tuple[int, ...]], Made] = field(default_factory=dict)

    def add(
        self, group: Group, stratum: Stratum, cells: Sequence[Cell], epsilon: Fraction, counts: Sequence[int] = ()
    ) -> None:
        """Make the design of a group in a stratum, at equal frequencies or for public `counts` of its cells. Raises
        InputError where frequencies cannot be estimated from it."""
        labels = tuple(joined(cell) if len(group) > 1 else cell[0] for cell in cells)
        key = labels, epsilon, tuple(counts)
        if key not in self._known:
            try:
                found = _made(*key)
                self._known[key] = Made(*found, estimator_of(found[0]))
            except InputError as error:
                raise error.at(f"design of {', '.join(group)}") from None
        self.found.setdefault(group, {})[stratum] = self._known[key]

    def release(
        self,
        by: Sequence[str],
        null: Mapping[str, str],
        where: Sequence[str],
        drop: Sequence[str],
        learned: Sequence[str],
    ) -> Release:
        """The release that these designs make."""
        columns = []
        for group, strata in self.found.items():
            marks = {name: null[name] for name in group if name in null}
            # Outputs that are sets of combinations are one column; combinations stay in their columns.
            plain = all(set(one.mechanism.outputs) <= set(one.mechanism.inputs) for one in strata.values())
            name = None if plain or len(group) == 1 else " x ".join(group)
            made = {stratum: one.design for stratum, one in strata.items()}
            mechanism = made if by else made[()]
            columns.append(ProtectedColumn(group, mechanism, by=tuple(by), null=marks or None, name=name, where=where))
        return Release(columns, drop=tuple(drop), learned=tuple(learned))

    def labels(self, name: str) -> set[str]:
        """The categories of a column, in all strata."""
        return {
            parts_of_label(label, group)[group.index(name)]
            for group, strata in self.found.items()
            if name in group
            for one in strata.values()
            for label in one.mechanism.inputs
        }

    def moments(self, krr: bool = False) -> dict[Stratum, list[Moments]]:
        """The moments of the scores of each stratum's groups, where categories have the frequencies of the designs; of
        `krr`, those of k-ary randomised response with the same privacy ratios."""
        known: dict[tuple[Group, int], Moments] = {}
        found: dict[Stratum, list[Moments]] = {}
        for group, strata in self.found.items():
            for stratum, one in strata.items():
                if (group, id(one)) not in known:
                    cells = [parts_of_label(label, group) for label in one.mechanism.inputs]
                    given = one.mechanism.matrix, one.estimator, one.frequencies
                    ratio = min(float(one.mechanism.privacy_ratio), MOST_RATIO)
                    own = (
                        Moments.of_krr(group, cells, one.frequencies, ratio)
                        if krr
                        else Moments.of(group, cells, *given)
                    )
                    known[group, id(one)] = own
                found.setdefault(stratum, []).append(known[group, id(one)])
        return found

    def save(self, folder: Path, release: Release, data: Path | None, output: Path | None) -> list[Path]:
        """Write the designs with their certificates into a folder, and the release file that names them; returns the
        files. Raises InputError where the folder has the designs of another release."""
        named: dict[int, str] = {}
        taken: set[str] = set()
        for group, strata in self.found.items():
            for one in strata.values():
                if id(one) not in named:
                    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(group)).strip("-.") or "design"
                    name = next(name for n in range(len(named) + 2) if (name := f"{stem}-{n + 1}") not in taken)
                    named[id(one)] = name
                    taken.add(name)
        text = _toml(self, release, named, data, output, folder)
        place = folder / RELEASE
        if place.exists() and place.read_bytes() != text.encode():
            raise Conflict(
                "it has the designs of another release", str(folder), "name another folder for these: --designs FOLDER"
            )
        written = []
        each = {id(one): one for strata in self.found.values() for one in strata.values()}
        with folders([folder, *(folder / name for name in named.values())]):
            for number, one in each.items():
                where = folder / named[number]
                written.append(one.mechanism.save(where / MECHANISM))
                if one.certificate is not None:
                    one.certificate.save(where / CERTIFICATE)
            written.append(write_whole(place, text))
        return written


def _made(
    labels: tuple[str, ...], epsilon: Fraction, counts: tuple[int, ...]
) -> tuple[Mechanism, Certificate | None, np.ndarray]:
    """A mechanism, its certificate where there is one, and the frequencies that it was made for."""
    k = len(labels)
    equal = np.full(k, 1 / k)
    if k == 1:
        return Mechanism.from_rationals([[1]], inputs=labels, outputs=labels), None, equal
    unequal = len(set(counts)) > 1 and k <= SOLVED
    size = best_size(k, math.exp(min(float(epsilon), 200.0)))
    outputs = labels if unequal or size == 1 else None
    if k > CERTIFIED:
        ratio = exp_enclosure(epsilon).lower
        made = even_mechanism(labels, ratio, outputs)
        if made is not None:
            return made, None, equal
    prior = Prior.from_counts(dict(zip(labels, counts, strict=True))) if unequal else Prior.uniform(labels)
    problem = Problem(Minimize(MinimaxRisk(prior)), [LDP(epsilon=epsilon)], outputs=outputs)
    solution = problem.solve(gap=GAP) if unequal else problem.solve()
    if solution.mechanism is None:
        raise InputError("no design was found", "protect", "; ".join(solution.warnings) or "give a larger epsilon")
    proved = solution.verdict is not None and solution.verdict.proved
    return solution.mechanism, solution.certificate if proved else None, prior.array


def parts_of_label(label: str, group: Group) -> Cell:
    """The values of the columns of a group that a label names."""
    return (label,) if len(group) == 1 else split(label)


def _toml(
    designs: Designs, release: Release, named: Mapping[int, str], data: Path | None, output: Path | None, folder: Path
) -> str:
    lines = ["schema = 1"]
    for key, place in (("data", data), ("output", output)):
        if place is not None:
            lines.append(f"{key} = {_text(_relative(place, folder))}")
    for key, values in (("drop", release.drop), ("where", map(str, release.where)), ("learned", release.learned)):
        if listed := list(map(_text, values)):
            lines.append(f"{key} = [{', '.join(listed)}]")
    for column, strata in zip(release.columns, designs.found.values(), strict=True):
        lines += ["", "[[column]]"]
        names = f"[{', '.join(map(_text, column.columns))}]"
        lines.append(f"name = {_text(column.columns[0])}" if len(column.columns) == 1 else f"names = {names}")
        lines += [] if column.name is None else [f"as = {_text(column.name)}"]
        if column.null:
            marks = ", ".join(f"{_text(name)} = {_text(label)}" for name, label in column.null)
            lines.append(f"null = {{ {marks} }}")
        files = {
            stratum: f"{{ file = {_text(f'{named[id(one)]}/{MECHANISM}')}, sha256 = {_text(digest(one.mechanism))} }}"
            for stratum, one in strata.items()
        }
        if not column.by:
            lines.append(f"mechanism = {files[()]}")
            continue
        lines += [f"by = [{', '.join(map(_text, column.by))}]", "[column.mechanisms]"]
        for stratum, file in files.items():
            lines.append(f"{_text(joined(stratum) if len(stratum) > 1 else stratum[0])} = {file}")
    return "\n".join([*lines, ""])


def _relative(place: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(place.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return place.resolve().as_posix()


def _text(value: str) -> str:
    """A basic string of TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
