# What a user runs: `make demo`, `make test`. What a developer runs besides: see CONTRIBUTING.md.
# Needs Python 3.11 or newer and make (pip builds pycddlib-standalone, with a C compiler); everything else goes into .venv by pip.

VENV := .venv
BIN := $(VENV)/bin
OUT := out/demo

# Another interpreter: make PYTHON=/path/to/python3.12 demo
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11 python3.14 python,$(if \
  $(shell $(p) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(p))))

PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet
# The pinned versions. In a new checkout, or after `make clean`: make CONSTRAINTS=constraints-lowest.txt test takes the
# lowest that pyproject.toml allows, make CONSTRAINTS= test the newest.
CONSTRAINTS ?= constraints.txt
# The builds of packages are pinned too; old and new pips read one variable each. The name is relative, as every path
# here is: pip splits these variables, and make its targets, at spaces, which the path of a checkout may have.
export PIP_CONSTRAINT := $(CONSTRAINTS)
export PIP_BUILD_CONSTRAINT := $(CONSTRAINTS)

SOURCES = pyproject.toml setup.py $(CONSTRAINTS)

# Some hundred tests start rropt in a process of its own: bytecode is compiled once, not in each of them.
unexport PYTHONDONTWRITEBYTECODE

# Tests run in one process per core, each with one thread of linear algebra; make TESTS= test runs them in one process,
# make THREADS=2 test gives each two threads. The other environments in which they must pass are in .ci/run.
TESTS ?= -n auto --dist worksteal
THREADS ?= 1
PYTEST = OPENBLAS_NUM_THREADS=$(THREADS) OMP_NUM_THREADS=$(THREADS) $(1)/bin/python -m pytest -q $(TESTS)

# The verified core: needs ocaml, ocamlfind and zarith (Debian: ocaml ocaml-findlib libzarith-ocaml-dev).
CORE = proofs/build
core: $(CORE)/rropt-core

$(CORE)/rropt-core: proofs/core/core.mli proofs/core/core.ml proofs/core/sha256.ml proofs/core/driver.ml
	mkdir -p $(CORE)
	cp $^ $(CORE)
	cd $(CORE) && ocamlfind ocamlopt -w -a -package zarith -linkpkg -inline 100 core.mli core.ml sha256.ml driver.ml -o rropt-core

# The same as JavaScript, for node (Debian: js-of-ocaml).
core-js: $(CORE)/rropt-core.js

$(CORE)/rropt-core.js: $(CORE)/rropt-core proofs/core/zarith.js
	cd $(CORE) && ocamlfind ocamlc -w -a -package zarith -linkpkg core.mli core.ml sha256.ml driver.ml -o rropt-core.byte
	cd $(CORE) && js_of_ocaml ../core/zarith.js rropt-core.byte -o rropt-core.js

