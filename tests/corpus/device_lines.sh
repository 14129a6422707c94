#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares lines and inline chains of device code with nvdisasm -gi over a corpus: every .cu file of
# samples/ and tests/ (and of the folders given), built for every architecture that nvcc knows, whole
# and with -rdc. Needs nvdisasm at configuration.
# usage: tests/corpus/device_lines.sh BUILD_FOLDER [FOLDER...]
set -eu
build=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
nvcc=$(sed -n 's/^DRGPUM_NVCC:[A-Z]*=//p' "$build/CMakeCache.txt")
test=$(find "$build" -name cubin_lines_test -type f | head -n 1)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cubins=
count=0
for source in $(find "$root/samples" "$root/tests" "$@" -name '*.cu'); do
  for arch in $("$nvcc" --list-gpu-code); do
    for mode in whole rdc; do
      name=$out/$count.cubin
      if "$nvcc" -cubin -lineinfo -arch="$arch" -rdc=$([ $mode = rdc ] && echo true || echo false) \
          -I"$root" -Wno-deprecated-gpu-targets -o "$name" "$source" 2> /dev/null; then
        cubins=$cubins:$name
        count=$((count + 1))
      fi
    done
  done
done
echo "$count cubins"
DRGPUM_CUBINS=${cubins#:} "$test" --gtest_filter='*NvidiasDisassembler'
