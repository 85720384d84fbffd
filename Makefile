# All targets. Each makes what it needs: the first call sets up, later calls rebuild only what changed.

.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV := .venv
PY := $(VENV)/bin/python
THALWEG := $(VENV)/bin/thalweg
SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates schemes \( -name '*.rs' -o -name '*.toml' \) \
	-not -path '*/tests/*' -not -path '*/experiments/*')

# One interpreter for every build of the extension, so that none undoes another's work.
export PYO3_PYTHON := $(CURDIR)/$(PY)
export CARGO_TERM_COLOR := never

.PHONY: help setup wheel wheel-test check test test-programs demo bench scheme new-scheme golden registry docs site film figures video requirements interop ci clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.installed  ## make .venv, install the packages with the core of a wheel in dist, or build that first

wheel: $(VENV)/.required  ## build both wheels and the source distribution in dist
	@$(PY) tools/wheels.py build

wheel-test: setup wheel  ## install the wheels in a new environment without a compiler, and draw the first picture
	@$(PY) tools/wheels.py gather
	@$(PY) -m pytest tests/install

check: $(VENV)/.required  ## formatting, clippy, ruff, types, dependencies, circles of files, registry, citations, words, catalogue; without a release build
	@$(PY) tools/count.py check

# Tests run the release core if it is there and up to date; otherwise one of their own profile, which needs no second build of everything.
test: $(VENV)/.required test-programs  ## every test, Rust and Python; sets up by itself
	@$(MAKE) --question --no-print-directory $(VENV)/.installed 2>/dev/null || $(PY) tools/core.py
	@$(PY) tools/count.py test

# One build of all targets, so that test programs and core have the same dependencies with the same features.
test-programs: $(VENV)/.made
	@echo "building the test programs and the core (the first time takes some minutes)"
	@cargo build --workspace --all-targets --locked --profile suite --quiet

demo: setup  ## reproduce the five papers in short runs: verdicts, and one HTML page of all
	@$(THALWEG) reproduce --all --quick --out out/demo

bench: $(VENV)/.made  ## the speed table, and out/bench.json
	@$(PY) benches/run.py

scheme: $(VENV)/.made  ## tests and experiments of one scheme, without a release build: make scheme NAME=aimd
	@$(PY) tools/scheme.py "$(NAME)"

new-scheme: $(VENV)/.made  ## copy a template to a new folder that builds and passes: make new-scheme NAME=swift KIND=window
	@$(PY) tools/new_scheme.py "$(NAME)" "$(KIND)"

golden: setup  ## rewrite the golden files; read the diff before you commit it
	INSTA_UPDATE=always INSTA_FORCE_PASS=1 cargo test --workspace --locked
	UPDATE_GOLDEN=1 $(PY) -m pytest -q tests/python/test_width.py

registry: $(VENV)/.made  ## rewrite the block in schemes/lib.rs from the folders
	@$(PY) tools/registry.py

docs: $(VENV)/.required  ## rewrite the catalogue, tables of parameters, reference pages, builders and manual page; without a release build
	@$(PY) tools/catalogue.py
	@$(PY) tools/manual.py

film: setup  ## take the ten pictures of docs/gallery/film.md again (needs a wheel in dist, Chromium and npm)
	@$(PY) tools/film.py

site: setup  ## build the site of the docs in out/site: runs every scenario for the gallery; warnings are errors
	@$(PY) tools/docsite.py

figures: setup  ## redraw the pictures of the docs, and the tables of the comparisons
	@$(PY) tools/picture.py

video: setup  ## repeat the experiment of the guide on live video, and draw its figure (needs root and ffmpeg; 3 min)
	@$(PY) tools/video.py

requirements: $(VENV)/.made  ## lock what both pyproject.toml name, with hashes and without a registry, in requirements.txt (needs uv)
	@$(PY) tools/requirements.py | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header - -o requirements.txt

interop: setup  ## build the Go forwarder ndnd, fetch from it and serve to it, and measure both clients
	@$(PY) tools/interop.py build
	@$(PY) tools/interop.py run

ci: setup  ## all that CI runs
	@$(PY) tools/count.py ci

clean:  ## remove what the targets made, except the compiled Rust
	rm -rf $(VENV) out python/thalweg/_native*.so

$(VENV)/.made:
	@PYTHON=$(PYTHON) tools/venv $(VENV)
	@touch $@

$(VENV)/.required: $(VENV)/.made requirements.txt
	@echo "installing the Python libraries"
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.installed: $(VENV)/.required $(SOURCES) papers/pyproject.toml
	@$(PY) tools/wheels.py install
	@touch $@
