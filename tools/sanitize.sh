#!/usr/bin/env bash
# The core under the address and undefined-behaviour sanitizers: built in build/sanitize beside the ordinary one, then
# the tests that exercise it and a sample of every fuzzer. Fails if a test does, and if a sanitizer reports anything.
# Usage: tools/sanitize.sh [argument of pytest ...]     (default: every test of the core)
# Environment: JOBS (compilers and test workers, default 2), FUZZ_COUNT (of each fuzzer, default 40), BELLCRANK_CORE.
set -euo pipefail
cd "$(dirname "$0")/.."

tree=$PWD/build/sanitize
bin=$PWD/.venv/bin
jobs=${JOBS:-2}
core=${BELLCRANK_CORE:-$("$bin/python" -c 'from bellcrank import _core; print(_core.variant)')}

# GCC's runtime must come before everything else; libstdc++ must be there when it looks for what throws exceptions.
preloaded() {
    local library
    for library in libasan.so libstdc++.so; do
        printf '%s ' "$(realpath "$("${CXX:-g++}" -print-file-name="$library")")"
    done
}

build() {
    PATH=$bin:$PATH cmake -S . -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DBELLCRANK_SANITIZE=ON -DBELLCRANK_UNITY=OFF \
        -DPython_EXECUTABLE="$bin/python" >/dev/null
    PATH=$bin:$PATH cmake --build "$tree" --parallel "$jobs" --target _cpu "_core_$core"
}

# A package of links to the Python sources and the sanitized core, and an environment in which it is found first. The
# development environment's own hook for bellcrank is not in it, its packages are.
environment() {
    local site="$tree/site/bellcrank" packages
    rm -rf "$tree/site" && mkdir -p "$site"
    ln -s "$PWD"/src/bellcrank/* "$tree"/_cpu*.so "$tree/_core_$core"*.so "$site"
    [ -x "$tree/venv/bin/python" ] || "$bin/python" -m venv --without-pip "$tree/venv"
    packages=$("$tree/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    printf '%s\n' "$tree/site" "$("$bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
        >"$packages/bellcrank.pth"
}

# Leaks are not looked for: Python itself keeps much until the end (tests/fuzz/memory.py measures growth instead).
sanitized() {
    env BELLCRANK_CORE="$core" LD_PRELOAD="$(preloaded)" \
        ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:log_path=$tree/reports/report" \
        UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1" "$tree/venv/bin/python" "$@"
}

fuzz() {
    local fuzzer more
    for fuzzer in $(ls tests/fuzz/*.py | grep -v -e /test_ -e /memory.py -e /soak.py -e /corpora.py); do
        echo "$fuzzer"
        case $fuzzer in */results.py) more="--kills 5" ;; *) more= ;; esac
        # shellcheck disable=SC2086 (none, or two words)
        sanitized "$fuzzer" --count "${FUZZ_COUNT:-40}" --jobs 1 $more || failed=1
    done
}

build
environment
rm -rf "$tree/reports" && mkdir "$tree/reports"
failed=0
if [ $# -eq 0 ]; then
    # Not those that bring a heap of their own, and not those of figures, documents and timings.
    set -- -n "$jobs" --ignore tests/core/test_allocation.py --ignore tests/programs/test_allocation.py \
        tests/{assembly,constraints,core,expression,forces,formulas,formulations,functions,integrate,joints}*/ \
        tests/{programs,reference,spatial,statics,trajectory,analysis,io}/ \
        tests/{adaptive,assemblies,cones,contacts,geometry}/
    fuzz
fi
# The sanitizer of undefined behaviour writes to the error stream, which must not be captured, and ends the process.
sanitized -m pytest --capture=sys -m "not timed" "$@" || failed=1
if [ -n "$(ls "$tree/reports")" ]; then
    cat "$tree"/reports/* | head -n 200
    echo "the sanitizers reported: all of it is in $tree/reports"
    failed=1
fi
exit $failed
