"""What `rr.audit_sampler` finds in other packages: `python -m benchmarks.peers.audits`.

Each has an environment of its own. It prints a line a mechanism: what is claimed, what is shown by trials, and the
least epsilon that so many would detect.
"""

from __future__ import annotations

import rropt as rr
from benchmarks.peers.ask import MULTI_FREQ_LDPY, OPENDP, PURE_LDP, Missing, Peer

EPSILON = 1
CASES: tuple[tuple[Peer, str, int, int], ...] = (
    (MULTI_FREQ_LDPY, "randomised response", 4, 200_000),
    (PURE_LDP, "randomised response", 4, 200_000),
    (OPENDP, "randomised response", 4, 200_000),
    (MULTI_FREQ_LDPY, "subset selection", 8, 80_000),
)
"""(package, mechanism, categories, draws)."""


def main() -> None:
    """Audit every case."""
    for peer, mechanism, size, count in CASES:
        task = {"task": "pairs", "package": peer.name, "size": size, "epsilon": EPSILON, "count": count}
        try:
            answer = peer.ask(task | {"mechanism": mechanism})
        except Missing as reason:
            print(f"{peer.name}, {mechanism}: {reason}")
            continue
        found = rr.audit_sampler([(code, output) for code, output in answer["pairs"]], EPSILON)
        verdict = "REJECTED" if found.rejected else "not rejected"
        shown = f"epsilon at least {found.epsilon:.4f}, delta at least {found.delta:.4f}"
        least = f"detects from {found.detectable:.4f}"
        print(
            f"{peer.name} {answer['version']}, {mechanism}, {size} categories: {verdict}: {shown}; {least}", flush=True
        )


if __name__ == "__main__":
    main()
