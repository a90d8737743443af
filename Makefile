# Everything happens in .venv, with the versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
KERNELS := hfedms_sim/learning/engine/kernels.c
SANITIZED := build/sanitized
# One thread per process: figures do not depend on how many cores are free.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# Tests start hundreds of processes: what one of them has compiled the others take.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install run test thorough slow soak sanitize ray browser check docs bench peers accuracy drift clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## Create .venv with everything in it

$(INSTALLED): setup.py constraints.txt $(KERNELS)
	@echo "Installing hfedms_sim and what it needs into $(VENV), PyTorch included: about a minute, longer on a slow line."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
	@echo "Installed. Try: $(BIN)/hfedms-sim run quickstart"

run: $(INSTALLED) ## Run the quickstart scenario with HFedMS-D, FedAvg and HFedMS-Plus, and draw all three
	@run=runs/quickstart-$$(date +%Y%m%d-%H%M%S) && set -e; \
	$(BIN)/hfedms-sim run quickstart --out $$run/hfedms-d; \
	$(BIN)/hfedms-sim run quickstart --strategy fedavg --out $$run/fedavg; \
	$(BIN)/hfedms-sim run quickstart --strategy hfedms-plus --out $$run/hfedms-plus; \
	$(BIN)/hfedms-sim plot $$run/hfedms-d $$run/fedavg $$run/hfedms-plus --out $$run/accuracy.png; \
	echo "Next: $(BIN)/hfedms-sim explain $$run/hfedms-d"; \
	echo "      $(BIN)/hfedms-sim report $$run/hfedms-d $$run/fedavg $$run/hfedms-plus --out $$run/report.html"

test: $(INSTALLED) ## Run all tests (a few minutes)
	$(BIN)/python -m pytest -n 2

thorough: $(INSTALLED) ## Run the tests that say of every part what others say of one (ten minutes; CI runs them)
	$(BIN)/python -m pytest -n 2 -m 'thorough and not slow'

slow: $(INSTALLED) ## Run the tests that take minutes
	$(BIN)/python -m pytest -n 2 -m slow

HOURS ?= 3
SEED ?= 1
soak: $(INSTALLED) ## Soak the command line for HOURS=3 by SEED=1: kills, full disks, two processes at one directory
	$(BIN)/python -m soak --hours $(HOURS) --seed $(SEED)

sanitize: $(INSTALLED) ## Test the C kernels under the address and undefined-behaviour sanitizers
	CFLAGS='-fsanitize=address,undefined -fno-sanitize-recover=all -g' LDFLAGS='-fsanitize=address,undefined' \
	$(BIN)/python setup.py -q build_ext --force --build-lib $(SANITIZED) --build-temp $(SANITIZED)/objects
	LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) $$($${CC:-cc} -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 KERNELS_UNDER_TEST=$(SANITIZED)/$(dir $(KERNELS)) $(BIN)/python -m pytest tests/learning/engine/test_kernels*.py
$(VENV)/.ray: $(INSTALLED)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev,ray]'
	@touch $@

ray: $(VENV)/.ray ## Run the tests that need Ray
	$(BIN)/python -m pytest tests/campaign/test_ray.py tests/test_examples.py -k ray

$(VENV)/.browser: $(INSTALLED)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev,browser]'
	@touch $@

browser: $(VENV)/.browser ## Install what tests of pages need: Chromium (Debian's, as root) and its driver
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null; }

.PHONY: trackers notebooks dist
$(VENV)/.trackers: $(INSTALLED)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev,tensorboard,mlflow]'
	@touch $@

trackers: $(VENV)/.trackers ## Run the recipes for TensorBoard and MLflow
	$(BIN)/python -m pytest tests/test_trackers.py

$(VENV)/.notebooks: $(INSTALLED)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev,notebook]'
	@touch $@

notebooks: $(VENV)/.notebooks ## Run the examples as notebooks (minutes)
	$(BIN)/python -m pytest tests/test_notebooks.py

$(VENV)/.release: $(INSTALLED)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev,release]'
	@touch $@

dist: $(VENV)/.release ## Build the source distribution and the wheel in dist/
	rm -rf dist
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/python -m build

.PHONY: fuzz
CASES ?= 20000
PROCESSES ?= 500
SEED ?= 1

fuzz: $(INSTALLED) ## Play CASES=20000 hostile inputs, and PROCESSES=500 as real processes (half an hour)
	$(BIN)/python -m fuzz --cases $(CASES) --processes $(PROCESSES) --seed $(SEED)

check: $(INSTALLED) ## Lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MYPYPATH=examples/fedavgm $(BIN)/mypy examples/fedavgm/*.py
	$(BIN)/mypy examples/*.py
	$(BIN)/lint-imports

$(VENV)/.docs: $(INSTALLED)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev,docs]'
	@touch $@

docs: $(VENV)/.docs ## Build the documentation site into build/docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo build/docs/index.html

$(VENV)/.bench: $(INSTALLED)
	$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@touch $@

bench: $(VENV)/.bench ## Measure speed as ratios to named references
	$(BIN)/python -m benchmarks

# Each peer has an environment of its own. FLGo's list says why it comes without its dependencies.
WITHOUT_DEPENDENCIES_flgo := flgo==0.4.4

.peers/%/.installed: benchmarks/peers/requirements-%.txt
	$(PYTHON) -m venv .peers/$*
	.peers/$*/bin/python -m pip install -qq --disable-pip-version-check -r $<
	$(if $(WITHOUT_DEPENDENCIES_$*),.peers/$*/bin/python -m pip install -qq --no-deps $(WITHOUT_DEPENDENCIES_$*))
	@touch $@

peers: $(INSTALLED) .peers/flower/.installed .peers/pfl/.installed .peers/flgo/.installed ## Measure a round against Flower, pfl and FLGo (half an hour)
	$(BIN)/python -m benchmarks.peers

accuracy: $(INSTALLED) ## Train at the paper's size on DATA=FILE.npz (an hour)
	$(BIN)/python -m benchmarks.accuracy $(DATA)

drift: $(INSTALLED) ## Measure the paper's Proposition 2 on DATA=FILE.npz (minutes)
	$(BIN)/python -m benchmarks.drift $(DATA)

clean: ## Remove .venv, .peers and caches
	rm -rf $(VENV) .peers build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
