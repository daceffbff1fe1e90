# From a fresh clone: needs make and a Python 3.11 or newer, nothing else. `make` alone lists what there is.
#
# PYTHON=python3.13    the Python to make the environment with; without it, the first one that will do
# SOAK=short           fewer rounds of each campaign of `make soak`
# BENCH=--quick        options of `make bench`
# LOCK=--upgrade       `make lock` takes newer releases; without it, only what the .in files ask for

SOAK = full
BENCH =
LOCK =

VENV = .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check install
WHEELS = --require-hashes --only-binary :all:
UV = UV_PYTHON_DOWNLOADS=never $(BIN)/uv
PYTEST = $(BIN)/pytest -n logical --maxprocesses 8

PYTHONS = python3 python3.14 python3.13 python3.12 python3.11 python3.15 python
WILL_DO = import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))

.PHONY: help serve test test-system soak bench docs lock resolve matrix clean

help: ## List what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

serve: $(VENV)/serve.installed ## Install Clew here, and serve MCP over HTTP
	$(BIN)/clew serve

test: $(VENV)/dev.installed ## Lint, types, and every test that needs no more than this
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src tests bench scripts
	$(PYTEST) -m "not system and not soak"
	@echo "Not run here: tests with programs of the system (make test-system), long ones (make soak), other Pythons (make matrix)."

test-system: $(VENV)/dev.installed ## Tests that need programs from the system's packages
	$(BIN)/pytest -m system

soak: $(VENV)/dev.installed ## Campaigns: kills in a stream of writes; fewer with SOAK=short
	SOAK=$(SOAK) $(BIN)/pytest -v -m soak --timeout 0

bench: $(VENV)/dev.installed ## Measure, and write docs/benchmarks.md
	$(BIN)/python -m bench.run $(BENCH)

docs: $(VENV)/dev.installed ## Write again what is made from the program
	$(BIN)/python scripts/docs.py

# One lock for all platforms and Pythons. The text names no registry: it serves whichever one a machine uses.
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-header --annotation-style line $(LOCK)
lock: $(VENV)/dev.installed ## Write requirements/*.txt again
	$(COMPILE) pyproject.toml requirements/serve.in -o requirements/serve.txt
	$(COMPILE) pyproject.toml requirements/serve.in requirements/dev.in -c requirements/serve.txt \
	    -o requirements/dev.txt

resolve: $(VENV)/dev.installed ## Whether Clew installs from wheels on every platform and Python
	$(BIN)/python scripts/resolve.py

matrix: $(VENV)/dev.installed ## The tests on the other Pythons
	scripts/matrix.sh

clean: ## Remove environments, caches and what was built
	rm -rf .venv .venv-* .cache dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench scripts -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/made:
	@for python in $(or $(PYTHON),$(PYTHONS)); do \
	    if "$$python" -c '$(WILL_DO)' 2>/dev/null; then \
	        echo "Making $(VENV) with $$("$$python" -V)"; \
	        "$$python" -m venv --clear $(VENV) && touch $@; exit; \
	    fi; \
	done; \
	echo "No Python 3.11 or newer that can make environments among: $(or $(PYTHON),$(PYTHONS))." >&2; \
	echo "Install one (on Debian and Ubuntu: python3 and python3-venv), or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1

$(VENV)/%.installed: requirements/%.txt pyproject.toml $(VENV)/made
	@echo "Installing what requirements/$*.txt locks; the first time takes half a minute"
	@$(PIP) --quiet $(WHEELS) -r requirements/$*.txt
	@$(PIP) --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m pip check
	@touch $@
