# Everything is set up by the targets themselves, in .venv. JOBS: compilers and test workers at once.
JOBS ?= 2
PYTHON ?= python3
PYTEST_ARGS ?= -n $(JOBS)
EXTRAS ?=
BENCH_ARGS ?=
FUZZ ?= differential hostile files containers robots calls commands results singular contacts cones tyres starts gears impacts friction changes bounds locks decisions stops linearize derivatives followed statics rests beams reach crawl certificates corpora
FUZZ_ARGS ?=
MEMORY_ARGS ?=
SOAK_ARGS ?=
SANITIZE_ARGS ?=
WHEEL_LIMIT_MB := 8
export JOBS PYTHON EXTRAS

BIN := .venv/bin
CPP_FILES = $(shell find cpp bindings -name '*.[ch]pp' -o -name '*.c')

.DEFAULT_GOAL := build
.PHONY: build web test fuzz soak memory sanitize demo bench docs lint format wheel dist clean help

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 10

build: ## .venv with the development tools, the core compiled, the page bundled, editable install
	@tools/build.sh

test: build ## the tests (PYTEST_ARGS="-n 0 -k name" for some of them; EXTRAS="oracles models docs notebooks browser frameworks" installs what they need)
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

fuzz: build ## random mechanisms, files, calls, commands, results, singular poses, contacts, starts, impacts, verdicts and more, all that FUZZ names (FUZZ="files calls"); a day
	@status=0; for kind in $(FUZZ); do echo "$$kind"; \
	  $(BIN)/python tests/fuzz/$$kind.py --jobs $(JOBS) $(FUZZ_ARGS) || status=1; done; exit $$status

soak: build ## live sessions used for an hour by script: drags, switches, jogging, garbage (SOAK_ARGS="--minutes 5")
	@$(BIN)/python tests/fuzz/soak.py $(SOAK_ARGS)

memory: build ## 10,000 reloads, drives and runs leave nothing behind (MEMORY_ARGS="--count 500"); a quarter of an hour
	@$(BIN)/python tests/fuzz/memory.py $(MEMORY_ARGS)

sanitize: build ## the core's tests and a sample of the fuzzers under sanitizers (SANITIZE_ARGS="tests/joints")
	@tools/sanitize.sh $(SANITIZE_ARGS)

demo: ## simulate the demonstration mechanism; figures and the run in build/demo*, and how to see it live
	@NATIVE_ONLY=ON tools/build.sh
	@$(BIN)/bellcrank demo --folder build

bench: wheel ## timings, beside other engines, in a venv of its own (BENCH_ARGS="name --option")
	@[ -x .venv-bench/bin/pip ] || $(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/pip install --quiet -r benchmarks/requirements.txt "$$(ls dist/*.whl)[plot,jit]"
	@.venv-bench/bin/pip install --quiet --no-deps --force-reinstall dist/*.whl
	@.venv-bench/bin/bellcrank bench $(BENCH_ARGS)

docs: override EXTRAS += docs
docs: build ## the documentation as a web site in build/site, pages, gallery, reference and search, all offline
	@PYTHONPATH=tools $(BIN)/python -m docs_site build/site

lint: build ## everything that is checked without running the code
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	@$(BIN)/python tools/check_sources.py

web: build ## the page's own sources: their types and unit tests, with packages of npm
	@tools/page.sh --check

format: build ## rewrite Python and C++ in the house style
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(CPP_FILES)

wheel: build ## dist/*.whl; fails if it is larger than WHEEL_LIMIT_MB
	@rm -rf dist && $(BIN)/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .
	@ls -l dist/*.whl | awk -v limit=$(WHEEL_LIMIT_MB) \
	  '{ mb = $$5 / 1e6; printf "%s: %.2f MB\n", $$9, mb; if (mb > limit) { print "more than " limit " MB"; exit 1 } }'

dist: ## dist/: source archive and manylinux wheels, each tried without a compiler (PYTHONS="python3.12", DIST_TESTS=none)
	@tools/dist.sh

clean: ## remove everything built, the environments included
	rm -rf build dist .venv .venv-bench src/bellcrank/_core.pyi src/bellcrank/viewer/page/static .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
