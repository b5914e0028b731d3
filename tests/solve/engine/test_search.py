"""The one search over cells, with a relaxation whose every answer is known: subsets of a table of numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
import ranges
from ranges import Range

from rropt.solve.engine.search import Budget, Search, Serial


class Table(ranges.Table):
    """It remembers which cells were split together, and is asked for none that was split or is good enough."""

    def __init__(self, numbers: Sequence[float], least: int = 1, roots: int = 1) -> None:
        super().__init__(numbers, least=least, roots=roots)
        self.batches: list[list[tuple[int, int]]] = []

    def split(self, nodes: Sequence[Range], enough: float) -> list[Range]:
        assert nodes
        assert all(node.bound > enough and node.parts is None for node in nodes)
        self.batches.append([(node.first, node.last) for node in nodes])
        return super().split(nodes, enough)


class Shuffled:
    """Bounds some of the cells that it has, in any order, and takes new ones while it has few."""

    def __init__(self, relaxation: Table, seed: int) -> None:
        self.relaxation, self.random = relaxation, random.Random(seed)
        self.waiting: list[tuple[Range, float]] = []

    def room(self, search: Search[Range], enough: float) -> int:
        return self.random.randrange(3) if len(self.waiting) < 9 else 0

    def submit(self, nodes: Sequence[Range], enough: float) -> None:
        self.waiting += [(node, enough) for node in nodes]

    def drop(self) -> None:
        self.waiting = []

    def collect(self) -> list[Range]:
        self.random.shuffle(self.waiting)
        count = self.random.randint(0, len(self.waiting))
        done, self.waiting = self.waiting[:count], self.waiting[count:]
        for node, enough in done:
            self.relaxation.bound([node], enough)
        return [node for node, _ in done]


def numbers(seed: int, count: int = 60) -> list[float]:
    return [round(random.Random(seed * 1000 + i).uniform(0, 9), 2) for i in range(count)]


def covered(search: Search[Range]) -> list[int]:
    return [place for leaf in search.leaves() for place in range(leaf.first, leaf.last)]


@pytest.mark.parametrize("roots", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_answers_gives_a_valid_bound(seed: int, roots: int) -> None:
    """Also between the steps of a search that is stopped again and again, and the leaves always cover everything."""
    table = Table(numbers(seed), roots=roots)
    search, steps = Search(table, Shuffled(table, seed)), iter(range(10**6))
    assert search.bound == math.inf
    bounds = []
    for _ in range(300):
        search.run(-math.inf, Budget(stop=lambda: next(steps) % 3 == 2))
        bounds.append(search.bound)
        assert search.bound >= max(table.numbers)
        assert covered(search) == list(range(60))
    search.run(-math.inf)
    assert search.bound == max(table.numbers)
    assert len(set(bounds)) > 3
    assert search.nodes == sum(1 for root in search.roots for _ in root.nodes())


@pytest.mark.parametrize("seed", range(5))
def test_the_worst_cell_is_split_first_and_the_older_one_where_two_are_equal(seed: int) -> None:
    flat = Table([1.0] * 16)
    Search(flat).run(0.0)
    assert flat.batches[:7] == [[(0, 16)], [(0, 8)], [(8, 16)], [(0, 4)], [(4, 8)], [(8, 12)], [(12, 16)]]
    table = Table(numbers(seed))
    search = Search(table)
    search.run(-math.inf)
    # A part is never above the cell that it was cut from, so that the bounds of split cells fall.
    bounds = [table.of(Range(*cells[0])) for cells in table.batches]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == max(table.numbers), "a number that is alone cannot be split"


def test_nothing_is_split_that_is_accepted_and_what_is_accepted_may_move() -> None:
    table = Table(numbers(7))
    search, best = Search(table), sorted(numbers(7))[-5]
    search.run(best + 2.0)
    assert max(table.numbers) <= search.bound <= best + 2.0
    # To a smaller one: what was accepted is open again. The level may be asked for anew at every step.
    before = search.nodes
    levels = iter([best + 0.5] * 2 + [best + 1.5] * 1000)
    search.run(lambda: next(levels))
    assert search.nodes > before
    assert best + 0.5 < search.bound <= best + 1.5
    search.run(best + 0.5)
    assert search.bound <= best + 0.5


@pytest.mark.parametrize("batch", [1, 4, 16])
def test_a_budget_ends_a_run_and_the_next_one_goes_on(batch: int) -> None:
    whole = Table(numbers(3))
    searched = Search(whole, Serial(whole, lambda nodes: batch))
    searched.run(-math.inf)
    table = Table(numbers(3))
    search = Search(table, Serial(table, lambda nodes: batch))
    search.run(-math.inf, Budget(0))
    assert search.nodes == 1
    assert search.bound == table.of(search.roots[0]), "the roots are bounded in any case"
    for limit in (2, 3, 10, 11, 47, 1000):
        search.run(-math.inf, Budget(limit))
        assert search.nodes <= limit + 1
        assert search.nodes >= limit or search.bound == max(table.numbers)
        assert search.bound >= max(table.numbers)
    assert max(map(len, table.batches)) <= batch
    assert search.bound == searched.bound == max(table.numbers)
    stopped = Search(table)
    stopped.run(-math.inf, Budget(stop=lambda: True))
    assert stopped.nodes == 1
    assert stopped.bound >= max(table.numbers)


def test_batches_split_the_worst_cells_together_and_no_accepted_one() -> None:
    table = Table(numbers(5))
    search = Search(table, Serial(table, lambda nodes: 1 + nodes // 4))
    search.run(max(table.numbers) + 1.0)
    made = 1
    for cells in table.batches:
        assert len(cells) <= 1 + made // 4
        made += 2 * len(cells)
    assert max(map(len, table.batches)) > 3
    for cells in table.batches:
        bounds = [table.of(Range(*cell)) for cell in cells]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] > max(table.numbers) + 1.0


def test_a_cell_that_cannot_be_split_keeps_its_bound_and_ends_the_search() -> None:
    """Whatever is done below its bound is of no use."""
    table = Table([*numbers(2)[:30], 20.0, *numbers(2)[31:]], least=8)
    search = Search(table)
    search.run(-math.inf)
    worst = max(table.of(leaf) for leaf in search.leaves())
    assert search.bound == worst > 20.0
    assert any(leaf.last - leaf.first > 8 for leaf in search.leaves())
    before = search.nodes
    search.run(-math.inf)
    assert (search.nodes, search.bound) == (before, worst)


def test_empty_cells_are_never_split_and_do_not_hide_others() -> None:
    class Holed(Table):
        def of(self, node: Range) -> float:
            return -math.inf if node.first >= 30 else super().of(node)

    table = Holed(numbers(4))
    search = Search(table)
    search.run(-math.inf)
    assert search.bound == max(table.numbers[:30])
    assert all(first < 30 for cells in table.batches for first, _ in cells)
    nothing = Search(Holed([]))
    nothing.run(-math.inf)
    assert nothing.bound == -math.inf


def test_a_cell_may_ask_to_be_bounded_again_before_it_is_split() -> None:
    class Twice(Table):
        def __init__(self, numbers: Sequence[float]) -> None:
            super().__init__(numbers)
            self.closely: set[Range] = set()

        def bound(self, nodes: Sequence[Range], enough: float) -> None:
            for node in nodes:
                node.bound = self.of(node) if node in self.closely else self.of(node) + 1.0

        def split(self, nodes: Sequence[Range], enough: float) -> list[Range]:
            rough = [node for node in nodes if node not in self.closely]
            self.closely.update(rough)
            return rough + (super().split(rest, enough) if (rest := [n for n in nodes if n not in rough]) else [])

    table, plain = Twice(numbers(6)), Table(numbers(6))
    search, other = Search(table), Search(plain)
    search.run(-math.inf)
    other.run(-math.inf)
    assert search.bound == other.bound == max(table.numbers)
    assert search.nodes == sum(1 for _ in search.roots[0].nodes())


@pytest.mark.parametrize("shuffled", [False, True])
def test_other_prices_bound_every_leaf_again(shuffled: bool) -> None:
    table = Table(numbers(8))
    search = Search(table, Shuffled(table, 1) if shuffled else None)
    search.run(-math.inf, Budget(25))
    leaves = covered(search)
    table.numbers = [10.0 - number for number in numbers(8)]
    search.reprice()
    assert search.bound >= max(table.numbers)
    search.run(-math.inf, Budget(25))
    assert search.bound == max(table.of(leaf) for leaf in search.leaves())
    assert covered(search) == leaves
    search.run(-math.inf)
    assert search.bound == max(table.numbers)


def test_a_search_goes_on_from_a_tree_that_is_there() -> None:
    first, table = Search(Table(numbers(9))), Table(numbers(9))
    first.run(-math.inf, Budget(31))
    table.roots = lambda: first.roots  # type: ignore[method-assign]
    search = Search(table)
    assert search.nodes == first.nodes
    search.run(-math.inf)
    assert search.bound == max(table.numbers)


def test_cells_above_a_level_are_counted_up_to_a_number() -> None:
    table = Table(numbers(1))
    search = Search(table)
    search.run(-math.inf, Budget(15))
    for enough in (0.0, 8.0, 10.0, 20.0):
        true = sum(leaf.bound > enough for leaf in search.leaves())
        assert [search.open(enough, most) for most in (0, 3, 100)] == [0, min(true, 3), true]
