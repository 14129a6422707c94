#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compares lines and inline chains of device code with nvdisasm -gi over a corpus: generated programs
# (make_programs.py), each assembled for every architecture that nvcc knows, alone and linked with a second
# unit (-rdc). One program at a time, so that it can be stopped and taken up again.
#   tests/corpus/device_lines.sh BUILD_FOLDER [FIRST [COUNT [ARCHITECTURE...]]]
# nvdisasm: DRGPUM_NVDISASM, else the one that the build found.
set -euo pipefail
build=$1 first=${2:-0} count=${3:-30}
shift $(($# < 3 ? $# : 3))
here=$(cd "$(dirname "$0")" && pwd)
nvcc=$(sed -n 's/^DRGPUM_NVCC:[A-Z]*=//p' "$build/CMakeCache.txt")
tools=$(dirname "$nvcc")
test=$(find "$build" -name cubin_lines_test -type f | head -n 1)
architectures=${*:-$("$nvcc" --list-gpu-code)}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python3 "$here/make_programs.py" "$out" $((first + count))

assemble() {  # PROGRAM: its cubins, named by architecture and form
  local unit architecture
  "$nvcc" -ptx -lineinfo -arch=compute_75 -w -o "$out/$1.ptx" "$out/$1.cu"
  for unit in "$1" "$1_far"; do
    "$nvcc" -ptx -rdc=true -lineinfo -arch=compute_75 -w -o "$out/$unit.rdc.ptx" "$out/$unit.cu"
  done
  for architecture in $architectures; do
    "$tools/ptxas" -lineinfo -arch="$architecture" -o "$out/$1.$architecture.cubin" "$out/$1.ptx"
    for unit in "$1" "$1_far"; do
      "$tools/ptxas" -c -lineinfo -arch="$architecture" -o "$out/$unit.$architecture.o" "$out/$unit.rdc.ptx"
    done
    "$tools/nvlink" -arch="$architecture" -o "$out/$1.$architecture.linked.cubin" \
      "$out/$1.$architecture.o" "$out/$1_far.$architecture.o"
  done
}

checked=0
failed=()
for ((number = first; number < first + count; ++number)); do
  program=$(printf 'p%02d' "$number")
  assemble "$program"
  cubins=("$out/$program".*.cubin)
  if ! DRGPUM_CUBINS=$(IFS=:; printf '%s' "${cubins[*]}") "$test" --gtest_filter='*NvidiasDisassembler' >"$out/log" 2>&1 ||
      grep -q SKIPPED "$out/log"; then
    head -n 40 "$out/log"
    failed+=("$program")
  fi
  sed -n "s/^compared /$program: /p" "$out/log"
  checked=$((checked + ${#cubins[@]}))
  rm -f "$out/$program"[._]*
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "of $checked cubins of $count programs, some of these differ: ${failed[*]}"
  exit 1
fi
echo "$checked cubins of $count programs agree"
