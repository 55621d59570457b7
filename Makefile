# What developers and CI run. `make dev` sets up .venv once and rebuilds what changed; the rest builds on it.
PYTHON ?= python3
VENV := .venv
BUILD := build/dev
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n 2 --dist loadgroup

# Tools of the virtual environment come first; the build directory keeps the native tests' libraries.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export AIVOPS_BUILD_DIR := $(CURDIR)/$(BUILD)
export CMAKE_BUILD_PARALLEL_LEVEL ?= 2

CXX_SOURCES = $(shell git ls-files '*.h' '*.cpp' '*.c' '*.asc')
CMAKE_SOURCES = $(shell git ls-files '*CMakeLists.txt' '*.cmake' '*.cmake.in')

.PHONY: demo dev test test-long test-interop test-sanitized lint format wheel clean

demo: dev
	$(BIN)/aivops demo

$(VENV)/tools: pyproject.toml
	$(PYTHON) -m venv $(VENV) || { echo "make: $(PYTHON) has no venv module; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

dev: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --no-build-isolation --force-reinstall --no-deps \
		--config-settings=build-dir=$(BUILD) .

test: lint dev
	$(BIN)/python -m pytest -m 'not long' $(PYTEST_ARGS)

test-long: dev
	$(BIN)/python -m pytest -m long $(PYTEST_ARGS)

test-interop: dev
	$(BIN)/python -m pip install --quiet --group interop
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests/collectives/test_interop.py tests/collectives/test_launchers.py

test-sanitized: $(VENV)/tools
	$(BIN)/python tests/sanitizers/run.py address,undefined
	$(BIN)/python tests/sanitizers/run.py thread

lint: $(VENV)/tools
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/gersemi --check --no-warn-about-unknown-commands --warnings-as-errors $(CMAKE_SOURCES)

format: $(VENV)/tools
	$(BIN)/clang-format -i $(CXX_SOURCES)
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet
	$(BIN)/gersemi --in-place --quiet $(CMAKE_SOURCES)

wheel: $(VENV)/tools
	$(BIN)/python -m build --wheel --outdir dist

clean:
	rm -rf build dist $(VENV)
