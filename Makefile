PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: repro test check docs experiments queue bench faults lock clean

repro: .venv/ready ## run the pipeline and print what came out
	dvc repro
	@echo
	@grandplus results

test: .venv/ready ## run the tests, a process on each core
	python -m pytest -n auto --dist loadfile --no-loadscope-reorder

check: .venv/ready ## lint, format, types, and which room imports which
	ruff check .
	ruff format --check .
	mypy
	lint-imports --no-logo --no-cache

docs: .venv/ready ## the API reference, from docstrings: build/docs/index.html
	python -m sphinx --quiet --fail-on-warning --keep-going docs/api build/docs

experiments: .venv/ready ## all experiments: what differs and what came out
	@grandplus experiments

queue: .venv/ready ## run the queued experiments, and the stages that they share once
	@grandplus queue

bench: .venv/ready ## measure each kernel against its reference, beside the last release; minutes, on an idle machine
	python -m benchmarks

faults: .venv/ready ## kill every stage in every way, three times each, and damage its files; twenty minutes
	GRANDPLUS_KILLS=3 GRANDPLUS_FAULTS_TABLE=tests/faults/table.csv python -m pytest tests/faults

.venv/ready: requirements/main.lock requirements/torch.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=python3.11 ..."; exit 1; }
	@echo "Setting up .venv: about 0.5 GB to download and 2 GB on the disk, some minutes. Without PyTorch's CPU builds,"
	@echo "pip takes its CUDA build on Linux: several GB more (README.md says what to do)."
	$(PYTHON) -m venv .venv
	pip install --quiet --disable-pip-version-check --require-hashes -r requirements/main.lock
	pip install --quiet --disable-pip-version-check -r requirements/torch.lock
	pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . # the command grandplus
	@touch $@
	@python -c 'from grandplus.pipeline.git_identity import identity_note; print(end=identity_note() and identity_note() + "\n")'

# PyTorch is overridden away and its own needs are named instead, or its CUDA packages would be locked.
lock:
	uv pip compile pyproject.toml requirements/torch-needs.in --extra dev --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --override requirements/without-torch.in --output-file requirements/main.lock
	sed -i '1i # Made by make lock; all but PyTorch, which stands in requirements/torch.lock.' requirements/main.lock

clean: ## remove unfinished work, finished trials and results; DVC's cache and downloads stay
	rm -rf .grandplus data/raw data/graph data/rows data/model data/predictions reports/plots reports/report.html build
