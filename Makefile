# Everything a newcomer needs: `make run` and `make test`.  `make help` lists the rest.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.installed-to-run
STAMP  := $(VENV)/.installed
BOOK   := $(VENV)/.installed-for-docs
SOAK   := 700000
TESTS  := -q --numprocesses auto --maxprocesses 8 --dist worksteal

# Tests start callboard some hundred times over: what is compiled of it is kept.
test soak check: export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run test soak check format bench screens diagrams figures reference docs hunt-all swarm clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | column -t -s '|'

run: $(READY) ## play five small mornings under FIFO, Fair and HFSP, and print one table
	@$(BIN)/callboard run --nodes 20 --jobs 40 --policy fifo --policy fair --policy hfsp --seeds 5

test: $(STAMP) ## run the test suite
	@$(BIN)/python -m pytest $(TESTS)

check: $(STAMP) ## lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(TESTS)

format: $(STAMP) ## format and fix what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: $(STAMP) ## what takes longer than the suite should: real terminals and browsers, long tests, more drawn worlds, by the actors and by both engines
	@$(BIN)/python -m pytest $(TESTS) -m soak
	@$(BIN)/python -m trials.twin --first $(SOAK) --worlds 1000
	@$(BIN)/python -m trials.swarm --seed $(SOAK) --worlds 200 --to build/soak

bench: $(STAMP) ## print the speed of the kernel, of a whole replay, of decisions, what grows with size, of the ideal machine, of sweeps, of the screen and of pages
	$(BIN)/python -m bench.engine
	$(BIN)/python -m bench.replay
	$(BIN)/python -m bench.scheduling
	$(BIN)/python -m bench.scaling
	$(BIN)/python -m bench.ideal
	$(BIN)/python -m bench.sweeps
	$(BIN)/python -m bench.tui
	$(BIN)/python -m bench.page

screens: $(STAMP) ## draw the pictures in docs/screens anew
	@$(BIN)/python -m docs.making.screens

diagrams: $(STAMP) ## draw the lifecycles in docs/lifecycles.md anew
	@$(BIN)/python -m docs.making.diagrams

figures: $(STAMP) ## draw the figures of runs in docs/figures anew
	@$(BIN)/python -m docs.making.figures

reference: $(STAMP) ## write docs/reference and the man page anew, from the code
	@$(BIN)/python -m docs.making.book

docs: $(BOOK) ## make the book of docs/ in build/book, to be opened in a browser; warnings are errors
	@$(BIN)/python -m sphinx --fresh-env --write-all --fail-on-warning --nitpicky --keep-going --quiet docs build/book
	@echo open build/book/index.html

hunt-all: $(STAMP) ## test every policy's guarantees in 2,000 scenarios, and hunt for where it is bad (hours)
	$(BIN)/python -m trials.hunt_all

swarm: $(STAMP) ## try drawn worlds in which everything goes wrong, for an hour
	$(BIN)/python -m trials.swarm

clean: ## remove the environment and caches
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A dot a second tells that an installation goes on; if it fails, what pip said follows.
define install
@echo "installing $(2) into $(VENV); this takes a moment"
@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --no-compile --editable '$(1)' \
	>$(VENV)/install.log 2>&1 & pip=$$!; trap 'kill $$pip; exit 130' INT TERM; \
	while kill -0 $$pip 2>/dev/null; do printf .; sleep 1; done; echo; \
	wait $$pip || { cat $(VENV)/install.log; exit 1; }
@touch $@
endef

# The extra `coshh` is SciPy, which the intervals of `run` need too.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Callboard needs Python 3.11 or newer; %s is %s. Try: make run PYTHON=python3.12" % (sys.executable, sys.version.split()[0]) if sys.version_info < (3, 11) else 0)'
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(call install,.[coshh],Callboard)

$(STAMP): $(READY)
	$(call install,.[dev],all that its tests need)

$(BOOK): $(READY)
	$(call install,.[docs],what the book needs)
