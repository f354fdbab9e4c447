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

.PHONY: help build all demo test test-web check asan tsan clang bench format docs install clean bootstrap bootstrap-clang

help:
	@echo "make demo     install what is missing, build, run the main job on a generated graph"
	@echo "make test     install what is missing, build, run every test"
	@echo "make test-web install Chromium if missing, open report pages in it and check them"
	@echo "make build    build the release binary: $(BUILD)/bin/dgat"
	@echo "make all      build the binary, tests, benchmarks and examples"
	@echo "make check    format, clang-tidy, layer rule, generated docs (scripts/check)"
	@echo "make asan     build and run the tests under AddressSanitizer and UBSan"
	@echo "make tsan     the tests of the modules with threads under ThreadSanitizer"
	@echo "make clang    build with clang and run the tests"
	@echo "make bench    run the benchmarks"
	@echo "make format   rewrite sources with clang-format"
	@echo "make docs     regenerate docs/cli.md from the binary"
	@echo "make install  install to PREFIX (default /usr/local)"

bootstrap:
	@scripts/bootstrap

# Configuring prints pages nobody reads: shown only when it fails. CONFIGURE adds options.
build/%/build.ninja: | bootstrap
	@mkdir -p build
	@cmake --preset $* $(CONFIGURE) > build/$*.log 2>&1 || { cat build/$*.log; exit 1; }

# What a user needs, and what else is there: tests, benchmarks, examples (more than half as much again).
build: bootstrap $(BUILD)/build.ninja
	@cmake --build --preset release -j $(JOBS) --target dgat
all: bootstrap $(BUILD)/build.ninja
	@cmake --build --preset release -j $(JOBS)

demo: build
	@scripts/demo "$(CURDIR)/$(BUILD)/bin/dgat"

test: all
	@ctest --preset release

test-web: all
	@scripts/test-web $(BUILD)/bin

check: build
	@scripts/check

# Other presets: build and test.
bootstrap-clang:
	@scripts/bootstrap clang
build/clang/build.ninja: | bootstrap-clang
clang: bootstrap-clang
asan tsan clang: %: bootstrap build/%/build.ninja
	@cmake --build --preset $@ -j $(JOBS)
	@ctest --preset $@

bench: all
	@scripts/bench $(BUILD)

format:
	@scripts/check --write format

docs: build
	@$(BUILD)/bin/dgat reference > docs/cli.md

PREFIX ?= /usr/local
install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf build
