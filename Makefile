# Waiting, Measured. `make` alone lists the targets.
.DEFAULT_GOAL := help
.PHONY: help setup build lab test chapter check bench-client bench-start bench-timers lock clean

PYTHON ?= python3
BIN := .venv/bin
WAITLAB := $(BIN)/python -m waitlab
STAMP := .venv/.ready

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP) ## make .venv with everything pinned (needs Python 3.11 or newer)

$(STAMP): requirements.lock pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "This project needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version 2>&1`."; \
	  echo "Try: make setup PYTHON=python3.12"; exit 2; }
	@echo "Making .venv and installing the pinned packages (about a minute at first) ..."
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is missing."; \
	  echo "Try: apt install python3-venv (Debian, Ubuntu), then make setup"; exit 2; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@for each in .venv/lib/python3*/site-packages/_waitlab.pth; do echo ../../../../labs > "$$each"; done # no accents
	@$(BIN)/python -m compileall -q labs/waitlab
	@touch $(STAMP)
	@echo "Ready: $(BIN)/waitlab doctor says what this machine offers."

build: setup ## fetch and build the servers (JVM, Maven, PostgreSQL, the Spring Boot apps)
	@$(WAITLAB) build

lab: build ## JupyterLab at 00_start_here (NO_BROWSER=1 keeps it headless)
	@$(WAITLAB) lab $(if $(NO_BROWSER),--no-browser)

test: build ## the whole test-suite
	@$(BIN)/python -m pytest $(ARGS)

chapter: build ## run one chapter headless: make chapter NAME=lab_webflux
	@$(WAITLAB) run $(NAME)

check: setup ## format, lint, types, house rules
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/house

bench-client: setup ## the load engine beside h2load, ab, aiohttp and httpx
	@$(BIN)/python benchmarks/client.py

bench-start: build ## server start: AOT cache beside the plain jar; restart; live change
	@$(BIN)/python benchmarks/start.py

bench-timers: build ## chapter 18's crowd with timers that ring late (Linux only)
	@$(BIN)/python benchmarks/late_timers.py

lock: setup ## renew requirements.lock (needs uv)
	uv pip compile --universal --generate-hashes --python-version 3.11 --all-extras --no-header --no-emit-index-url pyproject.toml -o requirements.lock

clean: ## remove .venv and everything built
	rm -rf .venv labs/apps/target labs/apps/*/target
