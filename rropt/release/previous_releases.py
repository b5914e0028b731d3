"""The releases that earlier releases and files rule out."""

import math
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from rropt.release.accountant import Entry, revealed
from rropt.release.plans.manifest import manifest_path, read_manifest
from rropt.release.plans.odds import privacy_ratio_of


def crossings(
    counted: Iterable[Entry], wanted: set[str], unprotected: Sequence[str], output: Path, only: tuple[str, ...] = ()
) -> list[str]:
    """The columns that make the total infinite, as sentences: randomised in one release, unchanged in another. The new
    release randomises `wanted` in the records that satisfy `only`, and shows `unprotected`."""
    found = []
    for entry in counted:
        there = entry.content["output"]
        if entry.where != only and (both := wanted & entry.answered):
            found.append(
                f"{names_of(both)} would be randomised in other records in {output} than in {there}, and each of the two "
                "shows the rest unchanged"
            )
        if shown := wanted & entry.raw:
            found.append(
                f"{names_of(shown)} would be randomised in {output}, but {there} already shows {_it(shown)} unchanged"
            )
        if given := set(entry.columns) & set(unprotected):
            here = f"{names_of(given)} would be released unchanged in {output}"
            found.append(f"{here}, but {was(given)} randomised in {there}")
    return [f"{one}; the total epsilon would be infinite" for one in found]


def why_infinite(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Why draws add up to an infinite epsilon, as sentences; none where their records do not say it."""
    found = []
    for at, entry in enumerate(entries):
        for one in entry.content["columns"]:
            if math.isinf(privacy_ratio_of(one["privacy_ratio"])):
                draw = f"the draw of {names_of(one['columns'])} in {entry.content['output']}"
                changed = ", or a value changed under its key" if "scope" in one else ""
                why = f"has no level of plain LDP{changed}"
                if hidden := one.get("hidden"):
                    by = names_of(hidden)
                    why = f"has answers that are possible in some strata of {by} only, and {by}"
                    why += f" {was(hidden)} not released unchanged"
                found.append(f"{draw} {why}")
        for other in entries[:at]:
            for first, second in ((other, entry), (entry, other)):
                if names := revealed(first, second):
                    raw, drawn = (one.content["output"] for one in (first, second))
                    named = f"{names_of(names)} {_are(names)}"
                    found.append(f"{named} released unchanged in {raw} and randomised in {drawn}")
    return tuple(found)


def randomised_before(data: Path, wanted: set[str]) -> tuple[set[str], list[str]]:
    """The columns of `wanted` that the manifest next to `data` names as randomised, and a sentence where there are
    some. Raises InputError."""
    content = read_manifest(data) or {"columns": ()}
    again = wanted & {name for one in content["columns"] for name in one["released_as"]}
    reason = f"{names_of(again)} {_are(again)} randomised already, according to {manifest_path(data).name}"
    return again, [reason] if again else []


def crossed_people(
    counted: Sequence[Entry],
    wanted: set[str],
    unprotected: Sequence[str],
    population: str,
    only: tuple[str, ...] = (),
) -> list[str]:
    """The populations ("": all respondents) to which releases together reveal a column: a new one of `population` with
    earlier ones, or the earlier ones alone."""
    shows = [(entry, entry.raw) for entry in counted if entry.raw or entry.where]
    found = {one.respondents(population) for one, raw in shows if raw & wanted}
    found |= {one.respondents(population) for one in counted if one.where != only and wanted & one.answered}
    found |= {one.respondents(two.population) for one, _ in shows for two in counted if revealed(one, two)}
    found |= {one.respondents(population) for one in counted if not {*one.columns}.isdisjoint(unprotected)}
    return sorted(name for name in found if name is not None)


def _it(names: Collection[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _are(columns: Collection[str]) -> str:
    return "is" if len(columns) == 1 else "are"


def was(columns: Collection[str]) -> str:
    """The verb after the names of these columns."""
    return "was" if len(columns) == 1 else "were"


def names_of(columns: Iterable[str]) -> str:
    """Names of columns in a message."""
    return ", ".join(map(repr, sorted(columns)))
