"""Tables and files in, protected tables and files out."""

from typing import TYPE_CHECKING, Any

from rropt.release.cell_keys.counts import NoisyCounts, count_with_noise
from rropt.release.cell_keys.design import PerturbationTable, load_perturbation_table
from rropt.release.estimating import estimate_file
from rropt.release.facade import (
    counts_of,
    plan_release,
    preview_file,
    release_file,
    release_folder,
    release_table,
    table_of,
)
from rropt.release.plans.cross import CrossClassification
from rropt.release.plans.plan import ProtectedColumn, Release
from rropt.release.plans.privacy import Privacy as Privacy, privacy_of as privacy_of
from rropt.release.plans.provenance import load_design as load_design, load_mechanism as load_mechanism
from rropt.release.plans.reading import ReleaseFile as ReleaseFile, load_release
from rropt.release.precision import Precision as Precision
from rropt.release.preview import Preview as Preview
from rropt.release.registry import RegistryDraft as RegistryDraft, draft_registry_entry
from rropt.release.regressing import estimate_regression
from rropt.release.scoring import Scored as Scored, ScoredColumn as ScoredColumn, score_file
from rropt.release.sheet import Sheet as Sheet, describe_release
from rropt.release.tabulating import estimate_means, estimate_shares, estimate_table

if TYPE_CHECKING:
    from rropt.release.learn import RandomizedColumn, RandomizedEncoder

__all__ = [
    "CrossClassification",
    "NoisyCounts",
    "PerturbationTable",
    "ProtectedColumn",
    "RandomizedColumn",
    "RandomizedEncoder",
    "Release",
    "count_with_noise",
    "counts_of",
    "describe_release",
    "draft_registry_entry",
    "estimate_file",
    "estimate_means",
    "estimate_regression",
    "estimate_shares",
    "estimate_table",
    "load_perturbation_table",
    "load_release",
    "plan_release",
    "preview_file",
    "release_file",
    "release_folder",
    "release_table",
    "score_file",
    "table_of",
]


# Hidden from type checkers; scikit-learn is loaded with the name that needs it.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in ("RandomizedColumn", "RandomizedEncoder"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from rropt.release import learn

        return getattr(learn, name)
