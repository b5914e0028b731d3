"""Privacy between some inputs more than others: metric privacy, policy graphs, maximal robust LDP."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rropt.declare.constraint import AtLevel, Constraint
from rropt.errors import Conflict, InputError, Missing, OutOfRange, WrongType, counted, shown
from rropt.exact import common_denominator, declared_text, exp_enclosure, rational, rational_table
from rropt.io.arguments import checked
from rropt.io.counts import Numbers, Table, bounded, is_collection
from rropt.io.extras import need
from rropt.io.types import Label, Matrix, Number
from rropt.mechanisms.mechanism import Mechanism
from rropt.model.prior import Pairs, clean_labels
from rropt.model.privacy import LARGEST_EPSILON, Level, declared_number, level_numbers
from rropt.model.redundant_edges import implied_edges
from rropt.program.cones import Cone, GraphCone

if TYPE_CHECKING:
    import networkx as nx

Weighted = tuple[str, str, Fraction]


def _some(labels: Iterable[str]) -> str:
    listed = list(labels)
    return ", ".join(listed[:6]) + (", ..." if len(listed) > 6 else "")


def weight_of(number: object, where: str) -> Fraction | None:
    """A distance > 0, or None where it is infinite (no bound at all)."""
    if isinstance(number, (float, np.floating, Decimal)) and math.isinf(number) and number > 0:
        return None
    value = rational(number, where)
    if value <= 0:
        raise OutOfRange(
            f"it is {number}, not above 0",
            where,
            "distances must be positive; merge inputs that need no protection from each other",
        )
    return value


class _Weights(dict[tuple[type, object], Fraction]):
    """The weights of edges that were read: a graph of half a million edges has few different ones."""

    def of(self, number: object, a: object, b: object) -> Fraction:
        """The weight of the edge from a to b, > 0. Raises InputError."""
        kind = type(number)
        if kind in (int, float, str) and (found := self.get((kind, number))) is not None:
            return found
        where = f"weight of the edge {a!r}, {b!r}"
        weight = weight_of(number, where)
        if weight is None:
            raise OutOfRange("it is infinite", where, "leave the edge out")
        if kind in (int, float, str):
            self[kind, number] = weight
        return weight


@checked
@dataclass(frozen=True, init=False)
class MetricDP(Constraint):
    """Metric privacy: Q[x, y] <= exp(epsilon d(x, z)) Q[z, y] for all x, z, y.

    `graph` states how far inputs are apart: a networkx graph over the input labels (edge attribute "weight", default 1;
    d is the length of a shortest path, directed in a directed graph), a k x k matrix of distances in the order of the
    inputs (infinity where a pair is not protected; the shortest paths count), or a list of edges (a, b) or
    (a, b, weight). An unweighted graph is a policy graph: neighbours are protected at epsilon. `epsilon` is in nats per
    unit of distance; with 0, inputs that a path connects get equal rows. Inputs that no path connects are refused
    unless `connected` is False.

    Source: Chatzikokolakis et al. 2013; He, Machanavajjhala, Ding 2014 (policy graphs). Raises InputError.

        >>> import rropt as rr
        >>> rule = rr.MetricDP([("never", "seldom"), ("seldom", "often")], 1)
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=["never", "seldom", "often"])
        >>> round(problem.solve().value, 3)
        1.924
    """

    kind: ClassVar[str] = "metric_dp"

    epsilon: Fraction
    edges: tuple[Weighted, ...]
    matrix: tuple[tuple[Fraction | None, ...], ...]
    connected: bool

    def __init__(
        self,
        graph: nx.Graph | Iterable[Sequence[Any]] | Matrix,
        epsilon: Number = 1.0,
        *,
        connected: bool = True,
    ) -> None:
        nx = need("networkx")

        value = rational(epsilon, "MetricDP epsilon")
        if value < 0:
            raise OutOfRange(f"it is {epsilon}, below 0", "MetricDP epsilon", "try 1.0")
        if not isinstance(connected, bool):
            raise OutOfRange("it is neither true nor false", "MetricDP connected", "write connected = true")
        edges: Iterable[Weighted] = ()
        matrix: tuple[tuple[Fraction | None, ...], ...] = ()
        if isinstance(graph, nx.Graph):
            edges = _graph_edges(graph)
        elif _is_matrix(graph):
            read = Table.read(graph, "MetricDP distances")
            if read.row_keys is not None or read.column_keys is not None:
                edges = _labelled_edges(read)
            else:
                matrix = _distances(read.rows)
        else:
            edges = _listed_edges(graph)
        object.__setattr__(self, "epsilon", value)
        shortest: dict[tuple[str, str], Fraction] = {}
        for a, b, d in edges:
            known = shortest.get((a, b))
            if known is None or d < known:
                shortest[a, b] = d
        # To look each edge up again takes as long as to sort them.
        ranked = sorted(shortest.items(), key=itemgetter(0))
        object.__setattr__(self, "edges", tuple((a, b, d) for (a, b), d in ranked))
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "connected", connected)

    def _number(self, inputs: tuple[str, ...]) -> dict[tuple[int, int], Fraction]:
        """Distance of each directed edge between numbered inputs."""
        if self.matrix:
            if len(self.matrix) != len(inputs):
                raise Conflict(
                    f"its matrix is {len(self.matrix)} x {len(self.matrix)}",
                    "MetricDP",
                    f"there are {counted(len(inputs), 'inputs')}",
                )
            found = {
                (x, z): d for x, row in enumerate(self.matrix) for z, d in enumerate(row) if x != z and d is not None
            }
        else:
            number = {label: x for x, label in enumerate(inputs)}
            named = dict.fromkeys(label for a, b, _ in self.edges for label in (a, b))
            if strange := [label for label in named if label not in number]:
                raise WrongType(
                    f"its graph has labels that are not inputs: {_some(strange)}", "MetricDP", "rename them"
                )
            if missing := [label for label in inputs if label not in named]:
                raise Missing(f"its graph misses the inputs: {_some(missing)}", "MetricDP", "add edges to them")
            found = {(number[a], number[b]): d for a, b, d in self.edges}
        return found

    def _reduce(self, inputs: tuple[str, ...]) -> dict[tuple[int, int], Fraction]:
        """The edges without those that a path of others implies."""
        nx = need("networkx")

        found = self._number(inputs)
        size = len(inputs)
        graph = nx.DiGraph()
        graph.add_nodes_from(range(size))
        graph.add_edges_from(found)
        if self.connected and not nx.is_strongly_connected(graph):
            parts = sorted(nx.strongly_connected_components(graph), key=min)
            apart = "; ".join(f"{_some(inputs[x] for x in sorted(part))}" for part in parts[:3])
            raise InputError(
                f"no path of its graph connects all inputs: they fall into {counted(len(parts), 'parts')} ({apart})",
                "MetricDP",
                "add edges, or pass connected=False where the parts need no protection from each other",
            )
        unit = common_denominator(found.values())
        whole = {edge: int(d * unit) for edge, d in found.items()}
        return {edge: found[edge] for edge in found.keys() - implied_edges(size, whole)}

    def violation(self, mechanism: Mechanism) -> Fraction:
        """The largest excess over an edge: what holds along all edges holds along all paths."""
        worst = Fraction(-1)
        outputs = range(len(mechanism.outputs))
        table = [[mechanism.entry(x, y) for y in outputs] for x in range(len(mechanism.inputs))]
        whole = math.lcm(*(entry.denominator for row in table for entry in row))
        rows = [[int(entry * whole) for entry in row] for row in table]
        ratios: dict[Fraction, Fraction] = {}
        for (x, z), d in self._number(mechanism.inputs).items():
            ratio = ratios.get(d) or ratios.setdefault(d, exp_enclosure(self.epsilon * d).lower)
            a, b = ratio.numerator, ratio.denominator
            most = max(b * own - a * other for own, other in zip(rows[x], rows[z], strict=True))
            worst = max(worst, Fraction(most, b * whole))
        return worst

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        edges = []
        for (x, z), d in sorted(self._reduce(inputs).items()):
            exponent = self.epsilon * d
            if exponent > LARGEST_EPSILON:
                raise OutOfRange(
                    f"epsilon times the distance of {inputs[x]!r} and {inputs[z]!r} is above {LARGEST_EPSILON}",
                    "MetricDP",
                    "lower epsilon or the distance, or leave the pair out: such a bound does not protect it",
                )
            edges.append((x, z, exponent))
        return GraphCone(len(inputs), tuple(edges))

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {"epsilon": self.epsilon}
        if self.matrix:
            # In TOML infinity is a float.
            keys["distances"] = [[math.inf if d is None else d for d in row] for row in self.matrix]
        else:
            keys["graph"] = [[a, b, d] for a, b, d in self.edges]
            keys["directed"] = True
        return keys | ({} if self.connected else {"connected": False})

    @classmethod
    def from_keys(
        cls,
        epsilon: Number = 1,
        *,
        distances: Matrix | None = None,
        graph: Iterable[Sequence[Any]] | None = None,
        directed: bool = False,
        connected: bool = True,
    ) -> MetricDP:
        """The constraint of a problem file: `distances` (k x k) or `graph` (edges, both ways unless `directed`)."""
        nx = need("networkx")

        if (distances is None) == (graph is None):
            raise Conflict("give either distances or graph", "metric_dp", 'as graph = [["low", "high"]]')
        if not isinstance(directed, bool) or not isinstance(connected, bool):
            raise WrongType("directed and connected are true or false", "metric_dp", "write connected = true")
        if distances is not None:
            if not _is_matrix(distances):
                raise WrongType("distances is not a matrix", "metric_dp", "give k rows of k numbers")
            return cls(distances, epsilon=epsilon, connected=connected)
        made = nx.DiGraph() if directed else nx.Graph()
        for a, b, d in _listed_edges(graph, both=False):
            made.add_edge(a, b, weight=d)
        return cls(made, epsilon=epsilon, connected=connected)

    def describe(self) -> str:
        return f"metric privacy at epsilon {declared_text(self.epsilon)} per unit of distance"


def _is_matrix(graph: object) -> bool:
    """Whether distances are given as a table, and not as edges."""
    if isinstance(graph, (np.ndarray, Mapping)) or hasattr(graph, "columns"):
        return True
    return (
        isinstance(graph, Sequence)
        and not isinstance(graph, str)
        and bool(graph)
        and all(isinstance(row, (Sequence, np.ndarray)) and not isinstance(row, str) for row in graph)
        and all(len(row) == len(graph) for row in graph)
        # Two or three edges between numbered inputs have the shape of a matrix too; their diagonal distinguishes the
        # difference.
        and all(row[x] == 0 for x, row in enumerate(graph))
    )


def _labelled_edges(table: Table) -> list[Weighted]:
    """The finite distances of a table whose rows and columns have the same labels, as edges."""
    names = table.row_names("MetricDP distances")
    if names is None or table.column_keys is None:
        raise Conflict("only one axis has labels", "MetricDP distances", "give both the same labels")
    # In the order in which the edges are kept: to sort a million of them takes longer than to read them.
    order = sorted(names)
    rows = _distances(table.of(order, order, "MetricDP distances"))
    return [
        (a, b, d)
        for x, (a, row) in enumerate(zip(order, rows, strict=True))
        for z, (b, d) in enumerate(zip(order, row, strict=True))
        if x != z and d is not None
    ]


def _distances(rows: Sequence[Sequence[object]]) -> tuple[tuple[Fraction | None, ...], ...]:
    if len(rows) < 2 or len(rows[0]) != len(rows):
        raise WrongType(
            "its distances are not a square matrix of 2 inputs or more", "MetricDP", "give k rows of k numbers"
        )
    for x, row in enumerate(rows):
        if rational(row[x], f"distances[{x}][{x}]") != 0:
            raise OutOfRange("the distance of an input to itself is not 0", f"distances[{x}][{x}]", "write 0")
    others = rational_table(([*row[:x], 1, *row[x + 1 :]] for x, row in enumerate(rows)), "distances", weight_of)
    return tuple((*row[:x], Fraction(0), *row[x + 1 :]) for x, row in enumerate(others))


def _graph_edges(graph: nx.Graph) -> Iterator[Weighted]:
    """Both directions of each edge of a graph, the given one of a digraph."""
    names = dict(zip(graph.nodes, clean_labels([_plain(node) for node in graph.nodes], "MetricDP graph"), strict=True))
    weights, both = _Weights(), not graph.is_directed()
    for a, b, number in graph.edges(data="weight", default=1):
        if a == b:
            raise InputError(f"it has an edge from {a!r} to itself", "MetricDP graph", "leave it out")
        weight = weights.of(number, a, b)
        yield names[a], names[b], weight
        if both:
            yield names[b], names[a], weight
    if not graph.number_of_edges():
        raise Missing("it has no edges", "MetricDP graph", "connect the inputs")


def _plain(node: object) -> object:
    return str(node) if isinstance(node, (tuple, float)) else node


def _listed_edges(graph: object, both: bool = True) -> Iterator[Weighted]:
    if not isinstance(graph, Iterable) or isinstance(graph, (str, Mapping)):
        raise WrongType(f"{shown(graph)} is not a graph", "MetricDP", "give a graph, a distance matrix or edges")
    seen, weights = False, _Weights()
    names: dict[str | int, str] = {}
    for edge in bounded(graph, "MetricDP graph"):
        # Abstract classes are slow to test, and most edges are tuples or lists.
        listed = type(edge) in (tuple, list) or (isinstance(edge, Sequence) and not isinstance(edge, str))
        if not listed or len(edge) not in (2, 3):
            raise WrongType(f"{shown(edge)} is not an edge", "MetricDP", "write (a, b) or (a, b, weight)")
        a, b = edge[:2]
        short = type(a) in (str, int) and type(b) in (str, int)
        if short and a != b and a in names and b in names and names[a] != names[b]:
            a, b = names[a], names[b]
        else:
            a, b = clean_labels(edge[:2], "edge of MetricDP", 2)
            if short:
                names |= {edge[0]: a, edge[1]: b}
        weight = weights.of(edge[2] if len(edge) == 3 else 1, a, b)
        seen = True
        yield a, b, weight
        if both:
            yield b, a, weight
    if not seen:
        raise Missing("it has no edges", "MetricDP graph", "connect the inputs")


@checked
@dataclass(frozen=True, init=False)
class MaximalRLDP(AtLevel):
    """Robust LDP over all distributions: Q[x, y] <= exp(epsilon) Q[z, y] if x and z have different sensitive values.

    `groups` names the sensitive value of each of the k inputs, by label or in their order, or is the `Pairs` that the
    inputs are. Inputs that share it protect each other through a third one at 2 epsilon. Declare `epsilon` in [0, 20]
    or the ratio `gamma`. Raises InputError.
    Source: lopuhaa section II (F all distributions).

        >>> import rropt as rr
        >>> rule = rr.MaximalRLDP(1, groups=["f", "f", "m", "m"])
        >>> problem = rr.Problem(rr.Maximize(rr.Trace()), [rule], inputs=["fa", "fb", "ma", "mb"])
        >>> problem.solve().value > rr.Problem(rr.Maximize(rr.Trace()), [rr.LDP(1)], inputs=problem.inputs).solve().value
        True
    """

    kind: ClassVar[str] = "maximal_rldp"

    level: Level
    groups: tuple[str, ...]
    labels: tuple[str, ...] | None

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        groups: Sequence[Label] | Pairs | None = None,
        gamma: Number | None = None,
    ) -> None:
        level = Level.or_secrecy(**level_numbers(epsilon, gamma, "MaximalRLDP"))
        if isinstance(groups, Pairs):
            groups = groups.groups
        where = "MaximalRLDP groups"
        if groups is None or not is_collection(groups):
            raise WrongType("groups is not a list", where, "name the sensitive value of each input, in their order")
        read = Numbers.read(groups, where)
        names = tuple(clean_labels([group], where)[0] for group in read.values)
        if len(set(names)) < 2:
            raise InputError("all inputs share one sensitive value", "MaximalRLDP groups", "give at least two values")
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "groups", names)
        object.__setattr__(self, "labels", read.names(where))

    def _check(self, inputs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(Numbers(list(self.groups), self.labels).of(inputs, "MaximalRLDP groups"))

    def violation(self, mechanism: Mechanism) -> Fraction:
        groups = self._check(mechanism.inputs)
        limit = self.level.ratio.lower
        worst = Fraction(-1)
        for y in range(len(mechanism.outputs)):
            column = mechanism.column(y)
            for x, value in enumerate(column):
                least = min(other for other, group in zip(column, groups, strict=True) if group != groups[x])
                worst = max(worst, value - limit * least)
        return worst

    def cone(self, inputs: tuple[str, ...]) -> Cone | None:
        groups = self._check(inputs)
        unit, number = declared_number(self.level)
        edges = tuple((x, z, number) for x in range(len(inputs)) for z in range(len(inputs)) if groups[x] != groups[z])
        return GraphCone(len(inputs), edges, unit)

    def keys(self) -> dict[str, object]:
        word, number = declared_number(self.level)
        return {
            word: number,
            "groups": list(self.groups) if self.labels is None else dict(zip(self.labels, self.groups, strict=True)),
        }

    def describe(self) -> str:
        return f"robust LDP over all distributions at {self.level}"
