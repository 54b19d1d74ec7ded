# Compiles for another system, or for this one with an older C library, by the Clang that PyPI's ziglang contains:
#
#   cmake -S . -B build/aarch64 --toolchain cmake/toolchains/zig.cmake -DFERRULE_TARGET=aarch64-linux-gnu.2.28
#         -DFERRULE_ZIG=.venv/lib/python3.11/site-packages/ziglang/zig -DFERRULE_HOST_TOOLS=build/dev
#
# FERRULE_TARGET       zig's name of a system: <machine>-<system>-<C library>[.<its oldest version>]
# FERRULE_ZIG          the program; by default `zig` of PATH
# FERRULE_HOST_TOOLS   a build tree for this machine, whose tools write what is generated
# FERRULE_HEADERS      a folder that has, as folders or links, the header-only libraries fmt, nlohmann and hwy, and the
#                      headers of Vulkan; by default links to those of /usr/include, which itself must not be searched: it
#                      has this system's C library
set(FERRULE_TARGET x86_64-linux-gnu.2.28 CACHE STRING "The system to compile for, as zig names it")
find_program(FERRULE_ZIG zig REQUIRED NO_CMAKE_FIND_ROOT_PATH)
cmake_path(ABSOLUTE_PATH FERRULE_ZIG)

string(REPLACE "-" ";" parts ${FERRULE_TARGET})
list(GET parts 0 CMAKE_SYSTEM_PROCESSOR)
list(GET parts 1 system)
if(system MATCHES "^linux")
  set(CMAKE_SYSTEM_NAME Linux)
elseif(system MATCHES "^windows")
  set(CMAKE_SYSTEM_NAME Windows)
elseif(system MATCHES "^macos\\.(.+)")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_OSX_DEPLOYMENT_TARGET ${CMAKE_MATCH_1} CACHE STRING "The oldest macOS" FORCE)
  set(CMAKE_OSX_SYSROOT "" CACHE STRING "zig has its own" FORCE)
else()
  message(FATAL_ERROR "FERRULE_TARGET is '${FERRULE_TARGET}', and must be a Linux, Windows or macOS as zig names it")
endif()
set(CMAKE_SYSTEM_VERSION 20) # of Darwin: macOS 11. Others have no use for it

