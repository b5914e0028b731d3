"""Reads everything that releases left behind, with nothing of rropt, and returns what it should not be.

A folder holds the data t.parquet, their accountant, outputs o.parquet (also partial ones) and manifests; `shared` is the
accountant of all folders, in which the name of a folder is its population.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from accountants import draws, events


def level(draw: dict[str, Any]) -> float:
    """The epsilon of a draw."""
    return sum(math.log(Fraction(column["privacy_ratio"])) for column in draw["columns"])


class Census:
    """What was ever seen of the releases below `root`."""

    def __init__(self, root: Path, shared: Path | str, ceiling: Fraction) -> None:
        self.root, self.shared, self.ceiling = root, shared, ceiling
        self.seen: dict[str, set[str]] = defaultdict(set)

    def faults(self) -> list[str]:
        """What is wrong now, one line each."""
        common: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for one in draws(self.shared):
            common[one["population"]].append(one)
        found = self.chain()
        for name, told in common.items():
            if sum(map(level, told)) > self.ceiling + 1e-9:
                found.append(f"{name}: above the ceiling")
        for folder in sorted(path for path in self.root.iterdir() if path.is_dir()):
            found += [f"{folder.name}: {fault}" for fault in self.folder(folder, common[folder.name])]
        return found

    def chain(self) -> list[str]:
        """Whether a release has two lines of one event, which only an end may have."""
        begun = [one["release"] for one in events(self.shared) if one["event"] == "drawing"]
        return [] if len(begun) == len(set(begun)) else ["a release began twice"]

    def folder(self, folder: Path, common: list[dict[str, Any]]) -> list[str]:
        """What is wrong in one folder."""
        own, found = draws(folder / "t.parquet.accountant"), []
        outputs = [path for path in (folder / "o.parquet", *folder.glob(".o.parquet.*.tmp")) if path.exists()]
        # A partial file grows: it is known by its release, and a complete one by its manifest or its bytes.
        for path in outputs:
            data = path.read_bytes()
            if path.name.startswith("."):
                self.seen[folder.name].add(path.name.split(".")[-2])
            elif not self.told(folder, hashlib.sha256(data).hexdigest()):
                found.append("the output is not that of its manifest")
        for which, accountant in (("own", own), ("shared", common)):
            missing = self.seen[folder.name] - {one["release"] for one in accountant}
            if missing:
                found.append(f"drawn and not in the {which} accountant: {missing}")
        found += self.understated(folder, own)
        return found

    def told(self, folder: Path, sha256: str) -> bool:
        """Whether the manifest, or an earlier state of it, is of an output with this hash."""
        path = folder / "o.parquet.manifest.json"
        if path.exists():
            content = json.loads(path.read_text(encoding="utf-8"))
            left = [one.name.split(".")[-2] for one in folder.glob(".o.parquet.*.tmp")]
            if content["output"]["sha256"] == sha256:
                self.seen[folder.name].add(content["release"])
                self.seen[folder.name, "hashes"].add(sha256)  # type: ignore[index]
                return True
            # Between the manifest and the name of the output there is a whole partial file of that release.
            return content["release"] in left and sha256 in self.seen[folder.name, "hashes"]  # type: ignore[index]
        return False

    def understated(self, folder: Path, own: list[dict[str, Any]]) -> list[str]:
        """Whether the manifest states less than the draws that the accountant has up to it."""
        path = folder / "o.parquet.manifest.json"
        if not path.exists():
            return []
        content = json.loads(path.read_text(encoding="utf-8"))
        order = [one["release"] for one in own]
        if content["release"] not in order:
            return ["its manifest is of a release that the accountant does not have"]
        until = own[: order.index(content["release"]) + 1]
        total = sum(map(level, until))
        stated = content["epsilon_with_earlier"]
        return [] if stated is None or stated >= total - 1e-9 else [f"it states {stated}, and spent {total}"]
