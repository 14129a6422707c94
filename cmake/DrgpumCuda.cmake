# SPDX-License-Identifier: Apache-2.0
# Finds the CUDA 13 compiler and headers without CMake's CUDA language: nothing is asked of a GPU
# or a driver, and a toolkit unpacked from Python packages (no lib64, no nvvm bin links) serves too.
#
# Sets DRGPUM_CUDA_ROOT, DRGPUM_NVCC, DRGPUM_CUDA_INCLUDE, DRGPUM_CUDA_LIB, DRGPUM_BIN2C and, where
# they are there, DRGPUM_SANITIZER_INCLUDE, DRGPUM_SANITIZER_LIBRARY and DRGPUM_NVTX_INCLUDE (NVIDIA's,
# for the ABI tests).

set(DRGPUM_CUDA_ROOT "$ENV{DRGPUM_CUDA_ROOT}" CACHE PATH "Toolkit to use (has bin/nvcc)")
find_program(DRGPUM_NVCC nvcc
  HINTS ${DRGPUM_CUDA_ROOT} ${PROJECT_SOURCE_DIR}/build/toolchain/nvidia/cu13
        $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda
  PATH_SUFFIXES bin)
if(NOT DRGPUM_NVCC)
  message(FATAL_ERROR "No CUDA compiler (nvcc) found. Run scripts/setup.sh, or set DRGPUM_CUDA_ROOT to a CUDA 13 toolkit.")
endif()
cmake_path(GET DRGPUM_NVCC PARENT_PATH _bin)
cmake_path(GET _bin PARENT_PATH _root)
set(DRGPUM_CUDA_ROOT ${_root} CACHE PATH "Toolkit to use (has bin/nvcc)" FORCE)
find_path(DRGPUM_CUDA_INCLUDE cuda_runtime_api.h HINTS ${_root}/include ${_root}/targets/x86_64-linux/include NO_DEFAULT_PATH REQUIRED)
find_path(DRGPUM_CUDA_LIB libcudart.so.13 HINTS ${_root}/lib ${_root}/lib64 ${_root}/targets/x86_64-linux/lib NO_DEFAULT_PATH)
find_program(DRGPUM_BIN2C bin2c HINTS ${_bin} NO_DEFAULT_PATH REQUIRED)
find_path(DRGPUM_SANITIZER_INCLUDE sanitizer.h
  HINTS ${_root}/include ${_root}/compute-sanitizer/include ${_root}/extras/Sanitizer/include NO_DEFAULT_PATH)
find_path(DRGPUM_NVTX_INCLUDE nvtx3/nvToolsExtMem.h HINTS ${DRGPUM_CUDA_INCLUDE} NO_DEFAULT_PATH)
find_file(DRGPUM_SANITIZER_LIBRARY libsanitizer-public.so
  HINTS ${_root}/lib ${_root}/compute-sanitizer ${_root}/extras/Sanitizer NO_DEFAULT_PATH)

add_library(drgpum_cuda_headers INTERFACE)
target_include_directories(drgpum_cuda_headers SYSTEM INTERFACE ${DRGPUM_CUDA_INCLUDE})
add_library(drgpum::cuda_headers ALIAS drgpum_cuda_headers)

set(DRGPUM_NVCC_FLAGS -std=c++17 -I${PROJECT_SOURCE_DIR} -Wno-deprecated-gpu-targets)

# drgpum_cuda_program(<target> SOURCE x.cu [FLAGS ...] [OUTPUT name]): an executable built by nvcc
# with the shared CUDA runtime, as a user would build it. It lands in this directory's build folder.
# It is linked against the emulated device's runtime: a toolkit from Python packages has no
# libcudart.so, and the name that the program then asks for, libcudart.so.13, is the same.
# In a build with sanitizers their runtimes have to come first, so programs are linked with them.
set(DRGPUM_NVCC_SANITIZE "")
if(DRGPUM_SANITIZE)
  string(REPLACE "," ";" _sanitizers "${DRGPUM_SANITIZE}")
  foreach(_sanitizer IN LISTS _sanitizers)
    list(APPEND DRGPUM_NVCC_SANITIZE -Xcompiler -fsanitize=${_sanitizer})
  endforeach()
endif()

function(drgpum_cuda_program target)
  cmake_parse_arguments(ARG "" "SOURCE;OUTPUT" "FLAGS" ${ARGN})
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT ${target})
  endif()
  cmake_path(ABSOLUTE_PATH ARG_SOURCE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE source)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${ARG_OUTPUT})
  add_custom_command(OUTPUT ${output}
    COMMAND ${DRGPUM_NVCC} ${DRGPUM_NVCC_FLAGS} -cudart shared -cudadevrt none -g -lineinfo ${DRGPUM_NVCC_SANITIZE} ${ARG_FLAGS}
            -MD -MF ${output}.d -o ${output} ${source}
            -L$<TARGET_FILE_DIR:drgpum_emulated_cudart>
    DEPENDS ${source} drgpum_emulated_cudart DEPFILE ${output}.d
    COMMENT "nvcc ${ARG_OUTPUT}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
  set_target_properties(${target} PROPERTIES DRGPUM_PROGRAM ${output})
endfunction()
