#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Set-up and build: scripts/build.sh [PRESET] [TARGET...]   (default preset: release)
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
[ $# -eq 0 ] || shift
scripts/setup.sh
. build/toolchain/env.sh
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
if ! cmake --preset "$preset" >"build/configure-$preset.log" 2>&1; then
  tail -30 "build/configure-$preset.log" >&2
  printf '[build] error: configuring failed; whole log: build/configure-%s.log\n' "$preset" >&2
  exit 1
fi
printf '[build] preset %s, %s jobs\n' "$preset" "$(nproc)" >&2
cmake --build "build/$preset" --parallel "$(nproc)" ${1+--target "$@"}
