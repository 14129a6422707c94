#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes tests/bench/plans.md anew. Usage: tests/bench/write_plans.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
ninja -C "$build" plan_tables
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 tests/data/dsa/gen_synth.py 100000 64 7 "$folder/synthetic_1e5.csv"
python3 tests/data/dsa/gen_synth.py 1000000 64 7 "$folder/synthetic_1e6.csv"
"$build/tests/bench/plan_tables" tests/data/dsa "$folder"/synthetic_1e5.csv "$folder"/synthetic_1e6.csv > "$folder/plans.md"
mv "$folder/plans.md" tests/bench/plans.md
