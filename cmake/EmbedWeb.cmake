# cmake -D FOLDER=src/report/web -D SCRIPTS=a.js,b.js -D OUTPUT=web_assets.cpp -P EmbedWeb.cmake
#
# Writes a source file that holds the template, the style and the scripts, joined in the order
# given inside one function scope, as string constants.
cmake_minimum_required(VERSION 3.25)
function(literal name text)
  # A literal has a length limit in the standard (65,536): pieces of 8,000 bytes are joined by the compiler.
  string(LENGTH "${text}" length)
  set(start 0)
  set(pieces "")
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} 8000 piece)
    string(APPEND pieces "    R\"=web=(${piece})=web=\"\n")
    math(EXPR start "${start} + 8000")
  endwhile()
  file(APPEND "${OUTPUT}" "extern const std::string_view ${name};\nconst std::string_view ${name} =\n${pieces}    ;\n")
endfunction()

file(WRITE "${OUTPUT}" "// Made by cmake/EmbedWeb.cmake from src/report/web.\n#include <string_view>\nnamespace dgat::report {\n")
file(READ "${FOLDER}/page.html" template)
file(READ "${FOLDER}/style.css" style)
set(script "(() => {\n\"use strict\";\n")
string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
foreach(file IN LISTS SCRIPTS)
  file(READ "${FOLDER}/${file}" text)
  string(APPEND script "${text}")
endforeach()
string(APPEND script "})();\n")
literal(kPageTemplate "${template}")
literal(kStyle "${style}")
literal(kScript "${script}")
file(APPEND "${OUTPUT}" "}  // namespace dgat::report\n")
