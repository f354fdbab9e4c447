# The two commands a newcomer needs: `make demo` and `make test`. Both install what is missing
# (Debian packages), build, and run. Everything else is a convenience.
BUILD := build/release
JOBS  := $(shell nproc)

# Compiled files are kept and shared between clones where ccache is installed.
CCACHE := $(shell command -v ccache)
ifneq ($(CCACHE),)
export CMAKE_CXX_COMPILER_LAUNCHER ?= $(CCACHE)
export CCACHE_BASEDIR   := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# Without these two, ccache does not keep what is compiled with precompiled headers.
export CCACHE_SLOPPINESS := pch_defines,time_macros
endif

FUZZ_SECONDS = $(or $(SECONDS),60)
.PHONY: help build bootstrap-python all demo test test-web check asan tsan clang mpi bench format docs install package test-package python python-package clean bootstrap bootstrap-clang fuzz faults memory valgrind soak test-mpi

help:
	@echo "make demo     install what is missing, build, show what DGAT is for on a generated graph"
	@echo "make test     install what is missing, build, run every test"
	@echo "make test-web install Chromium if missing, open report pages in it and check them"
	@echo "make build    build the release binary: $(BUILD)/bin/dgat"
	@echo "make all      build the binary, tests, benchmarks and examples"
	@echo "make check    format, clang-tidy, layer rule, generated docs (scripts/check)"
	@echo "make asan     build everything with clang, run the tests under AddressSanitizer and UBSan"
	@echo "make tsan     the tests of the modules with threads under ThreadSanitizer"
	@echo "make fuzz     run the fuzz targets, SECONDS=60 each; make faults: calls of the system fail one by one"
	@echo "make memory   the estimated memory of trainings beside the measured; make valgrind: some tests under it"
	@echo "make soak     an hour (SECONDS=3600) of kills and resumes at random moments"
	@echo "make clang    build with clang and run the tests"
	@echo "make mpi      build dgat-mpi, which trains one graph on several machines, beside dgat"
	@echo "make test-mpi build dgat-mpi and compare its weights with those of dgat, also after a killed rank"
	@echo "make bench    run the benchmarks"
	@echo "make format   rewrite sources with clang-format"
	@echo "make docs     regenerate docs/cli.md, and build/docs/python, the reference of the Python package"
	@echo "make python   install the Python package into build/venv, offline, and run its tests"
	@echo "make install  install to PREFIX (default /usr/local)"
	@echo "make package  build/release/packages: a .deb and a tarball that runs anywhere"
	@echo "make test-package  unpack both into empty folders and try them"

bootstrap:
	@scripts/bootstrap

# Configuring prints pages of output, shown only when it fails. CONFIGURE adds options.
build/%/build.ninja: | bootstrap
	@mkdir -p build
	@cmake --preset $* $(CONFIGURE) > build/$*.log 2>&1 || { cat build/$*.log; exit 1; }

# What a user needs, and what else is there: tests, benchmarks, examples (more than half as much again).
build: bootstrap $(BUILD)/build.ninja
	@cmake --build --preset release -j $(JOBS) --target dgat
all: bootstrap $(BUILD)/build.ninja
	@cmake --build --preset release -j $(JOBS)

mpi: bootstrap
	@scripts/bootstrap mpi
	@mkdir -p build
	@cmake --preset mpi $(CONFIGURE) > build/mpi.log 2>&1 || { cat build/mpi.log; exit 1; }
	@cmake --build --preset mpi -j $(JOBS)

test-mpi: mpi
	@tests/cli/mpi.sh $(BUILD)/bin/dgat $(BUILD)/bin/dgat-mpi

demo: build
	@scripts/demo "$(CURDIR)/$(BUILD)/bin/dgat"

test: all
	@ctest --preset release

test-web: all
	@scripts/test-web $(BUILD)/bin

check: build bootstrap-clang
	@scripts/check

# Other presets: build and test.
bootstrap-clang:
	@scripts/bootstrap clang
build/asan/build.ninja build/tsan/build.ninja build/clang/build.ninja: | bootstrap-clang
asan tsan clang: %: bootstrap build/%/build.ninja
	@cmake --build --preset $@ -j $(JOBS)
	@ctest --preset $@

# The fuzz targets are part of the build of asan.
fuzz: bootstrap build/asan/build.ninja
	@cmake --build --preset fuzz -j $(JOBS)
	@fuzz/run build/asan $(FUZZ_SECONDS)

# Every value of n up to the number of calls; the tests take a dozen of each kind.
faults: all
	@tests/faults/faults.py --dense $(BUILD)/bin/dgat $(BUILD)/lib/libdgat_fail.so
# Ten graphs, the largest with a million nodes: the estimate of a training's memory beside the peak.
memory: build
	@bench/memory.py $(BUILD)/bin/dgat ../shared/datasets --limit 15
# What neither sanitizer sees: reads of memory that was never set, in the release build.
valgrind: all
	@scripts/bootstrap valgrind
	@scripts/valgrind $(BUILD)/bin
soak: all
	@tests/faults/kills.py $(BUILD)/bin/dgat --seconds $(or $(SECONDS),3600)

bench: all
	@scripts/bench $(BUILD)

format:
	@scripts/check --write format

# Debian's interpreter, whose NumPy and SciPy are Debian packages; PYTHON=... chooses another one.
PYTHON ?= /usr/bin/python3
VENV   := build/venv
bootstrap-python:
	@scripts/bootstrap python
python-package: bootstrap-python build
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv --system-site-packages $(VENV)
	@DGAT_BUILD_DIR=$(CURDIR)/$(BUILD) $(VENV)/bin/pip install --quiet --no-build-isolation --no-index --no-deps \
	  --disable-pip-version-check --force-reinstall ./python
python: python-package
	@DGAT_BINARY=$(CURDIR)/$(BUILD)/bin/dgat scripts/test-python $(VENV)/bin/python

docs: python-package
	@$(BUILD)/bin/dgat reference > docs/cli.md
	@$(VENV)/bin/python -m sphinx -W -q -E -b html python/reference build/docs/python

PREFIX ?= /usr/local
install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

package: build
	@scripts/package $(BUILD)
test-package: package
	@scripts/test-package $(BUILD)

clean:
	@rm -rf build
