#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh machine to a first report: set-up, build, profile a sample, print what was found.
#   scripts/demo.sh [SAMPLE]     a name from samples/ (default: simple_multi_copy)
set -euo pipefail
cd "$(dirname "$0")/.."
sample=${1:-simple_multi_copy}
if [ ! -f "samples/$sample/naive.cu" ]; then
  printf '[demo] error: no sample "%s"; there are: %s\n' "$sample" "$(cd samples && echo */ | tr -d /)" >&2
  exit 2
fi
scripts/build.sh release drgpum_programs "sample_${sample}_naive"
out=build/demo
mkdir -p "$out"
printf '[demo] drgpum run -f -o %s/%s.drgp build/release/samples/%s/naive\n' "$out" "$sample" "$sample" >&2
build/release/bin/drgpum run -q -f -o "$out/$sample.drgp" "build/release/samples/$sample/naive"
build/release/bin/drgpum report "$out/$sample.drgp"
