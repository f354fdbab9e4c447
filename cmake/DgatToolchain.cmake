# Language level, warnings, sanitizers, output folders. No -march flag: kernels choose their
# instruction set at run time.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

add_library(dgat_flags INTERFACE)
target_compile_options(dgat_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  # Results must be the same bits on every build: no fused or reordered arithmetic unless a kernel asks.
  -ffp-contract=off)
if(DGAT_WERROR)
  target_compile_options(dgat_flags INTERFACE -Werror)
endif()
if(DGAT_NATIVE)
  target_compile_options(dgat_flags INTERFACE -march=native)
endif()
# What the compiler and the loader do against a memory error that somebody exploits: tests/faults/hardening.py looks
# for each in the program. A sanitizer finds the same errors, and more.
if(DGAT_HARDEN AND NOT DGAT_SANITIZE)
  target_compile_options(dgat_flags INTERFACE -fstack-protector-strong -fstack-clash-protection
    $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=3>)
  target_link_options(dgat_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    # Debian's start files have no landing pad (endbr64), so only the shadow stack may be announced.
    target_compile_options(dgat_flags INTERFACE -fcf-protection=full)
    target_link_options(dgat_flags INTERFACE -Wl,-z,shstk)
  endif()
endif()
# What libFuzzer needs to see which branches an input reached (the counters of -fsanitize=fuzzer-no-link). Only code that
# reads files gets it, so that the tests of the rest keep their speed: modules that name FUZZED, and single sources.
set(DGAT_FUZZED "")
if(DGAT_BUILD_FUZZ)
  set(DGAT_FUZZED -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table
    -fno-builtin-memcmp -fno-builtin-strcmp -fno-builtin-strncmp -fno-builtin-memmem)
endif()
if(DGAT_SANITIZE)
  list(JOIN DGAT_SANITIZE "," _sanitizers)
  target_compile_options(dgat_flags INTERFACE
    -fsanitize=${_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(dgat_flags INTERFACE -fsanitize=${_sanitizers})
endif()
