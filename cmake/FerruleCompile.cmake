# How everything in the tree is compiled.
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

# The core waits for kernels, which choose their own level: -O3 would only make it larger and slower to build.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  foreach(language C CXX)
    string(REPLACE -O3 -O2 CMAKE_${language}_FLAGS_RELEASE "${CMAKE_${language}_FLAGS_RELEASE}")
  endforeach()
endif()

if(MSVC)
  add_compile_options(/W4 /utf-8)
else()
  # A product and a sum are fused where we write it, never where a compiler likes to: results stay comparable.
  add_compile_options(-Wall -Wextra -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # A unique symbol would pin a module in memory and make unload a lie.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()
endif()

# Whatever computes may run on the thread of someone else, whose stack may be small: memory to work in belongs to the
# plan of an execution (fe_execution.scratch) or to the heap. Sanitizers put room around every variable.
if(NOT MSVC AND NOT FERRULE_SANITIZE AND NOT FERRULE_FUZZ)
  add_compile_options(-Wframe-larger-than=16384)
endif()

if(FERRULE_SANITIZE)
  add_compile_options(-fsanitize=${FERRULE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${FERRULE_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # an index beyond a vector's end, also where memory goes on
endif()

find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
foreach(language C CXX)
  if(CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    # Paths below the source tree count as relative, so that two build trees share their objects. What is laxer than
    # ccache's habit is what it wants for precompiled headers.
    set(CMAKE_${language}_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  endif()
endforeach()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
