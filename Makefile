# make           build the program
# make demo      build, then write and verify a kernel on the virtual GPU
# make test      build everything and run all tests that this machine can run, except long ones
# make test-all  make test and long tests, then `make test` on a minimal Debian with only its own packages (tools/bare-check; needs root)
# make asan      the same tests under AddressSanitizer and UBSan
# make audit     look for faults of our own: pins, cppcheck, clang-tidy, sanitizers, fuzzers, campaigns of faults (hours)
# make bench     run the benchmarks (they print numbers and check nothing)
# make wheel     build the Python package with library and workers, as a wheel in BUILD/dist
# make lint      run ruff and mypy on the Python package; they are fetched if missing
BUILD ?= build
KW := $(BUILD)/kernelwright

.PHONY: all demo test test-all asan audit bench wheel lint clean
all: $(BUILD)/build.ninja
	@tools/quiet "building" cmake --build $(BUILD) --target kernelwright

$(BUILD)/build.ninja: CMakeLists.txt
	@tools/setup packages
	@tools/quiet "configuring" cmake --preset release -B $(BUILD)

demo: all
	@tools/setup compiler $(KW)
	@$(KW) demo

test: $(BUILD)/build.ninja
	@{ tools/setup torch $(BUILD); tools/setup mcp $(BUILD); } & fetching=$$!; tools/quiet "building" cmake --build $(BUILD) || exit; wait $$fetching
	@tools/setup test-compilers $(KW)
	@tools/run-tests $(BUILD)

test-all: test
	@tools/quiet "building long tests" cmake --build $(BUILD) --target long_tests
	@tools/run-tests $(BUILD) --all -L '^long$$'
	@tools/bare-check
	@tools/bare-check --wheels

asan:
	@tools/setup packages
	@tools/quiet "configuring" cmake --preset asan
	@tools/quiet "building" cmake --build build-asan
	@for venv in torch-venv nvrtc-venv; do [ ! -d build/$$venv ] || ln -sfn ../build/$$venv build-asan/$$venv; done
	@tools/run-tests build-asan

audit: $(BUILD)/build.ninja
	@tools/audit

bench: all
	@tools/quiet "building benchmarks" cmake --build $(BUILD) --target benchmarks
	@for program in $(BUILD)/bench/bench_*; do echo "== $$program"; $$program; done

wheel: $(BUILD)/build.ninja
	@tools/quiet "building" cmake --build $(BUILD) --target kernelwright kwlibrary
	@python3 python/kw_build/kw_build.py $(BUILD) $(BUILD)/dist

lint:
	@tools/setup lint $(BUILD)
	@KW_BUILD=$(abspath $(BUILD)) python3 -B tests/python/test_tools.py

clean:
	rm -rf $(BUILD) build-asan build-tsan build-dev build-fuzz build-tidy