# Checks the proofs again (Debian: coq), and that what is committed is what they give: axioms and extracted program.
THEORIES = Problem Log Convex Kernel Lists Rules Sound Main Witness Entropy Minorant Lift Conf Parts Divergence Rows Labels Corners Designs BlockCorners Blocks Rays RayDesigns
proofs: core
	! grep -nE "Admitted|Axiom|Parameter|admit" proofs/coq/*.v
	rm -rf $(CORE)/coq && mkdir -p $(CORE)/coq && cp proofs/coq/*.v $(CORE)/coq
	cd $(CORE)/coq && for one in $(THEORIES) Extract; do coqc $$one.v || exit 1; done
	cd $(CORE)/coq && coqc Assumptions.v > axioms.txt && cmp axioms.txt ../../coq/axioms.txt
	cmp $(CORE)/coq/core.ml proofs/core/core.ml && cmp $(CORE)/coq/core.mli proofs/core/core.mli
	cd $(CORE)/coq && coqchk -silent -R . "" Labels Designs Blocks Rays RayDesigns

# The integers of the extracted program against Coq's, on 10^5 pairs; some minutes, after `make proofs`.
trials:
	cd $(CORE)/coq && coqc Trial.v > said.txt && cat said.txt
	cd $(CORE)/coq && echo 'let n = Big_int_Z.big_int_of_int in print_endline ("     = " ^' > print.ml
	cd $(CORE)/coq && echo 'Big_int_Z.string_of_big_int (Trial.trial Trial.rounds (n 1) (n 0))); print_endline "     : Z"' >> print.ml
	cd $(CORE)/coq && ocamlfind ocamlopt -w -a -package zarith -linkpkg trial.mli trial.ml print.ml -o trial && ./trial | cmp - said.txt

.PHONY: core core-js proofs trials
.PHONY: demo test slow long test-all check campaign test-exact coverage mutation bench soak same support web docs lint format types wheel clean

# The people are synthetic and drawn anew each time, with a seed: so the accountant of an earlier demo is thrown away.
demo: $(VENV)/.installed
	rm -rf $(OUT)
	$(BIN)/rropt models records adult-frequencies --column education --insecure-seed 1 -o $(OUT)/people.csv
	$(BIN)/rropt solve adult-frequencies --data $(OUT)/people.csv --column education --out $(OUT)/design
	$(BIN)/rropt check $(OUT)/design/certificate.json
	$(BIN)/rropt apply $(OUT)/design $(OUT)/people.csv --column education -o $(OUT)/protected.csv
	$(BIN)/rropt estimate $(OUT)/design $(OUT)/protected.csv --column education --truth $(OUT)/people.csv \
	  --plot $(OUT)/education.svg

test: $(VENV)/.installed-test
	$(call PYTEST,$(VENV)) -m "not slow and not long and not exact"

# The few tests that take most of the time: those of tests/slow.txt.
slow: $(VENV)/.installed-test
	$(call PYTEST,$(VENV)) -m "slow and not long and not exact"

# `make types` has run the whole of test_typed.py.
long: $(VENV)/.installed-dev
	$(call PYTEST,$(VENV)) -m "long and not campaign and not exact" --ignore=tests/test_typed.py

test-all: lint types test slow long

check: coverage test-all

# More seeds and more draws of laws that the other tests take a sample of.
campaign: $(VENV)/.installed-dev
	$(call PYTEST,$(VENV)) -m "campaign and not exact"

# Of the files that are believed, by their own tests: every branch is run, or this fails.
BELIEVED = rropt/checker.py,rropt/exact.py
COVER = OPENBLAS_NUM_THREADS=$(THREADS) OMP_NUM_THREADS=$(THREADS) $(BIN)/python -m coverage run --branch \
  --parallel-mode --include=$(BELIEVED) -m pytest -q -p no:xdist -m "not long and not exact"
# Two parts that take about as long.
COVERED_FIRST = $(wildcard tests/checker/test_checker.py tests/checker/test_checker_ap*.py tests/checker/test_checker_[c-m]*.py)
COVERED_SECOND = $(wildcard tests/checker/test_checker_[bn-z]*.py tests/mechanisms/test_exact.py)
coverage: $(VENV)/.installed-dev
	$(BIN)/python -m coverage erase
	$(COVER) $(COVERED_FIRST) & one=$$!; $(COVER) $(COVERED_SECOND) || exit 1; wait $$one
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --show-missing --fail-under=100

# Changes every condition of the checker, one at a time, and says which changes no test notices; an hour and forty minutes.
mutation: $(VENV)/.installed-dev
	$(BIN)/python tests/mutation.py $(MUTATION)

# Writes docs/benchmarks.md, in some ten minutes; BENCH=--full takes an hour, BENCH="gain frontier" prints.
bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks $(BENCH)

# Solves fresh problems of every kind, drawn by today's date, and says which are not certified; SOAK="ldp --count 30".
soak: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.soak $(SOAK)

# Whether the answers are those of an earlier revision: a sample of ten minutes; SAME=--all takes hours.
same: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.same $(SAME)

# Writes docs/support.json and docs/support.md: every objective with every constraint, solved again, in an hour.
support: $(VENV)/.installed-dev
	$(BIN)/python docs/tools/support_page.py
	$(BIN)/python docs/tools/support_page.py --leakage

# The pages of web/ with the data and the verified core that they show, into out/web.
web: $(VENV)/.installed $(CORE)/rropt-core.js
	$(BIN)/python docs/tools/web_pages.py

# The documentation site, into out/site, with these pages; a warning is an error.
docs: $(VENV)/.installed-dev web
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache

types: $(VENV)/.installed-dev
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_typed.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

# cdd.gmp is built here, from source: needs the headers of cddlib and GMP (libcdd-dev, libgmp-dev).
test-exact: $(VENV)-exact/.installed
	$(call PYTEST,$(VENV)-exact) -m exact

wheel: $(VENV)/.installed-dev
	rm -rf build dist
	$(BIN)/python -m build --outdir dist .

clean:
	rm -rf build dist out *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf $(VENV) $(VENV)-exact
	find rropt models tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment is made afresh whenever the interpreter's name is known and its folder is not there; a stamp
# that is older than the files below installs again into the same folder, which pip does in a second.
define new-venv
	@test -n "$(PYTHON)" || { echo "rropt needs Python 3.11 or newer and found none; install one, or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D) || { rm -rf $(@D); echo "cannot make $(@D): does $(PYTHON) have the modules venv and ensurepip (Debian: python3-venv)?" >&2; exit 1; }
endef

$(VENV)/.installed: $(SOURCES)
	$(new-venv)
	$(PIP) install -e ".[tables]"
	@touch $@

# What the tests need and nothing else; a test that needs more is skipped and says so.
$(VENV)/.installed-test: $(VENV)/.installed
	$(PIP) install -e ".[test]"
	@touch $@

# Tools for lint, types, builds and the pages besides.
$(VENV)/.installed-dev: $(VENV)/.installed-test
	$(PIP) install -e ".[dev]"
	@touch $@

# pycddlib brings cdd and cdd.gmp and goes in last, over pycddlib-standalone's cdd, so that both halves match.
$(VENV)-exact/.installed: BIN = $(VENV)-exact/bin
$(VENV)-exact/.installed: $(SOURCES)
	$(new-venv)
	$(PIP) install -e ".[exact]" pytest pytest-xdist hypothesis
	$(PIP) install --force-reinstall --no-deps pycddlib
	$(BIN)/python -c "import cdd.gmp"
	@touch $@
