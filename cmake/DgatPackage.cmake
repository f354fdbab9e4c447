# cmake --install: headers, static modules, and a package for find_package(dgat).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
get_property(_modules GLOBAL PROPERTY DGAT_MODULES)
install(TARGETS ${_modules} EXPORT dgatTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/dgat DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(DGAT_BUILD_APPS)
  install(TARGETS dgat RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT dgatTargets NAMESPACE dgat:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dgat)
configure_package_config_file(cmake/dgatConfig.cmake.in dgatConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dgat)
write_basic_package_version_file(dgatConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dgatConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/dgatConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dgat)
install(FILES LICENSE CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Man pages and completions come from the binary that is installed.
if(DGAT_BUILD_APPS)
  set(_texts "${CMAKE_CURRENT_BINARY_DIR}/texts")
  install(CODE "
    file(REMOVE_RECURSE \"${_texts}\")
    file(MAKE_DIRECTORY \"${_texts}/man\")
    execute_process(COMMAND \"$<TARGET_FILE:dgat>\" man --all \"${_texts}/man\" COMMAND_ERROR_IS_FATAL ANY)
    foreach(shell bash zsh fish)
      execute_process(COMMAND \"$<TARGET_FILE:dgat>\" completion \${shell}
        OUTPUT_FILE \"${_texts}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(DIRECTORY ${_texts}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${_texts}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dgat)
  install(FILES ${_texts}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _dgat)
  install(FILES ${_texts}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME dgat.fish)
endif()

# make package: scripts/package calls CPack for the .deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The dgat authors")
set(CPACK_PACKAGE_CONTACT "The dgat authors <dgat@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Directional Graph Attention Network")
set(CPACK_PACKAGE_DESCRIPTION
  "Node classification on graphs whose neighbours differ: command line, static libraries, headers and a CMake package.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded when a product is needed, so that no tool sees it.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libopenblas0")
# Needed to compile against the headers and static libraries, not to run dgat.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "cmake, g++, libfmt-dev, zlib1g-dev, libcurl4-openssl-dev, libssl-dev, libeigen3-dev, libopenblas-dev, libmetis-dev, nlohmann-json3-dev, libyaml-cpp-dev")
set(CPACK_OUTPUT_FILE_PREFIX "${CMAKE_BINARY_DIR}/packages")
include(CPack)
