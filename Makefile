# Two commands matter: `make demo` and `make test`. `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find rust -name '*.rs' -o -name '*.toml')
TEST_ARGS ?=
# How long `make thorough` draws new cases, in each language.
PROPERTY_SECONDS ?= 600

.PHONY: help
help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: demo
demo: $(VENV)/installed ## Run the example pipeline through Airflow on a cluster of three vendors.
	@PATH="$(CURDIR)/$(BIN):$$PATH" examples/airflow/demo.sh

.PHONY: test
test: lint test-rust test-python ## Run all hermetic tests, lints, types and contracts.

.PHONY: lint
lint: $(VENV)/dev
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- --deny warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/stubtest hetero_ops._core
	$(BIN)/lint-imports --no-cache

.PHONY: test-rust
test-rust: tools # the same cases every time; `make thorough` draws others
	PROPTEST_RNG_SEED=1 cargo test --locked --quiet --package hetero-core --package hetero-plan

.PHONY: test-python
test-python: $(VENV)/dev
	$(BIN)/pytest -m "not kube and not thorough" $(TEST_ARGS)

.PHONY: controlplane
controlplane: ## Build a real Kubernetes control plane once, from its published Go modules. Ten minutes with nothing cached.
	@$(PYTHON) tests/kube/binary.py

.PHONY: test-kube
test-kube: $(VENV)/kube ## Run the tests against that control plane; skipped, and said so, where it is not built.
	$(BIN)/pytest -m "kube and not thorough" $(TEST_ARGS)

.PHONY: wheel
wheel: $(VENV)/installed ## Build the wheel and try it alone, without Airflow, in an environment of its own.
	rm -rf build/wheel && $(BIN)/uv build --quiet --wheel --out-dir build/wheel
	$(PYTHON) -m venv build/wheel/venv && $(BIN)/uv pip install --quiet --python build/wheel/venv/bin/python build/wheel/*.whl
	cd build/wheel && venv/bin/hetero-ops demo; test $$? -eq 10 # the train step is degraded, and says so

.PHONY: oldest
oldest: wheel ## Run the Python tests on the oldest supported versions of what the package depends on.
	$(PYTHON) -m venv --clear build/oldest
	$(BIN)/uv pip install --quiet --python build/oldest/bin/python --resolution lowest-direct -r pyproject.toml --extra airflow --extra postgres --extra service
	$(BIN)/uv pip install --quiet --python build/oldest/bin/python --no-deps build/wheel/*.whl
	$(BIN)/uv pip install --quiet --python build/oldest/bin/python hypothesis pytest pytest-benchmark pytest-timeout
	build/oldest/bin/python -P -m pytest --import-mode importlib -m "not kube and not thorough" $(TEST_ARGS)

.PHONY: bench
bench: $(VENV)/dev ## Print every figure that the docs claim, measured now, against a baseline in the same run.
	cargo bench --locked --package hetero-core -- --quiet
	$(BIN)/pytest tests/bench --benchmark-only --benchmark-disable-gc -q

.PHONY: thorough
thorough: $(VENV)/dev $(VENV)/kube ## Run the property tests for ten minutes in each language, and what takes minutes. By hand.
	cargo test --locked --release --no-run --package hetero-core --package hetero-plan
	PROPTEST_CASES=2000 $(PYTHON) tests/repeat.py $(PROPERTY_SECONDS) \
		cargo test --locked --release --quiet --package hetero-core --package hetero-plan --test '*'
	$(PYTHON) tests/repeat.py $(PROPERTY_SECONDS) $(BIN)/pytest -q tests/property -m "not thorough" --timeout 3600 \
		--hypothesis-profile other
	$(BIN)/pytest -m thorough --hypothesis-profile other

.PHONY: format
format: $(VENV)/dev ## Format all code.
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: clean
clean: ## Remove everything that was built here.
	rm -rf $(VENV) build target hetero_ops/_core.*.so

.PHONY: tools
tools:
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust 1.88 or newer, https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "Python 3.11 or newer is missing: install it, or name it with make PYTHON=/path/to/python3" >&2; exit 1; }

# A folder of its own keeps everything that is installed inside the project.
$(VENV)/uv: | tools
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@touch $@

$(VENV)/installed: $(VENV)/uv pyproject.toml $(RUST_SOURCES) | tools
	@echo "building the extension and installing .[airflow] into $(VENV)"
	$(BIN)/uv pip install --quiet --python $(BIN)/python --reinstall-package hetero-ops --editable '.[airflow]'
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >$(VENV)/compileall.log 2>&1 || true # only for speed; templates do not compile
	@touch $@

$(VENV)/dev: $(VENV)/installed
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group dev
	@touch $@

$(VENV)/kube: $(VENV)/dev
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group kube
	@touch $@
