# Every target works from a clean checkout: it needs python3 (3.11 or later, with venv and pip) and a
# package index, and nothing that is already installed.
#
#   make run        the first examples
#   make test       linter, formatter and tests, without the slow ones
#   make test-all   the same with the slow ones, under every supported Python that is on PATH
#   make bench      the benchmarks, against the peers; those of every function by itself take longer:
#                   make bench BENCHMARK=rule_costs.py
#   make clean      remove what the other targets made
#
# PYTHON=python3.12 make test   chooses the interpreter.

PYTHON ?= python3
SUPPORTED := 3.11 3.12 3.13 3.14
VENV := .venv
SELECTION := -m "not slow"
BENCHMARK := run.py

# The outcome depends on the checkout and its virtual environment alone.
export PYTHONNOUSERSITE := 1
unexport PYTHONHOME PYTHONOPTIMIZE PYTHONPATH PYTHONWARNINGS PYTEST_ADDOPTS PYTEST_PLUGINS

# Stamps live in the environment and go with it. One carries the interpreter's name, so that choosing
# another interpreter makes the environment anew.
MADE := $(VENV)/.made-with-$(subst /,-,$(PYTHON))
INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: run test test-all bench bench-installed clean

run: $(VENV)/.installed
	$(VENV)/bin/python examples/td0.py
	$(VENV)/bin/python examples/mlp.py

test: $(VENV)/.installed-test
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/pytest -n auto $(SELECTION)

# A name on PATH may be a stub that runs nothing, so each interpreter is asked for its version.
test-all:
	@passed= failed= missing=; \
	for version in $(SUPPORTED); do \
	    ask="import ensurepip, sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$$version')"; \
	    if ! python$$version -c "$$ask" >/dev/null 2>&1; then missing="$$missing $$version"; \
	    elif $(MAKE) PYTHON=python$$version VENV=.venv-$$version SELECTION= test; \
	    then passed="$$passed $$version"; \
	    else failed="$$failed $$version"; fi; \
	done; \
	echo "Python passed:$${passed:- none}, failed:$${failed:- none}, missing:$${missing:- none}"; \
	test -n "$$passed" && test -z "$$failed"

# In an environment of its own: the tests must not come to rely on what the peers bring.
bench:
	$(MAKE) VENV=.venv-bench bench-installed

bench-installed: $(VENV)/.installed-benchmarks
	$(VENV)/bin/python benchmarks/$(BENCHMARK)

clean:
	rm -rf .venv .venv-* .hypothesis .pytest_cache .ruff_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	$(PYTHON) -m venv --clear $(VENV)
	touch $@

$(VENV)/.installed: $(MADE) setup.cfg setup.py
	$(INSTALL) .
	touch $@

# An extra brings the package itself along.
$(VENV)/.installed-%: $(MADE) setup.cfg setup.py
	$(INSTALL) '.[$*]'
	touch $(VENV)/.installed $@
