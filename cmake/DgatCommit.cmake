# Run at every build: writes the commit of the sources in SOURCE to OUTPUT, which changes only with it.
# Empty outside a git checkout; with "+" if the sources differ from the commit.
cmake_minimum_required(VERSION 3.25)
set(commit "")
if(EXISTS "${SOURCE}/.git")
  execute_process(COMMAND git rev-parse --short=10 HEAD WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git diff --quiet HEAD -- src include apps cmake CMakeLists.txt
    WORKING_DIRECTORY "${SOURCE}" RESULT_VARIABLE changed ERROR_QUIET)
  if(commit AND NOT changed EQUAL 0)
    string(APPEND commit "+")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define DGAT_COMMIT \"@commit@\"\n" @ONLY)
