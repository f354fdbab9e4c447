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
