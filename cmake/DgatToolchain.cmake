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
if(DGAT_BUILD_FUZZ)
  target_compile_options(dgat_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(DGAT_SANITIZE)
  list(JOIN DGAT_SANITIZE "," _sanitizers)
  target_compile_options(dgat_flags INTERFACE
    -fsanitize=${_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(dgat_flags INTERFACE -fsanitize=${_sanitizers})
endif()
