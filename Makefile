# `make help` lists what there is. Needs Rust, Go, Python 3 and bash; everything else is fetched
# in pinned versions (Cargo.lock, clients/go/go.sum, clients/python/requirements-dev.txt).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
# One step at a time: cargo has its own parallelism, and the output stays readable.
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

CARGO ?= cargo
GO ?= go
PYTHON ?= python3

# Exported so that cargo, the tests and this file agree on it wherever they run.
override CARGO_TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))
export CARGO_TARGET_DIR
RELEASE_BIN := $(CARGO_TARGET_DIR)/release/signalbox
# What the end-to-end tests run: the debug build, which `cargo test` has mostly made already.
SIGNALBOX_BIN ?= $(CARGO_TARGET_DIR)/debug/signalbox

# CI must not resolve dependencies anew; a developer who changes Cargo.toml may.
LOCKED := $(if $(CI),--locked)

VENV := .venv
VENV_BIN := $(CURDIR)/$(VENV)/bin
VENV_READY := $(VENV)/.ready
PY_CLIENT := clients/python
GO_CLIENT := clients/go
PY_STUBS := $(PY_CLIENT)/src/signalbox_client/_generated
GO_STUBS := $(GO_CLIENT)/signalboxpb
MODELS_READY := models/weights/.fetched
DEPLOY_TOOLS := $(VENV)/tools
DEPLOY_TOOLS_READY := $(DEPLOY_TOOLS)/.ready

say = @printf '==> %s\n' "$(1)"

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# Running it

.PHONY: serve
serve: build models ## Build, fetch the models if missing, and serve the starter catalogue (SERVE_ARGS adds flags)
	$(call say,serve: $(RELEASE_BIN))
	@exec '$(RELEASE_BIN)' serve --catalog catalogs/starter --models-dir models/weights \
		--data-dir .signalbox $(SERVE_ARGS)

.PHONY: build
build: ## Build the release binary
	$(call say,build: release binary)
	@$(CARGO) build --release $(LOCKED) --bin signalbox

.PHONY: models
models: $(MODELS_READY) ## Fetch the models if missing

$(MODELS_READY): models/fetch.py $(wildcard models/manifest.toml)
	$(call say,models: fetch into models/weights)
	@$(PYTHON) models/fetch.py
	@mkdir -p $(@D)
	@touch $@

# Checking it

.PHONY: test
test: lint models rust-test adapter-test feature-check stubs-check python-test go-test node-test deploy-test ## Run every check and every test
	$(call say,test: everything passed)

.PHONY: lint
lint: rust-lint proto-lint python-lint go-lint ## Check formats and run the linters

.PHONY: rust-lint
rust-lint: ## cargo fmt and clippy
	$(call say,rust-lint: cargo fmt)
	@$(CARGO) fmt --check
	$(call say,rust-lint: cargo clippy)
	@$(CARGO) clippy $(LOCKED) --all-targets -- -D warnings

.PHONY: proto-lint
proto-lint: $(VENV_READY) ## buf lint
	$(call say,proto-lint: buf lint)
	@$(VENV_BIN)/buf lint proto

.PHONY: python-lint
python-lint: $(VENV_READY) ## ruff and mypy
	$(call say,python-lint: ruff and mypy)
	@$(VENV_BIN)/python -m ruff format --check --quiet $(PY_CLIENT) deploy
	@$(VENV_BIN)/python -m ruff check --quiet $(PY_CLIENT) deploy
	@cd $(PY_CLIENT) && $(VENV_BIN)/python -m mypy --no-error-summary

