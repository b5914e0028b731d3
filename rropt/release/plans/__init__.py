"""What a release declares, and what follows from that: plans, strata, privacy, manifests, the origin of a design."""
