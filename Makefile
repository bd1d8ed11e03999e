# Two commands do everything: `make run` and `make test`; `make example` is the ladder of a model. All set up what they need,
# from nothing but python3, git and make.
# `make test-long` tries every case where `make test` tries a sample; `make coverage` says which lines the tests run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Two workers that take tests from each other; what looks at a clock, or at who else works, comes after them, alone.
PYTEST := $(BIN)/python -m pytest
TOGETHER := -n 2 --dist worksteal -m "not alone"
ALONE := -m alone

.PHONY: run test test-long coverage faults example example-all

run: $(VENV)/ready-to-run
	$(BIN)/expctl run P15

test: $(VENV)/ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/expctl ledger --check
	$(BIN)/expctl agents setup --check
	$(BIN)/expctl replay --all
	$(PYTEST) $(TOGETHER)
	$(PYTEST) $(ALONE)

test-long: $(VENV)/ready-to-test
	$(PYTEST) $(TOGETHER) --long
	$(PYTEST) $(ALONE) --long

coverage: $(VENV)/ready-to-test
	$(PYTEST) $(TOGETHER) --cov --cov-report=
	$(PYTEST) $(ALONE) --cov --cov-append --cov-report=term:skip-covered

# The long form of the fault suite: about 2,000 trials, half an hour on one quiet core; `--jobs N` plays on N cores; rewrites tests/faults/table.json.
faults: $(VENV)/ready-to-test
	$(BIN)/python -m tests.faults.long_form

# The ladder of a PyTorch model (examples/inference): its first experiment on this machine, or all, whose records come back.
EXAMPLE := build/example
example: $(VENV)/ready-for-example
	$(BIN)/python examples/inference/ladder.py start $(EXAMPLE)

example-all: $(VENV)/ready-for-example
	$(BIN)/python examples/inference/ladder.py all $(EXAMPLE)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/ready-to-run: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e ".[cpu]"
	@$(BIN)/python -c "open('$@', 'w')"

$(VENV)/ready-for-example: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e ".[harness,torch]"
	@$(BIN)/python -c "open('$@', 'w')"

$(VENV)/ready-to-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) -e ".[cpu,torch,plot,agents,fleet,test]"
	@$(BIN)/python -c "open('$@', 'w')"
