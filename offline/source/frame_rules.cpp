// SPDX-License-Identifier: Apache-2.0
// Rules by names and places.
#include "offline/source/frame_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace drgpum {
namespace {

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

template <std::size_t n>
bool starts_with_any(std::string_view text, const std::array<std::string_view, n>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// The toolkit's headers that hold code, by name: a toolkit may lie anywhere, as modules of clusters
// and packages of conda and Python put it.
bool is_toolkit_header(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames{
      "cuda_runtime.h", "cuda_runtime_api.h", "cuda.h", "host_runtime.h", "cuComplex.h"};
  static constexpr std::array<std::string_view, 17> kBeginnings{
      "device_atomic_functions.",
      "device_functions.",
      "device_double_functions.",
      "texture_fetch_functions.",
      "texture_indirect_functions.",
      "surface_functions.",
      "surface_indirect_functions.",
      "vector_functions.",
      "math_functions.",
      "cooperative_groups.",
      "cuda_awbarrier",
      "cuda_pipeline",
      "cuda_fp4.",
      "cuda_fp6.",
      "cuda_fp8.",
      "cuda_fp16.",
      "cuda_bf16."};
  // sm_60_atomic_functions.hpp, sm_30_intrinsics.hpp
  if (name.starts_with("sm_") && (name.find("_intrinsics.h") != std::string_view::npos ||
                                  name.find("_atomic_functions.h") != std::string_view::npos))
    return true;
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         starts_with_any(name, kBeginnings);
}

}  // namespace

bool is_system_module(std::string_view path) {
  static constexpr std::array<std::string_view, 16> kNames{
      "libcuda.so",    "libcudart.so", "libcudadevrt", "libsanitizer-", "libcupti.so", "libnvidia-",
      "libnvToolsExt", "libdrgpum",    "libc.so",      "libc-2.",       "libpthread",  "ld-linux",
      "libstdc++.so",  "libm.so",      "libgcc_s.so",  "linux-vdso.so"};
  return starts_with_any(base_name(path), kNames);
}

bool is_package_module(std::string_view path) {
  static constexpr std::array<std::string_view, 3> kNames{"libpython", "python3", "libffi.so"};
  for (const std::string_view part : {"/lib-dynload/", "/site-packages/", "/dist-packages/"})
    if (path.find(part) != std::string_view::npos) return true;
  return starts_with_any(base_name(path), kNames);
}

bool is_system_file(std::string_view file) {
  static constexpr std::array<std::string_view, 5> kRoots{
      "/usr/include/", "/usr/lib/", "/usr/local/cuda", "/opt/nvidia/", "/usr/local/include/"};
  if (is_toolkit_header(base_name(file))) return true;
  // nvcc without a target folder writes "bin/..//include". The last before those of glibc
  // are a checkout of CCCL.
  for (const std::string_view part :
       {"/crt/link.stub", "/include/c++/", "/include/thrust/", "/include/cub/", "/include/crt/",
        "/include/cccl/", "/include/cuda/std/", "/include/cooperative_groups/",
        "/site-packages/nvidia/", "/dist-packages/nvidia/", "/targets/x86_64-linux/include/",
        "/targets/sbsa-linux/include/", "/bin/..//include/", "/thrust/thrust/",
        "/cub/cub/", "/libcudacxx/include/", "/sysdeps/", "/csu/libc-start"})
    if (file.find(part) != std::string_view::npos) return true;
  return starts_with_any(file, kRoots) || file.starts_with("./csu/") || file.starts_with("./nptl/");
}

bool is_framework_frame(std::string_view function, std::string_view file) {
  static constexpr std::array<std::string_view, 4> kFunctions{"torch::", "c10::", "at::", "_Py"};
  static constexpr std::array<std::string_view, 11> kParts{
      "/site-packages/", "/dist-packages/", "/lib/python3.", "torch/csrc/", "aten/src/",
      "/c10/",           "/torch/_",        "/torch/nn/",    "/torch/optim/", "/torch/utils/",
      "/torchinductor_"};
  if (file.empty() || file == "??" || file.front() == '<') return true;
  if (file.ends_with(".c") || file.ends_with(".h")) return true;  // of the interpreter
  if (starts_with_any(function, kFunctions) && !file.ends_with(".py")) return true;
  return std::any_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
    return file.find(part) != std::string_view::npos;
  });
}

bool is_start_up(std::string_view function) {
  static constexpr std::array<std::string_view, 8> kNames{
      "_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "clone",
      "clone3", "__libc_csu_init",   "_dl_start_user"};
  const std::string_view plain = function.substr(0, function.find_first_of("@("));
  return std::find(kNames.begin(), kNames.end(), plain) != kNames.end() ||
         plain.starts_with("__libc_start_main");
}

bool is_launch_stub(std::string_view function, std::string_view file) {
  return function.find("__device_stub_") != std::string_view::npos ||
         file.ends_with(".cudafe1.stub.c");
}

std::string_view generated_from(std::string_view file) {
  std::string_view name = base_name(file);
  constexpr std::string_view kEnding = ".cudafe1.cpp";
  if (!name.starts_with("tmpxft_") || !name.ends_with(kEnding)) return {};
  name.remove_suffix(kEnding.size());
  const std::size_t dash = name.find('-');
  const std::size_t begin = name.find('_', dash == std::string_view::npos ? 0 : dash);
  return begin == std::string_view::npos ? std::string_view() : name.substr(begin + 1);
}

// Brackets of all kinds nest; what is inside counts for nothing.
std::string_view unqualified(std::string_view function) {
  std::size_t begin = 0;
  std::size_t end = std::string_view::npos;
  int depth = 0;
  for (std::size_t at = 0; at < function.size(); ++at) {
    const char c = function[at];
    if (function.substr(at).starts_with("(anonymous namespace)")) {
      at += std::string_view("(anonymous namespace)").size() - 1;
      continue;
    }
    const bool is_operator = function.substr(begin).starts_with("operator");
    if ((c == '<' || c == '(') && depth++ == 0 && end == std::string_view::npos && !is_operator)
      end = at;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && c == ' ' && at > 0 && function[at - 1] == ')') break;  // const, [clone ...]
    if (depth == 0 && (c == ':' || (c == ' ' && !is_operator))) {
      begin = at + 1;
      end = std::string_view::npos;
    }
    if (is_operator && c == '(') return function.substr(begin, at - begin);
  }
  if (begin >= function.size()) return function;
  return function.substr(begin, end == std::string_view::npos ? end : end - begin);
}

namespace {

// Buffer<float>::Buffer(int): the name is that of the class before it.
bool is_constructor(std::string_view function, std::string_view name) {
  const auto begin = static_cast<std::size_t>(name.data() - function.data());
  if (begin < 2 || name.empty()) return false;
  return unqualified(function.substr(0, begin - 2)) == name;
}

}  // namespace

bool has_allocator_name(std::string_view function) {
  if (is_constructor(function, unqualified(function))) return true;
  std::string name(unqualified(function));
  for (char& c : name)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("operator new")) return true;
  if (name.find("dealloc") != std::string::npos) return false;
  for (const std::string_view part :
       {"alloc", "make_", "create_buffer", "createbuffer", "new_buffer"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace drgpum