.PHONY: go-lint
go-lint: ## gofmt and go vet
	$(call say,go-lint: gofmt and go vet)
	@unformatted=$$(gofmt -l $(GO_CLIENT)/*.go); \
		[[ -z $$unformatted ]] || { echo "gofmt: $$unformatted" >&2; exit 1; }
	@cd $(GO_CLIENT) && $(GO) vet ./...

.PHONY: rust-test
rust-test: models ## cargo test
	$(call say,rust-test: cargo test)
	@$(CARGO) test $(LOCKED)

.PHONY: adapter-test
adapter-test: models ## Train the shipped adapter anew and compare (minutes)
	$(call say,adapter-test: models/adapters/train.py)
	@$(CARGO) test $(LOCKED) --test adapter_training -- --ignored --nocapture

.PHONY: adapter
adapter: build models ## Train the adapter that is shipped; its sha256 belongs into models/manifest.toml
	$(call say,adapter: models/adapters/train.py)
	@SIGNALBOX_BIN='$(RELEASE_BIN)' $(PYTHON) models/adapters/train.py

.PHONY: crash-test
crash-test: ## Kill an appending journal 1,000 times (cargo test does 200)
	$(call say,crash-test: 1000 cycles)
	@SIGNALBOX_TEST_CRASH_CYCLES=1000 $(CARGO) test $(LOCKED) --lib no_acknowledged_event -- --nocapture

.PHONY: journal-bench
journal-bench: ## Measure the journal (release build; TMPDIR chooses the disk)
	$(call say,journal-bench: cargo bench)
	@$(CARGO) bench $(LOCKED) --bench journal

.PHONY: hydrate-bench
hydrate-bench: ## Measure hydration and recall (release build)
	$(call say,hydrate-bench: cargo bench)
	@$(CARGO) bench $(LOCKED) --bench hydrate

.PHONY: feature-check
feature-check: ## cargo check without default features
	$(call say,feature-check: cargo check --no-default-features)
	@$(CARGO) check $(LOCKED) --no-default-features

# By way of `cargo test`: `cargo build` would choose other features for some dependencies and
# build them a second time.
.PHONY: debug-build
debug-build: models
	$(call say,debug-build: the binary that the end-to-end tests run)
	@$(CARGO) test $(LOCKED) --no-run --quiet --test real_model

.PHONY: python-test
python-test: $(VENV_READY) debug-build ## End-to-end tests through the Python client
	$(call say,python-test: pytest against $(SIGNALBOX_BIN))
	@cd $(PY_CLIENT) && SIGNALBOX_BIN='$(abspath $(SIGNALBOX_BIN))' $(VENV_BIN)/python -m pytest

.PHONY: go-test
go-test: debug-build ## End-to-end tests through the Go client
	$(call say,go-test: go test against $(SIGNALBOX_BIN))
	@cd $(GO_CLIENT) && SIGNALBOX_BIN='$(abspath $(SIGNALBOX_BIN))' $(GO) test -count=1 -timeout 30m ./...

NODE_READY := clients/node/node_modules/.package-lock.json

$(NODE_READY): clients/node/package-lock.json
	$(call say,node: npm ci in clients/node)
	@cd clients/node && npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

# An example beside the two clients: without Node.js the rest is tested all the same.
.PHONY: node-test
node-test: debug-build $(if $(shell command -v npm),$(NODE_READY)) ## Run the Node.js example, where there is a Node.js
	$(call say,node-test: $(if $(shell command -v npm),node --test,no npm here))
	@$(if $(shell command -v npm),cd clients/node && SIGNALBOX_BIN='$(abspath $(SIGNALBOX_BIN))' node --test)

.PHONY: deploy-test
deploy-test: $(DEPLOY_TOOLS_READY) debug-build ## Render, validate and lint all that deploy/ holds
	$(call say,deploy-test: pytest deploy/tests)
	@SIGNALBOX_BIN='$(abspath $(SIGNALBOX_BIN))' SIGNALBOX_TOOLS='$(abspath $(DEPLOY_TOOLS))' \
		$(VENV_BIN)/python -m pytest -c deploy/tests/pytest.ini deploy/tests

# Generated stubs

.PHONY: generate
generate: $(VENV_READY) ## Generate the clients' stubs from proto/
	$(call say,generate: $(PY_STUBS))
	@PYTHON=$(VENV_BIN)/python $(PY_CLIENT)/generate.sh
	$(call say,generate: $(GO_STUBS))
	@BUF=$(VENV_BIN)/buf $(GO_CLIENT)/generate.sh

.PHONY: stubs-check
stubs-check: $(VENV_READY) ## Fail if the committed stubs are not what proto/ generates
	$(call say,stubs-check: generate anew and compare)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
		PYTHON=$(VENV_BIN)/python $(PY_CLIENT)/generate.sh "$$fresh/python"; \
		BUF=$(VENV_BIN)/buf $(GO_CLIENT)/generate.sh "$$fresh/go"; \
		{ diff -ru -x __pycache__ $(PY_STUBS) "$$fresh/python" && \
			diff -ru $(GO_STUBS) "$$fresh/go/signalboxpb"; } || \
			{ echo 'the stubs are out of date: run `make generate` and commit the result' >&2; exit 1; }

# Tools

REQUIREMENTS := $(PY_CLIENT)/requirements-dev.txt $(PY_CLIENT)/requirements-examples.txt \
	deploy/tests/requirements.txt

$(VENV_READY): $(REQUIREMENTS) $(PY_CLIENT)/pyproject.toml
	$(call say,venv: $(VENV) from $(REQUIREMENTS))
	@$(VENV)/bin/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(addprefix -r ,$(REQUIREMENTS))
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation --editable $(PY_CLIENT)
	@touch $@

# helm, kubectl and promtool, in pinned versions where the machine allows.
.PHONY: deploy-tools
deploy-tools: $(DEPLOY_TOOLS_READY) ## Fetch helm, kubectl and promtool for deploy-test

$(DEPLOY_TOOLS_READY): deploy/tests/fetch_tools.py $(VENV_READY)
	$(call say,deploy-tools: fetch into $(DEPLOY_TOOLS))
	@$(VENV_BIN)/python deploy/tests/fetch_tools.py $(DEPLOY_TOOLS)
	@touch $@

.PHONY: clean
clean: ## Remove what was built (keeps models/weights and .signalbox)
	$(call say,clean: cargo and the virtualenv)
	@$(CARGO) clean
	@rm -rf $(VENV)
	@find . -path ./models -prune -o -type d \
		\( -name __pycache__ -o -name .pytest_cache -o -name .mypy_cache -o -name .ruff_cache \) \
		-prune -exec rm -rf {} +
