# Two commands do everything on a fresh machine: `make run` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
MODE ?= quick
WORKERS ?= 2
ARGS ?=
REPEAT ?= 1
SEED ?= 1
JOBS ?= 3
WHIST_FUZZ ?= 1000000
WHIST_FUZZ_API ?= 100
# Programs are started and never forked into more of us; with its handlers on, gRPC complains of every start.
export GRPC_ENABLE_FORK_SUPPORT := 0

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-16s %s\n", $$1, $$2}'

$(BIN)/.installed: pyproject.toml constraints.txt hatch_build.py libs/search/playouts.py libs/search/rollouts.py libs/search/family/rollouts.py $(shell find protos -name '*.proto')
	@command -v $(PYTHON) >/dev/null || { echo "CPython 3.11 is needed (set PYTHON=...)" >&2; exit 1; }
	@echo "Installing into $(VENV); the first time takes two or three minutes" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@$(BIN)/python -c 'from libs.search import compiled; compiled() or print("No C compiler: bots and coach run interpreted, a hundred times slower")' >&2
	@touch $@

.PHONY: install
install: $(BIN)/.installed ## Install everything into .venv, generate the contracts and compile what is hot
	@$(BIN)/python hatch_build.py changed

.PHONY: run
run: install ## Run everything in one process: http://localhost:8080
	@exec $(BIN)/python -m services.allinone

.PHONY: demo
demo: install ## Play a whole game by a policy and check it (MODE=quick|classic, ARGS=--json)
	@$(BIN)/python -m services.allinone.demo --mode $(MODE) $(ARGS)

.PHONY: cluster
cluster: install ## Run each service in its own process (WORKERS=n)
	@WHIST_WORKERS=$(WORKERS) exec $(BIN)/python -m services.allinone.cluster

.PHONY: test
test: install ## Run all tests
	@$(BIN)/pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

.PHONY: fuzz-engine
fuzz-engine: install ## A million decisions a game beside the second models; spoilt records (WHIST_FUZZ=n)
	@WHIST_FUZZ=$(WHIST_FUZZ) $(BIN)/pytest -q -n $(JOBS) tests/engine/test_romanian_reference.py tests/engine/test_family_reference.py
	@WHIST_FUZZ_INPUTS=$(WHIST_FUZZ) $(BIN)/python -m tests.engine.fuzz_records

.PHONY: fuzz-api
fuzz-api: install ## The whole REST API by its own document, many requests of each kind (WHIST_FUZZ_API=n)
	@WHIST_FUZZ_API=$(WHIST_FUZZ_API) $(BIN)/pytest -q --timeout 3600 tests/e2e/test_api_fuzz.py

.PHONY: simulate
simulate: install ## A week of 2,000 players, every evening, over the real wallet and leagues, beside a second model (ARGS='--players 200')
	@$(BIN)/python -m tests.simulation $(ARGS)

.PHONY: fuzz-sign-in
fuzz-sign-in: install ## Signing in against its model in many orders; ten thousand guesses at a code
	@WHIST_SIGN_INS=400 WHIST_GUESSES=10000 $(BIN)/pytest -q tests/services/auth/test_machine.py

.PHONY: lint
lint: install ## Style, types, import contracts, protos, migrations, shell, YAML
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@cd protos && ../$(BIN)/buf lint
	@$(BIN)/python -m tests.architecture.migrations_sql | $(BIN)/squawk --config .squawk.toml
	@$(BIN)/yamllint --strict .
	@$(BIN)/shellcheck .ci/run

.PHONY: verify-deploy
verify-deploy: install ## Render and check every Kubernetes overlay, offline
	@$(BIN)/python deploy/verify.py $(ARGS)

.PHONY: bench-engine
bench-engine: install ## Engine, search kernel, bots and coach, beside OpenSpiel
	@$(BIN)/python -m bench.engine $(ARGS)

.PHONY: bench-bots
bench-bots: install ## How the bots' strengths stand against each other (some minutes)
	@$(BIN)/python -m bench.bots $(ARGS)

.PHONY: fit-habits
fit-habits: install ## What rollouts play by, fitted again to new games (some minutes); writes only where told
	@$(BIN)/python -m bench.habits $(ARGS)

.PHONY: bench
bench: install ## Moves a second beside boardgame.io and Colyseus; recovery, memory, newcomers (ten minutes)
	@$(BIN)/python -m bench $(ARGS)

.PHONY: bench-services
bench-services: install ## Settling, matching, closing a week, signing in: each against its bars (some minutes)
	@$(BIN)/python -m bench.services $(ARGS)

.PHONY: chaos
chaos: install ## Break whole systems by seeds and check what must hold (REPEAT=n, SEED=n, ARGS='B01 B02')
	@$(BIN)/python -m tests.chaos --repeat $(REPEAT) --seed $(SEED) $(ARGS)

.PHONY: clean
clean: ## Remove what was generated; data in .run stays
	@rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
