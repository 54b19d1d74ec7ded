# The rules for `cmake --install` and the wheel. Modules have their own.
if(NOT FERRULE_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

install(TARGETS ferrule ferrule_sdk EXPORT ferruleTargets
        LIBRARY DESTINATION ${FERRULE_INSTALL_LIB_DIR} ARCHIVE DESTINATION ${FERRULE_INSTALL_LIB_DIR}
        RUNTIME DESTINATION ${FERRULE_INSTALL_LIB_DIR})
install(TARGETS ferrule-manifest ferrule-conformance EXPORT ferruleTargets RUNTIME DESTINATION ${FERRULE_INSTALL_BIN_DIR})
set(probe_dir ${FERRULE_INSTALL_BIN_DIR})
if(WIN32) # a program finds libraries in its own folder, and there are no run paths
  set(probe_dir ${FERRULE_INSTALL_LIB_DIR})
endif()
install(TARGETS ferrule-probe EXPORT ferruleTargets RUNTIME DESTINATION ${probe_dir})
install(DIRECTORY csrc/sdk/ferrule DESTINATION ${FERRULE_INSTALL_INCLUDE_DIR} FILES_MATCHING PATTERN *.h PATTERN *.hpp PATTERN *.inc)
install(FILES ${FERRULE_OPS_HEADER} ${FERRULE_OPS_TABLE} DESTINATION ${FERRULE_INSTALL_INCLUDE_DIR}/ferrule)

# All that is installed, for a build without the tests.
get_property(installed_modules GLOBAL PROPERTY FERRULE_INSTALLED_MODULES)
add_custom_target(ferrule_package)
add_dependencies(ferrule_package ferrule ferrule-manifest ferrule-conformance ferrule-probe ${installed_modules})
if(TARGET _ferrule)
  add_dependencies(ferrule_package _ferrule ferrule_python_files)
endif()

# The hashes of the modules that are installed with this libferrule: these need no probe.
get_property(manifests GLOBAL PROPERTY FERRULE_INSTALLED_MANIFESTS)
install(CODE "set(manifests ${manifests})
set(list \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${FERRULE_INSTALL_LIB_DIR}/own-modules.json\")")
install(SCRIPT cmake/OwnModules.cmake)

install(EXPORT ferruleTargets NAMESPACE ferrule:: DESTINATION ${FERRULE_INSTALL_CMAKE_DIR})
configure_package_config_file(cmake/ferruleConfig.cmake.in ferruleConfig.cmake
                              INSTALL_DESTINATION ${FERRULE_INSTALL_CMAKE_DIR}
                              PATH_VARS FERRULE_INSTALL_BACKEND_DIR FERRULE_INSTALL_INCLUDE_DIR)
write_basic_package_version_file(ferruleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ferruleConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ferruleConfigVersion.cmake
              cmake/FerruleModule.cmake cmake/module_symbols.c.in cmake/module.map
              cmake/FerruleKernelTable.cmake cmake/kernel_table.cpp.in
        DESTINATION ${FERRULE_INSTALL_CMAKE_DIR})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${FERRULE_INSTALL_PKGCONFIG_DIR}
           OUTPUT_VARIABLE pkgconfig_prefix)
# A program that links the archive also needs these libraries: `pkg-config --static`.
set(FERRULE_PRIVATE_FLAGS "")
set(FERRULE_DEFINITION_FLAG "")
if(FERRULE_STATIC)
  set(libraries "${FERRULE_PRIVATE_LIBRARIES};${CMAKE_DL_LIBS}")
  list(REMOVE_ITEM libraries "")
  list(TRANSFORM libraries REPLACE "^([^/]+)$" "-l\\1")
  string(JOIN " " FERRULE_PRIVATE_FLAGS ${libraries} -pthread)
  set(FERRULE_DEFINITION_FLAG " -DFERRULE_STATIC")
endif()
configure_file(cmake/ferrule.pc.in ferrule.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ferrule.pc DESTINATION ${FERRULE_INSTALL_PKGCONFIG_DIR})
