# Everything needed is Python 3.11 or newer, git and make. All work happens in .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PEERS ?= .venv-peers
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test test-oldest test-newest coverage audit lint format docs lock benchmark benchmark-accuracy benchmark-scale benchmark-beyond benchmark-missing mutants clean

demo: $(VENV)/.installed  ## cluster the bundled digits
	$(BIN)/python -m viewspan.demo

test: $(VENV)/.developed  ## all tests, doctests included
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

test-oldest: $(VENV)/.developed  ## all tests with the oldest versions that pyproject.toml allows
	$(BIN)/pip install --quiet uv
	$(PYTHON) -m venv --clear .venv-oldest
	$(BIN)/uv pip compile pyproject.toml --extra test --resolution lowest-direct --python .venv-oldest/bin/python --quiet \
		--no-header --no-emit-index-url --output-file .venv-oldest/requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-oldest/bin/python --requirement .venv-oldest/requirements.txt
	$(BIN)/uv pip install --quiet --python .venv-oldest/bin/python --no-deps --editable .
	.venv-oldest/bin/python -m pytest $(PYTEST_OPTIONS)

test-newest:  ## all tests with the newest versions that there are
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/pip install --quiet --upgrade --upgrade-strategy eager --editable '.[test]'
	.venv-newest/bin/python -m pytest $(PYTEST_OPTIONS)

coverage: $(VENV)/.developed  ## lines of src/viewspan that the tests reach
	$(BIN)/python -m pytest --cov=viewspan --cov-report=term-missing:skip-covered --cov-fail-under=95 $(PYTEST_OPTIONS)

audit:  ## known vulnerabilities of what the lock file pins
	$(PYTHON) -m venv --clear .venv-audit
	.venv-audit/bin/pip install --quiet pip-audit
	.venv-audit/bin/pip-audit --require-hashes --disable-pip --requirement requirements-dev.lock

lint: $(VENV)/.developed  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.developed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.developed  ## pages and the gallery, executed, in docs/_build/html; DOCS_OPTIONS="-D plot_gallery=0" runs no example
	MPLBACKEND=agg $(BIN)/python -m sphinx -W --keep-going $(DOCS_OPTIONS) docs docs/_build/html

lock: $(VENV)/.developed  ## renew the development lock file
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra test --extra lint --extra docs --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --upgrade --quiet --output-file requirements-dev.lock

benchmark: $(VENV)/.installed  ## ratios against the paper's algorithm; real motion sequences; threads
	cd benchmarks && ../$(BIN)/python solver.py && ../$(BIN)/python hopkins.py && ../$(BIN)/python threads.py

benchmark-accuracy: $(PEERS)/.installed  ## every method, iMML and mvlearn too, on every real set: hours
	cd benchmarks && ../$(PEERS)/bin/python accuracy.py

benchmark-scale: $(VENV)/.installed  ## up to a million samples; landmarks and unseen samples on real sets: an hour
	cd benchmarks && ../$(BIN)/python scale.py

benchmark-beyond: $(VENV)/.studies  ## strict rank one against large τ; robust fits: an hour
	cd benchmarks && ../$(BIN)/python rank_one.py && ../$(BIN)/python robust.py

benchmark-missing: $(PEERS)/.installed  ## absent samples, against zeros, predictions and iMML: hours
	cd benchmarks && ../$(PEERS)/bin/python missing.py

mutants: $(VENV)/.developed  ## change model, solvers and graph in 5300 places, one at a time, and see which tests notice: half an hour of CPU
	$(BIN)/pip install --quiet 'mutmut==3.8.*'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/mutants.py run
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/mutants.py again --most 20
	$(BIN)/python benchmarks/mutants.py report

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.studies: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[studies]'
	touch $@

$(VENV)/.developed: $(VENV)/bin/python pyproject.toml requirements-dev.lock
	$(BIN)/pip install --quiet --require-hashes --requirement requirements-dev.lock
	$(BIN)/pip install --quiet --no-deps --editable .
	touch $@ $(VENV)/.installed

# mvlearn's pins are years old, so it comes without its dependencies; iMML brings most of them.
$(PEERS)/.installed: pyproject.toml
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet imml seaborn graphviz tqdm
	$(PEERS)/bin/pip install --quiet --no-deps mvlearn
	$(PEERS)/bin/pip install --quiet --no-deps --editable .
	touch $@

clean:
	rm -rf $(VENV) $(PEERS) .venv-oldest .venv-newest .venv-audit .pytest_cache .mypy_cache .ruff_cache docs/_build docs/api docs/gallery
