# dgat_add_module(NAME SOURCES files... [SCALAR_SOURCES files...] [DEPENDS modules...] [LINK targets...])
#
# One folder of the pipeline: static library dgat_NAME (dgat::NAME), headers in include/dgat/NAME.
# DEPENDS are other dgat modules (public), LINK are third-party targets (private: their types
# stay out of our headers).
#
# SCALAR_SOURCES hold templates over the type of numbers and instantiate them for DGAT_SCALAR. The
# library has them for float. Tests that compare gradients with finite differences need double and
# link dgat_NAME_double, which compiles the same files once more, as a few large units because most
# of the time goes into reading headers.
set_property(GLOBAL PROPERTY DGAT_MODULES "")
function(dgat_add_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;SCALAR_SOURCES;DEPENDS;LINK" ${ARGN})
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
  set_property(GLOBAL APPEND PROPERTY DGAT_MODULES ${target})
  if(ARG_SCALAR_SOURCES)
    target_compile_definitions(${target} PRIVATE DGAT_SCALAR=float)
    add_library(${target}_double STATIC EXCLUDE_FROM_ALL ${ARG_SCALAR_SOURCES})
    target_compile_definitions(${target}_double PRIVATE DGAT_SCALAR=double)
    target_link_libraries(${target}_double PUBLIC ${target} PRIVATE dgat_flags)
    set_target_properties(${target}_double PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()

# dgat_add_tests(NAME SOURCES files... LINK modules...): one test program per module; every TEST is a ctest.
function(dgat_add_tests name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  set(target ${name}_tests)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE dgat_flags dgat_test_support ${ARG_LINK})
  target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
  gtest_discover_tests(${target} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT 900)
endfunction()
