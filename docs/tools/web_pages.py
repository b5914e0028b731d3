"""Writes out/web: the pages of web/, the verified core as a script, and designs of six questions at six levels each.

`make web` runs it. The data are classic scripts: a page that is opened from a folder may load scripts, but not fetch
files. Each design has the texts that rropt writes of it, and two numbers that the page does not compute itself.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from rropt.models import about, model_path

from rropt.declare.constraints import LDP, RLDP
from rropt.io.files import write_whole
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Prior
from rropt.model.privacy import Level
from rropt.problem import Problem
from rropt.problem.plain_terms import RESPONDENTS, largest_margin, squared_error
from rropt.problem.sensitivity import with_field
from rropt.problem.solving import with_rules
from rropt.problem_file import load_problem, problem_to_toml
from rropt.prove.problems import OutsideCoreError
from rropt.solve.verified import proof_file
from rropt.studies.reports.descriptions import goal_sentence, rule_sentences

ROOT = Path(__file__).resolve().parents[2]
PAGES, CORE, OUT = ROOT / "web", ROOT / "proofs" / "build" / "rropt-core.js", ROOT / "out" / "web"
QUESTIONS = {
    "census-column": ("A census column", ("0.5", "1", "1.5", "2", "3", "4")),
    "survey-yes-no": ("A yes/no question", ("1.5", "2", "3", "5", "9", "19")),
    "ordinal-scale": ("An answer on a scale", ("0.3", "0.5", "0.7", "1", "1.5", "2")),
    "district-map": ("A place on a map", ("0.3", "0.5", "1", "1.5", "2", "3")),
    "telemetry-100": ("Telemetry of 100 pages", ("0.5", "1", "1.5", "2", "3", "4")),
    "sensitive-pair": ("A sensitive and a harmless value", ("0.5", "0.7", "1", "1.5", "2", "3")),
}
"""Models with a title and the levels of the slider: those of the model's own file are among them, and are epsilons, or
ratios (gamma) where the model has a ratio."""


def _margin_of_one(mechanism: Mechanism) -> float | None:
    """The margin that one answer would have, if shares were not within [0, 1]: that of n answers times the root of n."""
    margin = largest_margin(mechanism, 10**12)
    return None if margin is None else margin * 10**6


def problems(name: str, levels: tuple[str, ...]) -> list[Problem]:
    """The problem of a model at each level of its first constraint."""
    model = load_problem(model_path(name))
    first, *others = model.constraints
    found = []
    for number in levels:
        if hasattr(first, "level"):
            level = Level(gamma=number) if first.level.gamma is not None else Level(epsilon=number)
            rule = with_field(first, "level", level)
        else:
            rule = with_field(first, "epsilon", type(first.epsilon)(number))
        problem = with_rules(model, [rule, *others])
        object.__setattr__(problem, "name", name)
        found.append(problem.with_options(gap=model.options.gap, time_limit=model.options.time_limit))
    return found


def design(problem: Problem, level: str, folder: Path) -> dict[str, Any]:
    """One design of the slider: the texts of its files, and figures. Raises ValueError unless it is certified."""
    solution = problem.solve()
    if solution.status != "certified" or solution.mechanism is None or solution.certificate is None:
        raise ValueError(f"{problem.name} at {level} is {solution.status}")
    mechanism, prior = solution.mechanism, problem.objective.prior
    assert isinstance(prior, Prior)
    certificate = solution.certificate.save(folder / "certificate.json").read_text(encoding="utf-8")
    return {
        "level": level,
        "value": solution.value,
        "bound": solution.bound,
        "units": solution.units,
        "guarantee": [rule for _, rule in rule_sentences(problem)],
        # At one answer: that of n is smaller by the root of n.
        "margin": _margin_of_one(mechanism),
        "error": squared_error(mechanism, prior),
        "toml": problem_to_toml(problem),
        "mechanism": mechanism.to_json(),
        "csv": mechanism.to_csv(folder / "mechanism.csv").read_text(encoding="utf-8"),
        "certificate": certificate,
        **proof(certificate),
    }


def proof(certificate: str) -> dict[str, str]:
    """The proof file, or why there is none."""
    try:
        return {"proof": proof_file(json.loads(certificate)).decode("ascii")}
    except OutsideCoreError as outside:
        return {"outside": str(outside)}


def question(name: str) -> dict[str, Any]:
    """The data of one question."""
    title, levels = QUESTIONS[name]
    made = problems(name, levels)
    prior, rule = made[0].objective.prior, made[0].constraints[0]
    assert isinstance(prior, Prior)
    with tempfile.TemporaryDirectory() as folder:
        designs = [design(problem, level, Path(folder)) for problem, level in zip(made, levels, strict=True)]
    return {
        "name": name,
        "title": title,
        "about": about(name),
        "goal": goal_sentence(made[0]),
        "parameter": "gamma" if isinstance(rule, LDP) and rule.level.gamma is not None else "epsilon",
        # k-RR keeps plain LDP; another guarantee is no ground for a comparison (see rropt.problem.plain_terms).
        "plain": isinstance(rule, LDP),
        "sensitive": isinstance(rule, RLDP),
        "inputs": list(prior.labels),
        "weights": [str(weight) for weight in prior.weights],
        "answers": sum(prior.weights) if prior.declared == "counts" else RESPONDENTS,
        "designs": designs,
    }


def build(out: Path, core: Path) -> None:
    """Write the folder `out`, in the place of an earlier one, with the JavaScript of `core`."""
    made = out.with_name(f"{out.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(PAGES, made)
    (made / "data").mkdir()
    titles = {name: title for name, (title, _) in QUESTIONS.items()}
    data = {"core": ("addCore", core.read_text(encoding="utf-8")), "questions": ("addTitles", titles)}
    for name, (call, value) in (data | {name: ("addQuestion", question(name)) for name in QUESTIONS}).items():
        # Classic scripts, which call a function of common.js.
        write_whole(made / "data" / f"{name}.js", f"{call}({json.dumps(value, ensure_ascii=True)});\n")
    shutil.rmtree(out, ignore_errors=True)
    made.rename(out)


if __name__ == "__main__":
    build(OUT, CORE)
    print(f"wrote {OUT / 'index.html'}")
