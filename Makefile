# `make check` and `make test` are all that a fresh machine needs (Python 3.11 or newer with venv and pip).
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/
INSTALLED := $(VENV)/.installed

.PHONY: check test nightly coverage lint clean browser docs notebooks

check: $(INSTALLED)  ## install, then check the model exhaustively on the default bound
	$(RUN)foldproof check

test: $(INSTALLED) browser  ## install, then run linters, types and tests
	$(RUN)ruff check .
	$(RUN)ruff format --check .
	$(RUN)mypy
	$(RUN)python -m pytest -m "not nightly"

browser:  ## Chromium for the tests of the explorer's page; without it they are skipped, saying so
	@command -v chromium chromium-browser google-chrome >/dev/null || { test "$$(id -u)" = 0 \
	  && { apt-get install -y -qq --no-install-recommends chromium || \
	       { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }; } >/dev/null 2>&1; } \
	  || echo "no Chromium, and none can be installed here: the tests of the explorer's page are skipped"

nightly: $(INSTALLED)  ## the long campaigns
	$(RUN)python -m pytest -m nightly

coverage: $(INSTALLED)  ## which lines of the reference its tests reach
	$(RUN)python -m coverage run --source=foldproof/reference -m pytest -q -m "not nightly" \
	  tests/reference tests/reference_io tests/acceptance tests/stateful
	$(RUN)python -m coverage report --skip-covered --show-missing --fail-under=99

docs: $(INSTALLED)  ## the documentation as a site, in build/site; a warning is an error
	$(RUN)python -m sphinx -W --keep-going -q docs build/site

notebooks: $(INSTALLED)  ## run the notebooks' sources and store them with their outputs
	$(RUN)python notebooks/make.py

lint: $(INSTALLED)
	$(RUN)ruff check --fix .
	$(RUN)ruff format .

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN)pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
