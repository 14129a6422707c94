# SPDX-License-Identifier: Apache-2.0
# The words of this build: a room's part is a drgpum_library, a test file a drgpum_test.

find_package(Threads REQUIRED)

add_library(drgpum_options INTERFACE)
target_compile_features(drgpum_options INTERFACE cxx_std_20)
target_include_directories(drgpum_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(drgpum_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${DRGPUM_WERROR}>>:-Werror>)
target_link_libraries(drgpum_options INTERFACE Threads::Threads)
if(DRGPUM_SANITIZE)
  target_compile_options(drgpum_options INTERFACE -fsanitize=${DRGPUM_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(drgpum_options INTERFACE -fsanitize=${DRGPUM_SANITIZE})
endif()

# drgpum_library(<part> SOURCES ... [LINKS ...]): a static library, named drgpum::<part>.
# <part> is the room, or room_folder where a room has several (offline_plan, emulator_exec).
function(drgpum_library part)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(drgpum_${part} STATIC ${ARG_SOURCES})
  add_library(drgpum::${part} ALIAS drgpum_${part})
  set_target_properties(drgpum_${part} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(drgpum_${part} PUBLIC drgpum_options ${ARG_LINKS})
endfunction()

# drgpum_test(<file> LINKS ... [LABELS ...]): one GoogleTest program for one test file.
function(drgpum_test file)
  cmake_parse_arguments(ARG "" "" "LINKS;LABELS" ${ARGN})
  cmake_path(GET file STEM name)
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} drgpum_options GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT 600)
endfunction()

# Tests that look at the web page as well: what they need of it they leave out, and say so, in a
# build without the web application.
function(drgpum_page_tests)
  get_property(missing GLOBAL PROPERTY DRGPUM_WITHOUT_PAGE)
  if(missing)
    set_property(TEST ${ARGV} APPEND PROPERTY ENVIRONMENT DRGPUM_WITHOUT_PAGE=1)
    set_property(TEST ${ARGV} PROPERTY SKIP_RETURN_CODE 77)
  endif()
endfunction()