# One folder for the whole project: projects that CMake makes for its checks read this file, too.
if(NOT FERRULE_ZIG_PROGRAMS)
  set(FERRULE_ZIG_PROGRAMS ${CMAKE_BINARY_DIR}/zig)
  execute_process(COMMAND ${FERRULE_ZIG} version OUTPUT_VARIABLE FERRULE_ZIG_VERSION OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  # CMake and ccache know compilers by the names of their files, and take one file for each.
  foreach(pair IN ITEMS "clang;cc" "clang++;c++" "ar;ar" "ranlib;ranlib" "dlltool;dlltool" "objcopy;objcopy")
    list(GET pair 0 name)
    list(GET pair 1 verb)
    file(CONFIGURE OUTPUT ${FERRULE_ZIG_PROGRAMS}/${name} CONTENT "#!/bin/sh\nexec '${FERRULE_ZIG}' ${verb} \"$@\"\n" @ONLY)
    file(CHMOD ${FERRULE_ZIG_PROGRAMS}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endforeach()
  # The unwinder is the system's, as for everything else in the process. With zig's own inside, the process ends when
  # the system unwinds through our code: glibc's pthread_exit does, by which Python before 3.14 ends threads at exit.
  if(FERRULE_TARGET MATCHES "linux-gnu")
    execute_process(
      COMMAND ${FERRULE_ZIG} cc --target=${FERRULE_TARGET} -shared -nostdlib -s -Wl,-soname,libgcc_s.so.1
              -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/libgcc_s.map ${CMAKE_CURRENT_LIST_DIR}/libgcc_s.c
              -o ${FERRULE_ZIG_PROGRAMS}/libgcc_s.so.1 COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${FERRULE_ZIG} cc --target=${FERRULE_TARGET} -O2 -fPIC -c ${CMAKE_CURRENT_LIST_DIR}/unload.c
                            -o ${FERRULE_ZIG_PROGRAMS}/unload.o COMMAND_ERROR_IS_FATAL ANY)
  elseif(FERRULE_TARGET MATCHES "macos")
    # The linker exports what libc++abi defines for `new` and `delete`, and macOS would then use one library's in all of
    # the process. The same, compiled as hidden, is found first.
    cmake_path(REPLACE_FILENAME FERRULE_ZIG lib OUTPUT_VARIABLE lib)
    execute_process(
      COMMAND ${FERRULE_ZIG} c++ --target=${FERRULE_TARGET} -O2 -fPIC -std=c++23 -fvisibility=hidden
              -fvisibility-global-new-delete=force-hidden
              "-D_LIBCPP_OVERRIDABLE_FUNC_VIS=__attribute__((visibility(\"hidden\")))"
              -D_LIBCXXABI_BUILDING_LIBRARY -D_LIBCPP_BUILDING_LIBRARY
              -I${lib}/libcxxabi/include -I${lib}/libcxxabi -I${lib}/libcxx -I${lib}/libcxx/src
              -c ${lib}/libcxxabi/src/stdlib_new_delete.cpp -o ${FERRULE_ZIG_PROGRAMS}/new_delete.o
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FERRULE_TARGET FERRULE_ZIG FERRULE_ZIG_PROGRAMS)
if(FERRULE_TARGET MATCHES "linux-gnu")
  set(CMAKE_EXE_LINKER_FLAGS_INIT ${FERRULE_ZIG_PROGRAMS}/libgcc_s.so.1)
  foreach(kind SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "${FERRULE_ZIG_PROGRAMS}/libgcc_s.so.1 ${FERRULE_ZIG_PROGRAMS}/unload.o")
  endforeach()
endif()

if(FERRULE_TARGET MATCHES "linux-musl") # for which zig links programs statically, and those cannot open modules
  set(CMAKE_EXE_LINKER_FLAGS_INIT -dynamic)
endif()

if(FERRULE_TARGET MATCHES "macos")
  set(CMAKE_CXX_STANDARD_LIBRARIES_INIT ${FERRULE_ZIG_PROGRAMS}/new_delete.o)
  # Nothing here changes a run path without breaking the signature that the linker wrote.
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
endif()

foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET ${FERRULE_TARGET})
  # zig writes debugging information unless told not to: a quarter of the time, and nobody ships it.
  set(CMAKE_${language}_FLAGS_INIT -g0)
endforeach()
# zig compiles libc++ for each set of such options, which takes a minute. CMake's checks use that of a release.
get_property(is_check GLOBAL PROPERTY IN_TRY_COMPILE)
if(is_check)
  add_compile_options(-O3)
  add_link_options(-O3 -s)
endif()
set(CMAKE_C_COMPILER ${FERRULE_ZIG_PROGRAMS}/clang)
set(CMAKE_CXX_COMPILER ${FERRULE_ZIG_PROGRAMS}/clang++)
set(CMAKE_AR ${FERRULE_ZIG_PROGRAMS}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${FERRULE_ZIG_PROGRAMS}/ranlib CACHE FILEPATH "")
set(CMAKE_DLLTOOL ${FERRULE_ZIG_PROGRAMS}/dlltool CACHE FILEPATH "")

# Nothing of this system's is for the target.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR})
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
if(NOT FERRULE_HEADERS AND NOT CMAKE_SOURCE_DIR MATCHES CMakeTmp)
  set(FERRULE_HEADERS ${CMAKE_BINARY_DIR}/headers CACHE PATH "Header-only libraries")
  file(MAKE_DIRECTORY ${FERRULE_HEADERS})
  foreach(library fmt nlohmann hwy vulkan vk_video)
    file(CREATE_LINK /usr/include/${library} ${FERRULE_HEADERS}/${library} SYMBOLIC)
  endforeach()
endif()
