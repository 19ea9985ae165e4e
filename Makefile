# Two commands matter to a reader: make book, make test. The others are for whoever works on it.

PYTHON ?= python3
VENV := .venv
BUILD := .build
BIN := $(VENV)/bin
PORT ?= 8000
UV_COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --no-header --no-annotate -q \
  --generate-hashes
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
BOOK_IN := requirements-engine.in requirements-analysis.in requirements-report.in requirements.in

.PHONY: wheel wheelhouse release book serve pdf zip test test-site nightly answers baseline compare bench engine lock sync font pin clean

wheel: $(BUILD)/.ready  ## dist/will_it_fit-VERSION-py3-none-any.whl; needs setuptools alone
	rm -f dist/will_it_fit-*.whl
	$(BUILD)/bin/python book/_ext/export/build.py dist

wheelhouse: wheel  ## dist/wheelhouse: the wheel and all that it needs, to install without a network
	rm -rf dist/wheelhouse
	$(BUILD)/bin/python -m pip download --quiet --disable-pip-version-check --only-binary :all: --require-hashes \
	  -r requirements-engine.txt -r requirements-build.txt -d dist/wheelhouse
	cp dist/will_it_fit-*.whl dist/wheelhouse

release: wheel zip  ## dist/release: wheel, site, bill of materials, notes of CHANGELOG.md, SHA256SUMS
	rm -rf dist/release
	mkdir dist/release
	cp dist/will_it_fit-*.whl docs/sbom.cdx.json requirements-engine.txt _build/html/downloads/*.zip dist/release
	awk '/^## /{found = $$2 == "$(VERSION)"; next} found{print; n++} END{exit !n}' CHANGELOG.md > dist/release/NOTES.md
	cd dist/release && sha256sum *.whl *.zip *.json *.txt > SHA256SUMS

book: $(VENV)/.ready
	$(BIN)/jupyter-book build book/
	@echo "English: _build/html/index.html"
	@echo "中文：   _build/html/zh/index.html"

serve: book
	@echo "http://127.0.0.1:$(PORT)/ (English), http://127.0.0.1:$(PORT)/zh/ (中文); Ctrl-C ends it"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

pdf: book $(VENV)/.ready-test  ## the chapters as a PDF per language, into the site (needs Chromium)
	$(BIN)/python -m tools.site.pdf
	$(BIN)/jupyter-book build book/ > /dev/null

zip: book  ## the site as one file, into the site
	PYTHONPATH=book $(BIN)/python -m _ext.export.archive

test: $(VENV)/.ready-test  ## lint, types, and all tests but those of finished pages and the nightly ones
	$(BIN)/ruff check .
	$(BIN)/mypy & types=$$!; \
	$(BIN)/pytest -n logical --dist worksteal --ignore=tests/site $(ARGS); tests=$$?; \
	wait $$types && exit $$tests

test-site: book $(VENV)/.ready-test  ## build the book, test its pages (needs Chromium) and builds
	$(BIN)/pytest -n logical --dist loadfile tests/site $(ARGS)

nightly: test test-site  ## long series, 1000 examples per property, every page, two identical builds
	$(BIN)/pytest -n logical --dist worksteal -m "nightly or hypothesis" --hypothesis-profile=nightly $(ARGS)

bench: $(VENV)/.ready-test  ## [BESIDE=commit] [ARGS="PART … --python PATH"] speed beside a commit, into benchmarks/results.json
	$(BIN)/python -m benchmarks $(if $(BESIDE),--beside $(BESIDE)) $(ARGS)

answers: $(VENV)/.ready-test  ## record the answers to tools/answers/questions.txt; review them with git diff
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.answers --write

baseline: $(VENV)/.ready-test  ## [REV=commit] build the reference below .baseline/
	$(BIN)/python -m tools.baseline build $(if $(REV),--rev $(REV)) $(ARGS)

compare: $(VENV)/.ready-test  ## the working tree and its built book with the reference: pages, answers, quantities, deploys
	$(BIN)/python -m tools.baseline compare $(ARGS)

engine: $(VENV)/.ready  ## what deploy writes, in a real vLLM on the processor: 3.5 GB; writes notebooks/pages/deciding/engine.json
	$(BIN)/python -m tools.engine --environment .engine $(ARGS)

lock: $(VENV)/.ready  ## accept what the derivations now export into notebooks/derive/formulas/formulas.json
	$(BIN)/python -m notebooks.derive.lock

sync: $(VENV)/.ready  ## write the committed .ipynb of the parameterised notebooks, and the schemas for editors (not committed)
	$(BIN)/python -m notebooks.derive.sync
	$(BIN)/python -m catalogue.schemas

font: $(VENV)/.ready-test  ## rebuild the subset of the Chinese font that the figures use (needs npm)
	$(BIN)/python -m tools.fonts

pin: $(VENV)/.ready-test  ## pin all versions anew, with their licences
	$(UV_COMPILE) -U $(BOOK_IN) -o requirements.txt
	$(UV_COMPILE) -c requirements.txt requirements-engine.in -o requirements-engine.txt
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])' | \
	  $(UV_COMPILE) -c requirements.txt - -o requirements-build.txt
	$(UV_COMPILE) -U -c requirements.txt $(BOOK_IN) requirements-test.in -o .pin.tmp
	(echo "-c requirements.txt"; grep -vxFf requirements.txt .pin.tmp) > requirements-test.txt
	rm .pin.tmp
	$(BIN)/python -m tools.bom

clean:
	rm -rf _build book/chapters

$(BUILD)/.ready: requirements-build.txt
	$(PYTHON) -m venv $(BUILD)
	$(BUILD)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-build.txt
	@touch $@

$(VENV)/.ready: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready requirements-test.txt
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --require-hashes -r requirements-test.txt
	@touch $@
