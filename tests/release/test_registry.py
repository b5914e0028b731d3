"""The draft for the registry of deployments: the keys and words that the registry knows, filled in from the manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rropt as rr
from rropt.cli.main import main
from rropt.errors import Missing, Unreadable
from rropt.release import ProtectedColumn, Release, draft_registry_entry, release_file

pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

KEYS: dict[str, set[str]] = {
    "": {"url_slug", "status", "tier", "deployment"},
    "deployment": {
        *("basic", "dp_variant", "privacy_loss", "deployment_model", "accounting", "implementation", "administrative"),
    },
    "basic": {
        *("name", "data_curators", "intended_use", "data_product_type", "data_product_region", "description"),
        *("publication_date", "data_product_sector"),
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"},
    "privacy_parameters": {"epsilon", "delta", "rho"},
    "deployment_model": {
        *("model_name", "model_name_details", "actors", "release_type", "release_type_details", "data_source_type"),
        *("data_source_type_details", "access_type", "access_type_details"),
    },
    "accounting": {"post_processing", "composition"},
    "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"},
    "administrative": {"sources", "notes", "registry_authors"},
}
"""The keys of each object in the schema of the registry (October 2025); no others are allowed."""
WORDS = {
    "status": {"Draft"},
    "tier": {"1", "2", "3"},
    "data_product_type": {"Summary statistics", "Machine learning model", "Dataset", "Synthetic data"},
    "data_product_sector": {"Technology", "Healthcare", "Education", "Government", "Energy", "Finance"},
    "variant_name": {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"},
    "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
    "release_type": {"One release", "Many releases"},
    "data_source_type": {"Static", "Dynamic"},
    "access_type": {"Interactive", "Non-interactive"},
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({"x": draw.choice(list("abc"), 50), "s": draw.choice(["m", "f"], 50), "age": range(50)})
    frame.to_csv("t.csv", index=False)


def krr(epsilon: float) -> rr.Mechanism:
    return rr.RandomizedResponse(list("abc"), epsilon=epsilon).to_mechanism()


def parsed(text: str) -> Any:
    """The subset of YAML that drafts use: objects by indentation, lists of scalars, scalars of JSON."""
    root: dict[str, Any] = {}
    stack: list[tuple[int, Any]] = [(-1, root)]
    for line in text.splitlines():
        depth, body = len(line) - len(line.lstrip()), line.strip()
        while stack[-1][0] >= depth and not body.startswith("- "):
            stack.pop()
        if body.startswith("- "):
            stack[-1][1].setdefault("list", []).append(_scalar(body[2:]))
            continue
        key, _, rest = body.partition(":")
        value: Any = _scalar(rest.strip()) if rest.strip() else {}
        stack[-1][1][key] = value
        if rest.strip() == "":
            stack.append((depth, value))
    return root


def _scalar(text: str) -> Any:
    try:
        return json.loads(text.partition("  # ")[0])
    except json.JSONDecodeError:
        return text


def objects(document: Any, name: str = "") -> Any:
    yield name, document
    for key, value in document.items():
        if isinstance(value, dict) and "list" not in value:
            yield from objects(value, key)


@pytest.mark.parametrize("strata", [False, True])
def test_a_draft_has_the_keys_and_words_of_the_registry(strata: bool) -> None:
    column = ProtectedColumn("x", {"m": krr(1), "f": krr(2)}, by="s") if strata else ProtectedColumn("x", krr(1))
    release_file("t.csv", column, "o.csv", warn=lambda _: None)
    draft = draft_registry_entry("o.csv")
    found = parsed(draft.to_yaml())
    assert found["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 2 if strata else 1}
    for name, one in objects(found):
        assert set(one) <= KEYS[name], name
        for key, value in one.items():
            assert str(value) in WORDS.get(key, {str(value)})
    basic = found["deployment"]["basic"]
    assert set(basic) == KEYS["basic"]
    assert basic["data_curators"] == {"list": [""]}
    assert "x" in basic["description"]
    assert found["deployment"]["dp_variant"]["unprotected_quantities"].startswith("Columns released unchanged: s, age.")
    assert "basic.name" in draft.open
    assert "administrative.registry_authors" in draft.open
    assert draft.to_yaml().count("# fill in") == len(draft.open)


def test_a_draft_is_honest_about_what_has_no_epsilon_and_what_came_before() -> None:
    none = rr.Mechanism.from_matrix(np.eye(3), inputs=list("abc"), outputs=list("abc"))
    release_file("t.csv", Release([ProtectedColumn("x", none)], drop=["age"]), "o.csv", force=True, warn=lambda _: None)
    found = parsed(draft_registry_entry("o.csv", model="Local").to_yaml())["deployment"]
    assert found["dp_variant"]["variant_name"] == "Custom"
    assert found["privacy_loss"]["privacy_parameters"] == {} or "epsilon" not in str(
        found["privacy_loss"]["privacy_parameters"]
    )
    assert found["deployment_model"]["model_name"] == "Local"
    release_file("t.csv", ProtectedColumn("x", krr(1)), "p.csv", force=True, warn=lambda _: None)
    found = parsed(draft_registry_entry("p.csv").to_yaml())["deployment"]
    assert found["deployment_model"]["release_type"] == "Many releases"
    assert "epsilon is infinite" in found["accounting"]["composition"]


def test_the_command_writes_a_name_that_the_registry_takes(capsys: pytest.CaptureFixture[str]) -> None:
    release_file("t.csv", ProtectedColumn("x", krr(1)), "o.csv")
    assert main(["registry", "o.csv", "-o", "our_survey.yaml"]) == 0
    assert "to fill in" in capsys.readouterr().out
    assert parsed(Path("our_survey.yaml").read_text(encoding="utf-8"))["tier"] == 3
    assert main(["registry", "o.csv", "--local"]) == 0
    assert "Local" in capsys.readouterr().out
    assert main(["registry", "o.csv", "-o", "Our-Survey.yaml"]) == 2
    assert not Path("Our-Survey.yaml").exists()
    with pytest.raises(Unreadable):
        draft_registry_entry("o.csv").save("a.yml")
    with pytest.raises(Missing):
        draft_registry_entry("t.csv")
    Path("o.csv").write_text("x\na\n", encoding="utf-8")
    with pytest.raises(Unreadable):
        draft_registry_entry("o.csv")
