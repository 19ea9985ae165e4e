# Two commands matter to a reader: make book, make test. The others are for whoever works on it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
CASES ?= 1000
KILLS ?= 60
LINES := .pytest_cache/lines
UV_COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --no-header --no-annotate -q \
  --generate-hashes

.PHONY: book report serve pdf zip test test-all fuzz faults laws mutants lines answers check check-site bench engine lock sync font pin clean

book: $(VENV)/.ready
	$(BIN)/jupyter-book build book/
	@echo "English: _build/html/index.html"
	@echo "中文：   _build/html/zh/index.html"

report: $(VENV)/.ready  ## SCENARIO=mine.yml [DEVICE=card.yml] [BOOK_LANG=en|zh] [OUT=report.html] [BOOK=…]
	@$(BIN)/python book/_ext/report.py --device="$$DEVICE" --lang="$$BOOK_LANG" --out="$$OUT" \
	  --book="$$BOOK" -- "$$SCENARIO"

serve: book
	@echo "http://127.0.0.1:$(PORT)/ (English), http://127.0.0.1:$(PORT)/zh/ (中文); Ctrl-C ends it"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

pdf: book  ## the chapters as a PDF per language, into the site (needs Chromium)
	$(BIN)/python -m tools.site.printed
	$(BIN)/jupyter-book build book/ > /dev/null

zip: book  ## the site as one file, into the site
	PYTHONPATH=book $(BIN)/python -m _ext.taking.packed

test: SHORT := --short  ## minutes: a tenth of every long series, nothing that needs the whole book
test test-all: $(VENV)/.ready-test  ## test-all: everything
	$(BIN)/ruff check .
	$(BIN)/mypy & types=$$!; \
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder $(SHORT) $(ARGS); tests=$$?; \
	wait $$types && exit $$tests

check: $(VENV)/.ready-test  ## a contributor's loop: what imports what differs from main, nearest first
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.changed $(ARGS)

fuzz: $(VENV)/.ready-test  ## CASES=5000 hostile files and arguments of every door; ARGS="--door results"
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.fuzzing --cases $(CASES) $(ARGS)

check-site: book $(VENV)/.ready-test  ## the built site held against its bars (needs Chromium); ARGS="--calculators --build"
	$(BIN)/python -m tools.site.checked $(ARGS)

bench: $(VENV)/.ready-test  ## measure; writes benchmarks/results.json
	$(BIN)/python -m benchmarks

laws: $(VENV)/.ready-test  ## CASES=10000 random usual deployments, on which the laws of the whole are held
	LAWS=$(CASES) OMP_NUM_THREADS=1 $(BIN)/pytest -q tests/laws $(ARGS)

answers: $(VENV)/.ready-test  ## record anew what the command line answers; git diff shows what moved
	rm -rf tools/answers/recorded
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.answers --write

faults: $(VENV)/.ready-test  ## KILLS=60 of commands at moments drawn; ARGS="--command build"
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.faults --kills $(KILLS) $(ARGS)

mutants: $(VENV)/.ready-test  ## ROOM="calc/costing …" ARGS="--count 20 --seed 0": which faults no test sees; needs the times of a make test-all
	$(BIN)/python -m pip install --quiet -r requirements-mutants.in
	$(BIN)/python -m tools.mutants $(ROOM) $(if $(wildcard $(LINES)),--lines $(LINES)) $(ARGS)

lines: $(VENV)/.ready-test  ## record which test runs which line of the runtime, by which make mutants begins
	$(BIN)/python -m pip install --quiet -r requirements-mutants.in
	COVERAGE_FILE=$(LINES) OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --short -p pytest_cov --cov --cov-context=test --cov-report= \
	    tests/calc tests/catalogue tests/laws calc catalogue
	COVERAGE_FILE=$(LINES) OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 -p pytest_cov --cov --cov-append --cov-context=test --cov-report= \
	    tests/tools/answers

engine: $(VENV)/.ready  ## what deploy writes, in a real vLLM on the processor: 3.5 GB; writes notebooks/pages/deciding/engine.json
	$(BIN)/python -m tools.engine --environment .engine $(ARGS)

lock: $(VENV)/.ready  ## accept what the derivations now export into notebooks/derive/formulas/formulas.json
	$(BIN)/python -m notebooks.derive.lock

sync: $(VENV)/.ready  ## write the committed .ipynb of the parameterised notebooks, and the schemas
	$(BIN)/python -m notebooks.derive.sync
	$(BIN)/python -m catalogue.schemas

font: $(VENV)/.ready-test  ## rebuild the subset of the Chinese font that the figures use (needs npm)
	$(BIN)/python notebooks/show/fonts/subset.py

pin: $(VENV)/.ready-test  ## pin all versions anew, with their licences
	$(UV_COMPILE) -U requirements-engine.in requirements-analysis.in requirements.in -o requirements.txt
	$(UV_COMPILE) -U -c requirements.txt requirements-engine.in requirements-analysis.in requirements.in requirements-test.in -o .pin.tmp
	(echo "-c requirements.txt"; grep -vxFf requirements.txt .pin.tmp) > requirements-test.txt
	rm .pin.tmp
	$(BIN)/python -m tools.packages.bom

clean:
	rm -rf _build book/chapters

$(VENV)/.ready: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready requirements-test.txt
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --require-hashes -r requirements-test.txt
	@touch $@
