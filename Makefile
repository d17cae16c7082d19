# Needs Python 3.11 or newer, git and make. Everything is installed into .venv, from the lock files in requirements/.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PEERS ?= .venv-peers
LOCK := requirements/development.txt
UV = $(BIN)/uv pip
INTO = --quiet --python
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export UV_LINK_MODE = copy
export UV_COMPILE_BYTECODE = 1

.PHONY: demo test test-busy test-oldest test-newest coverage audit lint format docs lock check-lock benchmark benchmark-accuracy \
	benchmark-scale benchmark-beyond benchmark-missing mutants clean

demo: $(VENV)/.installed  ## cluster the bundled digits, write the report and print where it is
	$(BIN)/viewspan demo --out viewspan-demo --force

test: $(VENV)/.developed  ## all tests, doctests included; one process for each core, each with one BLAS thread
	env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_OPTIONS)

test-busy: $(VENV)/.developed  ## the estimators' tests as users run them: no thread variable set, beside a process that never waits
	while :; do :; done & busy=$$!; trap "kill $$busy" EXIT; \
		env -u OMP_NUM_THREADS -u OPENBLAS_NUM_THREADS -u MKL_NUM_THREADS \
		$(BIN)/python -m pytest tests/estimators tests/utils/test_threads.py $(PYTEST_OPTIONS)

test-oldest: $(VENV)/.developed  ## all tests with the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-oldest
	$(UV) compile pyproject.toml --extra test --resolution lowest-direct --python .venv-oldest/bin/python --quiet \
		--no-header --no-emit-index-url --output-file .venv-oldest/requirements.txt
	$(UV) install $(INTO) .venv-oldest/bin/python --requirement .venv-oldest/requirements.txt
	$(UV) install $(INTO) .venv-oldest/bin/python --no-deps --editable .
	.venv-oldest/bin/python -m pytest $(PYTEST_OPTIONS)

test-newest: $(VENV)/.developed  ## all tests with the newest versions that there are
	$(PYTHON) -m venv --clear .venv-newest
	$(UV) install $(INTO) .venv-newest/bin/python --upgrade --editable '.[test]'
	.venv-newest/bin/python -m pytest $(PYTEST_OPTIONS)

coverage: $(VENV)/.developed  ## lines of src/viewspan that the tests reach
	$(BIN)/python -m pytest --cov=viewspan --cov-report=term-missing:skip-covered --cov-fail-under=95 $(PYTEST_OPTIONS)

audit:  ## known vulnerabilities of what the lock file pins
	$(PYTHON) -m venv --clear .venv-audit
	.venv-audit/bin/pip install --quiet pip-audit
	.venv-audit/bin/pip-audit --require-hashes --disable-pip --requirement $(LOCK)

lint: $(VENV)/.developed  ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.developed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.developed  ## pages and the gallery, executed, in docs/_build/html; DOCS_OPTIONS="-D plot_gallery=0" runs no example
	MPLBACKEND=agg $(BIN)/python -m sphinx -W --keep-going $(DOCS_OPTIONS) docs docs/_build/html

lock: $(VENV)/.developed  ## renew both lock files; LOCK_OPTIONS="--exclude-newer 2026-10-18" for those of an earlier day
	$(UV) compile pyproject.toml --extra test --extra lint --extra docs --group build --universal \
		--python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url --no-header --upgrade --quiet \
		$(LOCK_OPTIONS) --output-file $(LOCK)
	$(UV) compile requirements/uv.in --universal --python-version 3.11 --generate-hashes --no-annotate \
		--no-emit-index-url --no-header --upgrade --quiet $(LOCK_OPTIONS) --output-file requirements/uv.txt

check-lock: $(VENV)/.developed  ## fail if the lock lacks anything: a resolver run that may add nothing
	$(UV) check --python $(BIN)/python
	@changes="$$($(UV) install --dry-run --python $(BIN)/python --group build --editable '.[test,lint,docs]' 2>&1)" \
		&& echo "$$changes" && ! echo "$$changes" | grep -v viewspan | grep -E '^ [-+~] '

benchmark: $(VENV)/.installed  ## ratios against the paper's algorithm; real motion sequences; threads
	cd benchmarks && ../$(BIN)/python solver.py && ../$(BIN)/python hopkins.py && ../$(BIN)/python threads.py

benchmark-accuracy: $(PEERS)/.installed  ## every method, iMML and mvlearn too, on every real set: hours
	cd benchmarks && ../$(PEERS)/bin/python accuracy.py

benchmark-speed: $(PEERS)/.installed  ## whole fits against other packages, on real and made data: hours
	cd benchmarks && ../$(PEERS)/bin/python speed.py

benchmark-scale: $(VENV)/.installed  ## up to a million samples; landmarks and unseen samples on real sets: an hour
	cd benchmarks && ../$(BIN)/python scale.py

benchmark-beyond: $(VENV)/.developed  ## strict rank one against large τ; robust fits: an hour
	cd benchmarks && ../$(BIN)/python rank_one.py && ../$(BIN)/python robust.py

benchmark-missing: $(PEERS)/.installed  ## missing samples, against zeros, predictions and iMML: hours
	cd benchmarks && ../$(PEERS)/bin/python missing.py

mutants: $(VENV)/.developed  ## change objective, weights, solvers and graph one at a time, and count what the tests detect: half an hour of CPU
	$(UV) install $(INTO) $(BIN)/python 'mutmut==3.8.*'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/mutants.py run
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/mutants.py again --most 20
	$(BIN)/python benchmarks/mutants.py report

$(BIN)/uv: requirements/uv.txt  # any pip can install this: one pinned file without dependencies
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes --requirement requirements/uv.txt
	touch $@

$(VENV)/.installed: $(BIN)/uv pyproject.toml $(LOCK)  ## the command line, at the versions of the lock
	$(UV) install $(INTO) $(BIN)/python --constraints $(LOCK) --build-constraints $(LOCK) --editable '.[cli]'
	touch $@

$(VENV)/.developed: $(BIN)/uv pyproject.toml $(LOCK)  ## all of the lock and nothing else; no dependency is resolved
	$(UV) sync $(INTO) $(BIN)/python --require-hashes $(LOCK)
	$(UV) install $(INTO) $(BIN)/python --no-deps --build-constraints $(LOCK) --editable .
	touch $@ $(VENV)/.installed

# mvlearn's pins are years old, so it comes without its dependencies; iMML brings most of them.
$(PEERS)/.installed: $(BIN)/uv pyproject.toml
	$(PYTHON) -m venv $(PEERS)
	$(UV) install $(INTO) $(PEERS)/bin/python imml snfpy seaborn graphviz tqdm --editable .
	$(UV) install $(INTO) $(PEERS)/bin/python --no-deps mvlearn
	touch $@

clean:
	rm -rf $(VENV) $(PEERS) .venv-oldest .venv-newest .venv-audit .pytest_cache .mypy_cache .ruff_cache docs/_build docs/api docs/gallery viewspan-demo
