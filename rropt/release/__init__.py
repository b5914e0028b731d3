"""Tables and files in, protected tables and files out."""

from rropt.release.cross import CrossClassification
from rropt.release.estimating import estimate_file
from rropt.release.facade import counts_of, release_file, release_folder, release_table, table_of
from rropt.release.plan import ProtectedColumn, Release
from rropt.release.privacy import Privacy, privacy_of
from rropt.release.provenance import load_design, load_mechanism
from rropt.release.reading import ReleaseFile, load_release

__all__ = [
    "CrossClassification",
    "Privacy",
    "ProtectedColumn",
    "Release",
    "ReleaseFile",
    "counts_of",
    "estimate_file",
    "load_design",
    "load_mechanism",
    "load_release",
    "privacy_of",
    "release_file",
    "release_folder",
    "release_table",
    "table_of",
]
