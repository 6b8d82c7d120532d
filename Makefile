# Everything the project needs is built in .venv; a second run needs no network.
# PYTHON: any Python 3.11 or later.   OUT: where `make compare` writes.
PYTHON ?= python3
OUT ?= out/compare
BIN := .venv/bin
BASE := .venv/.base
READY := .venv/.ready
# What is installed is turned into bytecode when it is first imported, which most of it never is; and it is kept, whatever
# the shell says: without it each of the programs that tests start reads pandas and numba anew, for 2 to 5 seconds.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check -c constraints.txt --editable

# What the inner loop runs: a test or two of each room, none that starts programs or makes pictures.
QUICK := tests/lpsm/test_bounds_by_hand.py tests/lpsm/test_tracking.py tests/netsim/test_polling.py \
	tests/traces/test_grouping.py tests/traces/test_table.py tests/netsim/test_tcp.py tests/netsim/test_station.py \
	tests/netsim/test_radio.py tests/netsim/test_bsd.py tests/experiments/study/test_compare.py \
	tests/experiments/papers/test_predicates.py tests/experiments/papers/test_news.py
# ROOM: where faults are put in on purpose.   COUNT: how many.   SEED: which.
ROOM ?= lpsm/bounds
COUNT ?= 40
SEED ?= 0

.PHONY: help compare test coverage quick lint docs notebooks check-long check-emulate check-explore check-devices check-firmware mutants bench clean
help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

$(BASE): pyproject.toml constraints.txt
	@echo "Installing what comparisons need into .venv, once."
	$(PYTHON) -m venv .venv
	$(INSTALL) .
	@touch $(BASE)

$(READY): $(BASE)
	@echo "Installing what tests need, and compiling, once: two minutes."
	$(INSTALL) '.[dev]'
	$(BIN)/lpsm doctor --compile > /dev/null
	@touch $(READY)

compare: $(BASE) ## energy and slowdown of every policy, with pictures, in $(OUT)
	$(BIN)/lpsm compare --out $(OUT)

test: $(READY) ## the ordinary tests (two to six minutes on two cores)
	$(BIN)/python -m pytest -n 2 --dist worksteal

coverage: $(READY) ## the ordinary tests in one process, and how much of the packages they run; below a floor it fails
	$(BIN)/python -m coverage run -m pytest
	$(BIN)/python -m coverage report --skip-covered

quick: $(READY) ## some of them, in less than a minute
	$(BIN)/python -m pytest -n 2 -x $(QUICK)

lint: $(READY) ## style, types, and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY) ## the documentation, in docs/_build
	rm -rf docs/api  # pages of modules, those that are gone as well
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build

notebooks: $(READY) ## open the notebooks in a browser (installs Jupyter once)
	$(BIN)/python -c "import jupyterlab" 2> /dev/null || $(BIN)/python -m pip install --quiet '.[notebooks]'
	$(BIN)/jupyter lab notebooks

check-long: $(READY) ## the long tests: many trials, kills, full fuzzing
	$(BIN)/python -m pytest -n 2 --dist worksteal -m long

check-emulate: $(READY) ## real programs on the simulated air, with Debian's programs, which root gets where it can
	-@[ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null || DEBIAN_FRONTEND=noninteractive timeout 300 \
		apt-get install -y -qq nghttp2-server curl iputils-ping passt iperf3 mosquitto mosquitto-clients > /dev/null 2>&1
	$(BIN)/python -m pytest -m emulate tests/experiments/test_emulate.py

check-explore: $(READY) ## the explorer in Chromium, which root gets where it can
	-@[ "$$(id -u)" != 0 ] || type chromium chromedriver > /dev/null 2>&1 || ! command -v apt-get > /dev/null || \
		DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y -qq chromium chromium-driver > /dev/null 2>&1
	$(BIN)/python -m pytest -m browser tests/experiments/test_explore_in_a_browser.py

check-devices: $(READY) ## exported policies on two devices under QEMU: the same decisions, flash, RAM and instructions
	$(BIN)/python -m bench.firmware devices

check-firmware: $(READY) ## exported policies on two devices under QEMU, beside Python, and fuzzed (hours; MOST: of each)
	$(BIN)/python -m bench.firmware $(if $(MOST),--most $(MOST))

mutants: $(READY) ## faults put into a ROOM on purpose, and how many of COUNT its tests find
	$(BIN)/python -m mutants $(ROOM) --count $(COUNT) --seed $(SEED)

bench: $(READY) ## speed, each figure beside a peer in the same run
	$(BIN)/python -m bench

clean: ## remove the environment, compiled kernels and all that was made
	find lpsm netsim -name '*.nb[ic]' -delete
	rm -rf .venv build dist out docs/_build docs/api docs/notebooks .pytest_cache .mypy_cache .ruff_cache .hypothesis
