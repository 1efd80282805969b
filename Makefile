# `make check` and `make test` are all that a fresh machine needs (Python 3.11 or newer with venv and pip).
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/
INSTALLED := $(VENV)/.installed

.PHONY: check test nightly lint clean

check: $(INSTALLED)  ## install, then check the model exhaustively on the default bound
	$(RUN)foldproof check

test: $(INSTALLED)  ## install, then run linters, types and tests
	$(RUN)ruff check .
	$(RUN)ruff format --check .
	$(RUN)mypy
	$(RUN)python -m pytest -m "not nightly"

nightly: $(INSTALLED)  ## the long campaigns
	$(RUN)python -m pytest -m nightly

lint: $(INSTALLED)
	$(RUN)ruff check --fix .
	$(RUN)ruff format .

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN)pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
