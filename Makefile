# Everything needed is Python 3.11 or newer, git and make. All work happens in .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PEERS ?= .venv-peers
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test lint format docs lock benchmark benchmark-accuracy benchmark-scale benchmark-beyond benchmark-missing clean

demo: $(VENV)/.installed  ## cluster the bundled digits
	$(BIN)/python -m viewspan.demo

test: $(VENV)/.developed  ## all tests, doctests included
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

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
	rm -rf $(VENV) $(PEERS) .pytest_cache .mypy_cache .ruff_cache docs/_build docs/api docs/gallery
