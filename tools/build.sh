#!/usr/bin/env bash
# Development build: .venv with the tools, then the editable install, rebuilt only where sources changed.
# Usage: tools/build.sh [extra ...]     (extras of pyproject.toml; default: dev test plot mesh)
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "$*" >&2
    exit 1
}

python=${PYTHON:-python3}
command -v "$python" >/dev/null || fail "bellcrank needs Python 3.11 or newer: install the Debian package python3."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "bellcrank needs Python 3.11 or newer, but $python is older: install a newer one or set PYTHON."
command -v "${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null ||
    fail "bellcrank needs a C++20 compiler: install the Debian package g++."
[ -x .venv/bin/python ] || "$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "bellcrank needs Python's venv module: install the Debian package python3-venv."

mkdir -p build
exec 9>build/.lock
if command -v flock >/dev/null; then
    flock 9 # one build at a time
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2}
if [ ! -x .venv/bin/pip ]; then
    "$python" -m venv .venv
fi

extras=("$@")
[ ${#extras[@]} -gt 0 ] || extras=(dev test plot mesh)
wanted=$(.venv/bin/python tools/requirements.py "${extras[@]}")
if [ "$wanted" != "$(cat .venv/.requirements 2>/dev/null)" ]; then
    echo "installing the requirements of ${extras[*]} into .venv"
    .venv/bin/pip install --quiet -r <(echo "$wanted")
    echo "$wanted" >.venv/.requirements
    rm -f build/.installed
fi

changed() {
    [ ! -e build/.installed ] || [ -n "$(find "$@" -newer build/.installed -print -quit)" ]
}
if changed cpp bindings cmake CMakeLists.txt pyproject.toml; then
    touch build/.started
    .venv/bin/pip install --quiet --no-build-isolation --no-deps -C editable.verbose=false -e .
    stub=$(ls -t build/editable-*/_core.pyi | head -n 1)
    cmp --silent "$stub" src/bellcrank/_core.pyi || cp "$stub" src/bellcrank/_core.pyi
    mv build/.started build/.installed
else
    echo "the core is up to date"
fi
