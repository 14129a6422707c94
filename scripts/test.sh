#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Set-up, build, and every test.   scripts/test.sh [--long] [CTEST-ARGUMENTS...]
#   --long   also in the sanitizer builds (asan with ubsan, tsan), and tests labelled long
set -euo pipefail
cd "$(dirname "$0")/.."
long=
if [ "${1:-}" = --long ]; then
  long=1
  shift
fi

test_preset() {  # test_preset PRESET [CTEST-ARGUMENTS...]
  local preset=$1
  shift
  scripts/build.sh "$preset"
  . build/toolchain/env.sh
  printf '[test] preset %s\n' "$preset" >&2
  local fixed=()  # gcc 12's thread sanitizer cannot place its shadow where addresses are very random
  if [ "$preset" = tsan ] && setarch "$(uname -m)" --addr-no-randomize true 2>/dev/null; then
    fixed=(setarch "$(uname -m)" --addr-no-randomize)
  fi
  "${fixed[@]}" ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)" --no-tests=error "$@"
}

if [ -z "$long" ]; then
  test_preset release -LE 'gpu|long' "$@"
else
  test_preset release -LE gpu "$@"
  test_preset asan -LE 'gpu|long' "$@"
  test_preset tsan -LE 'gpu|long' "$@"
fi
