"""The findings of `rr.audit_sampler` in other packages: `python -m benchmarks.peers.audits`.

Each has an environment of its own. It prints one line per sampler: what is claimed, what is shown by trials, and the least
epsilon that so many would detect.
"""

from __future__ import annotations

import rropt as rr
from benchmarks.peers.ask import BESIDES, Missing, Peer, sampler

EPSILONS = (1, 2)
SIZE, LARGER = 4, {"SS": 8}
"""Categories; subset selection has sets of one below eight."""
DRAWS = 100_000


def audited(peer: Peer, mechanism: str, epsilon: int) -> str:
    """One line."""
    size = LARGER.get(mechanism, SIZE)
    task = {"package": peer.name, "mechanism": mechanism, "size": size, "epsilon": epsilon, "count": DRAWS}
    try:
        answer = peer.ask(task)
    except Missing as reason:
        return f"{peer.name}, {mechanism}, epsilon {epsilon}: {reason}"
    found = rr.audit_sampler([(code, tuple(output)) for code, output in answer["pairs"]], epsilon)
    verdict = "REJECTED" if found.rejected else "not rejected"
    shown = f"epsilon at least {found.epsilon:.4f}, delta at least {found.delta:.4f}"
    least = f"detects from {found.detectable:.4f}"
    case = f"{peer.name} {answer['version']}, {mechanism}, {size} categories, epsilon {epsilon}"
    return f"{case}: {verdict}: {shown}; {least}"


def main() -> None:
    """Audit every sampler."""
    for peer in map(sampler, BESIDES):
        try:
            names = peer.ask({"package": peer.name, "size": SIZE, "epsilon": 1, "list": True})["mechanisms"]
        except Missing as reason:
            print(f"{peer.name}: {reason}")
            continue
        for mechanism in names:
            for epsilon in EPSILONS:
                print(audited(peer, mechanism, epsilon), flush=True)


if __name__ == "__main__":
    main()
