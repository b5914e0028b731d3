"""column-dual of the designs: inverse_trace, inverse_determinant, inverse_eigenvalue."""

from __future__ import annotations

from typing import Any

from flint import fmpq

from .boxes import FormBoxes
from .claims import Problem
from .reading import Reader, items, keys, must
from .reals import dot, log, need, total
from .trees import FormTree
from .values import determinant


class Design:
    def __init__(self, reader: Reader, problem: Problem, proof: dict[str, Any]) -> None:
        kind = problem.kind
        by_tree = "tree" in proof
        body = ["tree"] if by_tree else ["unit", "boxes"]
        factors = ["factors"] if kind == "inverse_eigenvalue" else []
        keys(proof, ["kind", "prices", "forms", *body, *factors])
        self.problem = problem
        self.prices = items(proof["prices"], reader.rat, problem.k)

        def vectors(value: Any, count: int | None) -> list[list[fmpq]]:
            return items(value, lambda row: items(row, reader.rat, problem.k), count, least=1)

        if kind == "inverse_eigenvalue":
            self.queries = vectors(proof["factors"], None)
        else:
            self.queries = problem.utility["queries"]  # of inverse_determinant: k unit vectors, only counted
        must(len(self.queries) <= 64, "limit: J <= 64")
        self.forms = vectors(proof["forms"], len(self.queries))
        self.cover: FormTree | FormBoxes
        if by_tree:
            self.cover = FormTree(reader, problem, self.prices, self.forms, proof["tree"])
        else:
            self.cover = FormBoxes(reader, problem, self.prices, self.forms, proof["unit"], proof["boxes"])

    def check(self) -> Any:
        self.cover.check()
        found: Any = total(self.prices)
        if self.problem.kind == "inverse_determinant":
            return found - self.problem.k - 2 * log(abs(determinant(self.forms)))
        found += total(dot(query, self.problem.prior) ** 2 for query in self.queries)
        found -= 2 * total(dot(query, form) for query, form in zip(self.queries, self.forms, strict=True))
        if self.problem.kind == "inverse_eigenvalue":
            size = total(dot(query, query) for query in self.queries)
            need(size > 0, "factors of zero")
            return found / size
        return found
