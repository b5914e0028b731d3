"""The declaration of a release, and its consequences: plans, strata, privacy, manifests, the origin of a design."""
