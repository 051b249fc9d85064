#!/usr/bin/env bash
# Development build: .venv with the tools, then the editable install, rebuilt only where sources changed.
# Usage: tools/build.sh [extra ...]     (extras of pyproject.toml; default: dev test plot mesh jit viewer and $EXTRAS)
# Environment: EXTRAS (more of them), PYTHON (interpreter for a new .venv), CXX, JOBS (parallel compilers, default 2),
# NATIVE_ONLY (ON: a new build compiles only the variant that this machine uses; later ones without it add the other).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "$*" >&2
    exit 1
}

first_of() {
    local program
    for program in "$@"; do
        [ -z "$program" ] || ! command -v "$program" >/dev/null || { echo "$program" && return; }
    done
    return 1
}

check_machine() {
    local python=$1
    command -v "$python" >/dev/null || fail "bellcrank needs Python 3.11 or newer: install the Debian package python3."
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "bellcrank needs Python 3.11 or newer, but $python is older: install a newer one or set PYTHON."
    [ -x .venv/bin/pip ] || "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "bellcrank needs Python's venv module: install the Debian package python3-venv."
    # Named outright, for the interpreter may remember a compiler that this machine does not have.
    CXX=$(first_of "${CXX:-}" c++ g++ clang++) || fail "bellcrank needs a C++20 compiler: install the Debian package g++."
    CC=$(first_of "${CC:-}" cc gcc clang) || fail "bellcrank needs a C compiler: install the Debian package gcc."
    export CXX CC
    "$python" -c 'import os, sys, sysconfig as c; sys.exit(not os.path.exists(c.get_path("include") + "/Python.h"))' ||
        fail "bellcrank needs Python's headers: install the Debian package python3-dev."
}

# What was installed for extras of earlier calls stays, and is not installed again.
install_requirements() {
    local wanted known=.venv/.requirements
    wanted=$(.venv/bin/python tools/requirements.py "$@" | LC_ALL=C sort)
    touch "$known"
    if [ -n "$(LC_ALL=C comm -23 <(echo "$wanted") <(LC_ALL=C sort "$known"))" ]; then
        echo "installing the requirements of ${*} into .venv"
        .venv/bin/pip install --quiet -r <(echo "$wanted") ||
            fail "the requirements of ${*} could not be installed: see pip's message above."
        echo "$wanted" | LC_ALL=C sort -u -o "$known" - "$known"
        rm -f build/.installed
    fi
}

# The editable install knows the Python files there were: it must be renewed when one of them has gone (new ones are
# found, but for a new __init__.py in a folder that it knows without), when what pyproject.toml says of it changed, and
# when there is none.
editable_is_stale() {
    [ ! -e build/.installed ] || [ "$(install_settings)" != "$(cat build/.settings 2>/dev/null)" ] ||
        [ -n "$(comm -23 build/.sources <(python_sources))" ] ||
        [ -n "$(comm -13 build/.sources <(python_sources) | grep '/__init__\.py$')" ]
}

# The tables of pyproject.toml that an install depends on, not those of the linters.
install_settings() {
    awk '/^\[/ { wanted = /^\[(build-system|project|tool\.scikit-build)/ } wanted' pyproject.toml
}

python_sources() {
    find src -name '*.py' | LC_ALL=C sort
}

install_editable() {
    .venv/bin/pip install --quiet --no-build-isolation --no-deps -C cmake.define.BELLCRANK_NATIVE_ONLY="$native" -e .
    python_sources >build/.sources
    install_settings >build/.settings
}

lacks_a_variant() {
    [ "$native" = OFF ] && grep -qs '^BELLCRANK_NATIVE_ONLY:BOOL=ON' build/editable-*/CMakeCache.txt
}

# Rebuild in place of a reinstall: each file is replaced in one step, so that running programs never see half a module.
rebuild_core() {
    local tree=$1 stage=build/stage site file
    ! lacks_a_variant || .venv/bin/cmake -DBELLCRANK_NATIVE_ONLY=OFF "$tree" >/dev/null
    .venv/bin/cmake --build "$tree" >build/log || { cat build/log >&2; exit 1; }
    .venv/bin/cmake --install "$tree" --prefix "$stage" --strip >/dev/null
    site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    for file in "$stage"/bellcrank/*; do
        replace "$file" "$site/bellcrank/$(basename "$file")"
    done
}

replace() {
    cmp --silent "$1" "$2" || { cp "$1" "$2.new" && mv "$2.new" "$2"; }
}

python=${PYTHON:-python3} native=${NATIVE_ONLY:-OFF}
check_machine "$python"
mkdir -p build
exec 9>build/.lock
if command -v flock >/dev/null; then
    flock 9 # one build at a time
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2}
[ -x .venv/bin/pip ] || "$python" -m venv .venv
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2086 (words)
    set -- dev test plot mesh jit viewer ${EXTRAS:-}
fi
install_requirements "$@"
tools/page.sh

if editable_is_stale; then
    step=install_editable
elif lacks_a_variant || [ -n "$(find cpp bindings cmake CMakeLists.txt -newer build/.installed -print -quit)" ]; then
    step=rebuild_core
else
    echo "the core is up to date"
    exit 0
fi
touch build/.started
tag=$(.venv/bin/python -c 'import sys; print(sys.implementation.cache_tag.replace("cpython-", "cp"))')
$step "$(ls -d build/editable-"$tag"-* 2>/dev/null | head -n 1)"
replace build/editable-"$tag"-*/_core.pyi src/bellcrank/_core.pyi
mv build/.started build/.installed
