# Options of the configuration, and install folders.
include(GNUInstallDirs)

set(is_wheel OFF)
if(DEFINED SKBUILD)
  set(is_wheel ON)
endif()

option(FERRULE_STATIC "Build libferrule as an archive with FERRULE_STATIC_BACKENDS linked in" OFF)
set(FERRULE_STATIC_BACKENDS "cpu;null" CACHE STRING "Names of the backends that a static libferrule contains")
set(lowest_variant x64)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  set(lowest_variant armv8)
endif()
set(FERRULE_STATIC_CPU ${lowest_variant} CACHE STRING "The one CPU variant that a static libferrule contains")
set(FERRULE_SANITIZE "" CACHE STRING "Sanitizers to compile with: address,undefined or thread")
option(FERRULE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
set(FERRULE_EMULATED "" CACHE STRING "Backends to build over an emulator, for tests: cuda, metal")
option(FERRULE_ALL_BACKENDS "Build also the backends that have wheels of their own, and need more to be compiled" OFF)
option(FERRULE_FUZZ "Build the fuzzers of tests/fuzz, with clang" OFF)
option(FERRULE_BUILD_PYTHON "Build the extension of the Python package" OFF)
option(FERRULE_PACKAGE_LAYOUT "Install as a Python package, everything below ferrule/" ${is_wheel})
option(FERRULE_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
# The tools that run in the build, of a build tree for this machine (targets ferrule-generate-ops, ferrule-manifest): for
# builds for another system.
set(FERRULE_HOST_TOOLS "" CACHE PATH "Folder of the tools that run in the build; empty builds them")
# Wheels should contain only variants that were tested on some machine: set this to exclude the others.
set(FERRULE_VARIANTS "" CACHE STRING "The variants to compile, of every backend; empty compiles all")
set(FERRULE_KERNEL_OPTIONS "" CACHE STRING "Further compile options for kernels, after their own, such as -O1")

if(PROJECT_IS_TOP_LEVEL AND NOT WIN32) # macros of <windows.h> would reach other sources
  # Headers take most of the time of a compilation, and the core compiles twice as fast this way. `./dev verify tidy`
  # reads each source alone.
  set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile several sources of a library as one")
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# A Python package has everything in one folder; otherwise the GNU install folders are used.
if(FERRULE_PACKAGE_LAYOUT)
  set(FERRULE_INSTALL_LIB_DIR ferrule)
  set(FERRULE_INSTALL_BIN_DIR ferrule/bin)
  set(FERRULE_INSTALL_BACKEND_DIR ferrule/backends)
  set(FERRULE_INSTALL_TESTING_DIR ferrule/testing)
  set(FERRULE_INSTALL_INCLUDE_DIR ferrule/include)
  set(FERRULE_INSTALL_CMAKE_DIR ferrule/lib/cmake/ferrule)
  set(FERRULE_INSTALL_PKGCONFIG_DIR ferrule/lib/pkgconfig)
else()
  set(FERRULE_INSTALL_LIB_DIR ${CMAKE_INSTALL_LIBDIR})
  set(FERRULE_INSTALL_BIN_DIR ${CMAKE_INSTALL_BINDIR})
  set(FERRULE_INSTALL_BACKEND_DIR ${CMAKE_INSTALL_LIBDIR}/ferrule/backends)
  set(FERRULE_INSTALL_TESTING_DIR ${CMAKE_INSTALL_LIBDIR}/ferrule/testing)
  set(FERRULE_INSTALL_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR})
  set(FERRULE_INSTALL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ferrule)
  set(FERRULE_INSTALL_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Relative to libferrule, so that an installation can be moved. `backends/` beside libferrule is always searched.
cmake_path(RELATIVE_PATH FERRULE_INSTALL_BACKEND_DIR BASE_DIRECTORY ${FERRULE_INSTALL_LIB_DIR} OUTPUT_VARIABLE default_root)
set(FERRULE_DEFAULT_BACKEND_DIR ${default_root} CACHE STRING "Folder of backends, relative to libferrule or absolute")

cmake_path(RELATIVE_PATH FERRULE_INSTALL_BIN_DIR BASE_DIRECTORY ${FERRULE_INSTALL_LIB_DIR}
           OUTPUT_VARIABLE FERRULE_BIN_FROM_LIB)
cmake_path(RELATIVE_PATH FERRULE_INSTALL_LIB_DIR BASE_DIRECTORY ${FERRULE_INSTALL_BIN_DIR}
           OUTPUT_VARIABLE FERRULE_LIB_FROM_BIN)

set(FERRULE_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(FERRULE_GENERATED_INCLUDE ${FERRULE_GENERATED}/include)
