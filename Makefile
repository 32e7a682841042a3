# Every target works from a clean checkout: it needs python3 (3.11 or later, with venv and pip) and a
# package index, and nothing that is already installed.
#
#   make run        the first examples
#   make test       linter, formatter and tests, without the slow ones
#   make test-all   the same with the slow ones, under every supported Python that is on PATH, those
#                   of make test-oldest, and make notebooks
#   make test-newest   make test under the newest supported Python that is on PATH
#   make test-oldest   make test with the oldest releases that setup.cfg admits
#   make bench      the benchmarks, against the peers; those of every function by itself take longer:
#                   make bench BENCHMARK=rule_costs.py
#   make docs       the site, in build/site; all its programs run
#   make notebooks  the site, and its notebooks in a kernel
#   make clean      remove what the other targets made
#
# PYTHON=python3.12 make test   chooses the interpreter.

PYTHON ?= python3
SUPPORTED := 3.11 3.12 3.13 3.14
VENV := .venv
SELECTION := -m "not slow"
BENCHMARK := run.py
CONSTRAINTS :=
DOCS_MADE := $(addprefix docs/,tutorial howto gallery errors sg_execution_times.rst)

# The outcome depends on the checkout and its virtual environment alone.
export PYTHONNOUSERSITE := 1
unexport PYTHONHOME PYTHONOPTIMIZE PYTHONPATH PYTHONWARNINGS PYTEST_ADDOPTS PYTEST_PLUGINS

# Stamps live in the environment and go with it. One carries the interpreter's name, so that choosing
# another interpreter makes the environment anew.
MADE := $(VENV)/.made-with-$(subst /,-,$(PYTHON))
INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: run test test-all test-newest test-oldest bench bench-installed docs docs-installed notebooks clean

run: $(VENV)/.installed
	$(VENV)/bin/python examples/td0.py
	$(VENV)/bin/python examples/mlp.py

test: $(VENV)/.installed-test
	@$(VENV)/bin/python -c "import numpy, platform, scipy; print('Python', \
	    platform.python_version(), 'NumPy', numpy.__version__, 'SciPy', scipy.__version__)"
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/pytest -n auto $(SELECTION)

test-all:
	@passed= failed= missing= oldest=; \
	for version in $(SUPPORTED); do \
	    if ! python=$$(.ci/find-python $$version); then missing="$$missing $$version"; continue; fi; \
	    oldest=$${oldest:-$$python}; \
	    if $(MAKE) PYTHON=$$python VENV=.venv-$$version SELECTION= test; \
	    then passed="$$passed $$version"; \
	    else failed="$$failed $$version"; fi; \
	done; \
	if test -n "$$oldest"; then \
	    if $(MAKE) PYTHON=$$oldest test-oldest; then passed="$$passed oldest-releases"; \
	    else failed="$$failed oldest-releases"; fi; \
	    if $(MAKE) PYTHON=$$oldest notebooks; then passed="$$passed site"; \
	    else failed="$$failed site"; fi; \
	fi; \
	echo "Python passed:$${passed:- none}, failed:$${failed:- none}, missing:$${missing:- none}"; \
	test -n "$$passed" && test -z "$$failed"

# Nothing is run twice: where the newest is the default one, make test is what tests it.
test-newest:
	@newest=; \
	for version in $(SUPPORTED); do \
	    if python=$$(.ci/find-python $$version); then newest=$$version path=$$python; fi; \
	done; \
	if $(PYTHON) -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$$newest')"; \
	then echo "The newest Python on PATH is the default one, $$newest: make test tests it."; \
	elif test -z "$$newest"; then echo "No supported Python on PATH makes environments."; \
	else $(MAKE) PYTHON=$$path VENV=.venv-$$newest test; fi

# Releases have wheels for the Pythons of their time: this is for the oldest supported one.
test-oldest:
	$(MAKE) VENV=.venv-oldest CONSTRAINTS=.venv-oldest/constraints.txt test

# In an environment of its own: the tests must not come to rely on what the peers bring.
bench:
	$(MAKE) VENV=.venv-bench bench-installed

bench-installed: $(VENV)/.installed-benchmarks
	$(VENV)/bin/python benchmarks/$(BENCHMARK)

# What is wrong with a page, a link that leads nowhere included, is an error.
docs:
	$(MAKE) VENV=.venv-docs docs-installed

docs-installed: $(VENV)/.installed-docs
	$(VENV)/bin/python -W 'ignore:A worker stopped:UserWarning' -m sphinx -q -W --keep-going docs build/site
	$(VENV)/bin/python docs/check_links.py build/site
	@echo "The site is in build/site: open build/site/index.html"

# Those of the site, in a kernel, from the first cell to the last.
notebooks: docs
	.venv-docs/bin/python docs/run_notebooks.py build/site

clean:
	rm -rf $(DOCS_MADE)
	rm -rf .venv .venv-* .hypothesis .pytest_cache .ruff_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE):
	$(PYTHON) -m venv --clear $(VENV)
	touch $@

$(VENV)/.installed: $(MADE) setup.cfg setup.py
	$(INSTALL) .
	touch $@

# Of each requirement with a floor that floor.
$(VENV)/constraints.txt: $(MADE) setup.cfg
	sed -n 's/^ \+\([a-z0-9_-]\+\)>=/\1==/p' setup.cfg >$@

# An extra brings the package itself along.
$(VENV)/.installed-%: $(MADE) $(CONSTRAINTS) setup.cfg setup.py
	$(INSTALL) '.[$*]' $(addprefix --constraint ,$(CONSTRAINTS))
	touch $(VENV)/.installed $@
