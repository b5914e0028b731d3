"""Claims about mechanisms that are judged with a proof; the shipped papers are in `rropt.models.claims`."""

from rropt.studies.own_claims import own_claims, read_claim, verify_claim

__all__ = ["own_claims", "read_claim", "verify_claim"]
