# cmake -DPROGRAM=... -DSOURCE=... -P compare_output.cmake
# Runs an example and compares its output with the lines under "// Prints:" at the top of its source.
file(READ ${SOURCE} source)
if(NOT source MATCHES "\n// Prints:\n((//   [^\n]*\n)+)")
  message(FATAL_ERROR "${SOURCE}: no lines under '// Prints:'")
endif()
string(REGEX REPLACE "//   ([^\n]*\n)" "\\1" expected "${CMAKE_MATCH_1}")
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: ended with ${status}")
endif()
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${SOURCE} promises\n${expected}but the program prints\n${printed}")
endif()
