# Headers that most sources include, compiled once. A source still includes what it uses:
# scripts/check includes compiles each source alone and without them.
set(DGAT_COMMON_HEADERS
  <algorithm> <array> <chrono> <cmath> <filesystem> <functional> <map> <memory> <mutex> <numeric>
  <optional> <span> <sstream> <string> <unordered_map> <vector> <fmt/format.h>)

# Cold code (the command line, reports, tests) is optimised for a short build: -O3 doubles the time to
# compile it and shortens nothing that a user waits for.
set(DGAT_COLD_CODE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)

# dgat_large_units(TARGET FILES): compiles the sources in groups of FILES, because most of the time goes into
# reading headers and into templates that every source instantiates again. Names in anonymous namespaces
# must differ within a target. DGAT_UNITY=OFF compiles each source alone.
function(dgat_large_units target files)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DGAT_UNITY} UNITY_BUILD_BATCH_SIZE ${files}
    UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
endfunction()

# dgat_add_module(NAME [COLD] [FUZZED] SOURCES files... [SCALAR_SOURCES files...] [DEPENDS modules...]
#                 [LINK targets...] [PRECOMPILE headers...])
#
# One folder of the pipeline: static library dgat_NAME (dgat::NAME), headers in include/dgat/NAME.
# DEPENDS are other dgat modules (public), LINK are third-party targets (private: their types
# stay out of our headers). PRECOMPILE names third-party headers that most of its sources include:
# such a module has precompiled headers of its own, as a COLD one has; the others share those of core. FUZZED: it reads
# files, and fuzz targets count its branches.
#
# SCALAR_SOURCES hold templates over the type of numbers and instantiate them for DGAT_SCALAR. The
# library has them for float. Tests that compare gradients with finite differences need double and
# link dgat_NAME_double, which compiles the same files once more, as a few large units because most
# of the time goes into reading headers.
set_property(GLOBAL PROPERTY DGAT_MODULES "")
function(dgat_add_module name)
  cmake_parse_arguments(ARG "COLD;FUZZED" "" "SOURCES;SCALAR_SOURCES;DEPENDS;LINK;PRECOMPILE" ${ARGN})
  set(target dgat_${name})
  add_library(${target} STATIC ${ARG_SOURCES} ${ARG_SCALAR_SOURCES})
  add_library(dgat::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  foreach(module IN LISTS ARG_DEPENDS)
    target_link_libraries(${target} PUBLIC dgat_${module})
  endforeach()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:dgat_flags> ${ARG_LINK})
  if(ARG_COLD)
    target_compile_options(${target} PRIVATE ${DGAT_COLD_CODE})
  endif()
  if(ARG_FUZZED)
    target_compile_options(${target} PRIVATE ${DGAT_FUZZED})
  endif()
  if(ARG_COLD OR ARG_PRECOMPILE OR name STREQUAL core)
    target_precompile_headers(${target} PRIVATE ${DGAT_COMMON_HEADERS} ${ARG_PRECOMPILE})
  else()
    target_precompile_headers(${target} REUSE_FROM dgat_core)
  endif()
  dgat_large_units(${target} 8)
  set_property(GLOBAL APPEND PROPERTY DGAT_MODULES ${target})
  if(ARG_SCALAR_SOURCES)
    target_compile_definitions(${target} PRIVATE DGAT_SCALAR=float)
    add_library(${target}_double STATIC EXCLUDE_FROM_ALL ${ARG_SCALAR_SOURCES})
    target_compile_definitions(${target}_double PRIVATE DGAT_SCALAR=double)
    target_link_libraries(${target}_double PUBLIC ${target} PRIVATE dgat_flags)
    dgat_large_units(${target}_double 8)
  endif()
endfunction()

# dgat_add_tests(NAME SOURCES files... LINK modules... [SLOW filters...])
#
# One test program per module; every TEST is a ctest. SLOW names those that take over a second
# (GoogleTest filters): they carry the label slow. With DGAT_TEST_SHARDS, the program runs as that
# many ctests instead of one per TEST: a program with a sanitizer takes long to start. ThreadSanitizer leaves out the slow
# ones, which have no threads that others do not have.
function(dgat_add_tests name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;SLOW" ${ARGN})
  set(target ${name}_tests)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE dgat_flags dgat_test_support ${ARG_LINK})
  # With a sanitizer, -O1 doubles the time to compile a test.
  target_compile_options(${target} PRIVATE ${DGAT_COLD_CODE} $<$<BOOL:${DGAT_SANITIZE}>:-O0>)
  dgat_large_units(${target} 5)
  if(name STREQUAL core)
    target_precompile_headers(${target} PRIVATE ${DGAT_COMMON_HEADERS} <gtest/gtest.h> <gmock/gmock.h>)
  else()
    target_precompile_headers(${target} REUSE_FROM core_tests)
  endif()
  if(DGAT_TEST_SHARDS)
    math(EXPR last "${DGAT_TEST_SHARDS} - 1")
    set(filter "*")
    if(ARG_SLOW AND DGAT_SANITIZE STREQUAL "thread")
      list(JOIN ARG_SLOW ":" slow)
      set(filter "-${slow}")
    endif()
    foreach(shard RANGE ${last})
      add_test(NAME ${name}.shard${shard} COMMAND ${target})
      set_tests_properties(${name}.shard${shard} PROPERTIES TIMEOUT 1800
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${DGAT_TEST_SHARDS};GTEST_SHARD_INDEX=${shard};GTEST_FILTER=${filter}")
    endforeach()
    return()
  endif()
  list(JOIN ARG_SLOW ":" slow)
  # The tests name their parameters; the values that GoogleTest prints would be added to these names.
  set(discover ${target} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES)
  if(slow)
    gtest_discover_tests(${discover} TEST_FILTER "${slow}" PROPERTIES TIMEOUT 900 LABELS slow)
    gtest_discover_tests(${discover} TEST_FILTER "-${slow}" PROPERTIES TIMEOUT 900)
  else()
    gtest_discover_tests(${discover} PROPERTIES TIMEOUT 900)
  endif()
endfunction()
