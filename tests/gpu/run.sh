#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every sample on the GPU and on the emulated device: findings, access sets, output and exit status are
# compared, one line a program. Needs an NVIDIA GPU with its driver, a built tree, and Python 3.
#   tests/gpu/run.sh [BUILD-FOLDER]      (default: build/release)
# Exit status: 0 all the same, 1 something differs, 2 not built, 77 no GPU here.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
if [ ! -x "$build/bin/drgpum" ]; then
  printf 'tests/gpu/run.sh: %s is not built; run scripts/build.sh first\n' "$build" >&2
  exit 2
fi
if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
  printf 'tests/gpu/run.sh: no NVIDIA GPU on this machine, nothing was compared\n' >&2
  exit 77
fi
exec python3 tests/gpu/compare_devices.py --build "$build"
