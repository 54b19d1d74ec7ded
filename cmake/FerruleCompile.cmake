# Compile options of the whole tree.
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

# The core waits for kernels, which set their own optimisation level: -O3 would only make it larger and slower to build.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  foreach(language C CXX)
    string(REPLACE -O3 -O2 CMAKE_${language}_FLAGS_RELEASE "${CMAKE_${language}_FLAGS_RELEASE}")
  endforeach()
endif()

if(MSVC)
  add_compile_options(/W4 /utf-8)
else()
  # Multiply-adds are fused only where the source says so, so that results do not depend on the compiler.
  add_compile_options(-Wall -Wextra -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # A unique symbol would keep a module mapped after it is unloaded.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
    if(CMAKE_UNITY_BUILD)
      # It takes a source for a header if another source includes it.
      add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
    endif()
  endif()
endif()

# Code may run on threads of other programs, whose stacks may be small: working memory belongs in the plan of an
# execution (fe_execution.scratch) or on the heap. Sanitizers enlarge stack frames, so the limit is off for them.
if(NOT MSVC AND NOT FERRULE_SANITIZE AND NOT FERRULE_FUZZ)
  add_compile_options(-Wframe-larger-than=16384)
endif()

if(FERRULE_SANITIZE)
  add_compile_options(-fsanitize=${FERRULE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${FERRULE_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # detects an index beyond a vector's size, also within its capacity
endif()

find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
set(compiler_check "")
if(FERRULE_ZIG_VERSION) # the compiler's file is a script of the build tree
  set(compiler_check "CCACHE_COMPILERCHECK=string:zig ${FERRULE_ZIG_VERSION}")
endif()
foreach(language C CXX)
  if(CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    # Paths below the source tree are hashed as relative, so that build trees share their objects. Precompiled headers
    # need this sloppiness.
    set(CMAKE_${language}_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros ${compiler_check} ${CCACHE})
  endif()
endforeach()

# The folder of the file itself, in the run path of a program or library.
if(APPLE)
  set(FERRULE_ORIGIN @loader_path)
else()
  set(FERRULE_ORIGIN $ORIGIN)
endif()

find_package(Threads REQUIRED)
if(FERRULE_HEADERS)
  add_library(fmt::fmt-header-only INTERFACE IMPORTED)
  set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${FERRULE_HEADERS}
                                                        INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
  file(STRINGS ${FERRULE_HEADERS}/fmt/core.h line REGEX "define FMT_VERSION [0-9]+")
  string(REGEX REPLACE ".*VERSION ([0-9]*)([0-9][0-9])([0-9][0-9])$" "\\1.\\2.\\3" fmt_VERSION "${line}")
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  set_target_properties(nlohmann_json::nlohmann_json PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${FERRULE_HEADERS})
else()
  find_package(fmt REQUIRED)
  find_package(nlohmann_json 3.9 REQUIRED)
endif()
