if(APPLE AND FERRULE_ZIG) # whose linker makes no bundles; a library can be opened in the same way
  add_link_options(
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>:LINKER:-install_name,@rpath/$<TARGET_PROPERTY:NAME>>)
  foreach(language C CXX)
    set(CMAKE_SHARED_MODULE_CREATE_${language}_FLAGS -dynamiclib)
    set(CMAKE_SHARED_MODULE_LOADER_${language}_FLAG "")
    foreach(kind EXECUTABLE SHARED_LIBRARY)
      set(CMAKE_${kind}_RUNTIME_${language}_FLAG -Wl,-rpath,) # CMake sets them on a Mac only
    endforeach()
  endforeach()
endif()

# ferrule_add_module: a backend module and its manifest. Used by the backends of this tree and, through
# find_package(ferrule), by backends in other trees.
#
#   ferrule_add_module(
#     NAME mine                # [a-z0-9_]+; the module is libferrule-mine.so
#     [VARIANT fast]           # libferrule-mine-fast.so
#     SOURCES mine.cpp ...     # compiled for the base architecture; one of them holds FE_DEFINE_MODULE
#     [KERNELS k.cpp ...]      # compiled with KERNEL_OPTIONS in addition to COMPILE_OPTIONS
#     [OBJECTS target ...]     # object libraries that several modules contain, such as the kernels of another module
#     [COMPILE_OPTIONS ...] [KERNEL_OPTIONS ...] [DEFINITIONS ...] [INCLUDES ...] [LIBRARIES ...]
#     [RANK n]                 # order among the variants of one name, highest first; 0 without a variant
#     [PREFERENCE n]           # order among devices of one kind, highest first
#     [DEVICE_KINDS cpu ...]   # gpu integrated_gpu accelerator remote cpu software test
#     [CPU_FEATURES avx2 ...]  # required of the machine
#     [DRIVER libcuda.so.1 [TITLE "NVIDIA driver"] [FLOOR 550] [VERSION_FILE /sys/module/nvidia/version]
#             [VARIABLES CUDA_* ...] [HIDING_VARIABLES CUDA_VISIBLE_DEVICES ...] [FILE_VARIABLES VK_DRIVER_FILES ...]
#             [FOLDERS vulkan/icd.d ...] [STATE_FILES /proc/driver/nvidia/version ...] [LIBRARY libother.so.1 ...] ...]
#                              # required driver libraries, each with its name in messages, the oldest accepted
#                              # version, the file that contains the version if the name of the library's file does
#                              # not, and everything else that affects which devices the driver lists: environment
#                              # variables, those that hide all devices, those that list files; folders that the driver
#                              # reads; files with versions. docs/develop/loading_internals.md has all. LIBRARY starts the next
#     [LIBRARIES_BESIDE $<TARGET_FILE:mine_kernels> ...]
#                              # libraries that will be beside the module, in final form (BUILD_WITH_INSTALL_RPATH): the
#                              # manifest lists their hashes. Libraries that are there when the module is linked, or
#                              # where $ORIGIN in a run path leads, are found automatically
#     [VERSION 0.3]            # of the module, informative
#     [OPS add ...]            # for readers of the manifest
#     [DESTINATION folder]     # install folder; without it the module is not installed
#     [OWN_SYMBOLS])           # the sources define the three exported symbols themselves
#
# The target is ferrule-<name>[-<variant>]. In a static build it is an object library, which is linked into libferrule
# if FERRULE_STATIC_BACKENDS names it.
function(ferrule_add_module)
  cmake_parse_arguments(
    PARSE_ARGV 0 arg "OWN_SYMBOLS" "NAME;VARIANT;VERSION;RANK;PREFERENCE;DESTINATION"
    "SOURCES;OBJECTS;KERNELS;COMPILE_OPTIONS;KERNEL_OPTIONS;DEFINITIONS;INCLUDES;LIBRARIES;DEVICE_KINDS;CPU_FEATURES;DRIVER;OPS;LIBRARIES_BESIDE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ferrule_add_module: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_NAME MATCHES "^[a-z0-9_]+$")
    message(FATAL_ERROR "ferrule_add_module: NAME is '${arg_NAME}', and must consist of a-z, 0-9 and _")
  endif()
  set(stem ferrule-${arg_NAME})
  set(symbol ferrule_module_${arg_NAME})
  if(arg_VARIANT)
    string(APPEND stem -${arg_VARIANT})
    string(MAKE_C_IDENTIFIER ${symbol}_${arg_VARIANT} symbol)
  endif()
  set(options ${arg_COMPILE_OPTIONS})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND options $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  endif()

  # Separate object libraries for the module's own sources and its kernels: their instruction sets differ.
  set(objects ${stem}-objects)
  add_library(${objects} OBJECT ${arg_SOURCES})
  target_compile_options(${objects} PRIVATE ${options})
  set(libraries ${objects})
  if(arg_KERNELS)
    add_library(${stem}-kernels OBJECT ${arg_KERNELS})
    # Each kernel's file has names of its own, such as its parameters, that others have too.
    set_target_properties(${stem}-kernels PROPERTIES UNITY_BUILD OFF)
    target_compile_options(${stem}-kernels PRIVATE ${options} ${arg_KERNEL_OPTIONS} ${FERRULE_KERNEL_OPTIONS})
    list(APPEND libraries ${stem}-kernels)
  endif()
  foreach(library IN LISTS libraries)
    set_target_properties(
      ${library} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
                            VISIBILITY_INLINES_HIDDEN ON)
    target_compile_features(${library} PRIVATE c_std_11 cxx_std_20)
    target_compile_definitions(
      ${library} PRIVATE ${arg_DEFINITIONS} FERRULE_MODULE_SYMBOL=${symbol} FERRULE_MODULE_NAME="${arg_NAME}"
                         FERRULE_MODULE_VARIANT="${arg_VARIANT}"
                         FERRULE_MODULE_PREFERENCE=$<IF:$<BOOL:${arg_PREFERENCE}>,${arg_PREFERENCE},0>)
    target_include_directories(${library} PRIVATE ${arg_INCLUDES})
    target_link_libraries(${library} PRIVATE ferrule::sdk ${arg_LIBRARIES})
    if(TARGET ferrule_ops_header)
      add_dependencies(${library} ferrule_ops_header)
    endif()
  endforeach()

  _ferrule_is_wanted(wanted)
  if(FERRULE_STATIC)
    add_library(${stem} ALIAS ${objects})
    if(wanted)
      set_property(GLOBAL APPEND PROPERTY FERRULE_STATIC_MODULES ${symbol})
      set_property(GLOBAL APPEND PROPERTY FERRULE_STATIC_OBJECTS ${libraries} ${arg_OBJECTS})
    else()
      set_target_properties(${libraries} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    return()
  endif()

  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE contents)
  list(TRANSFORM arg_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE shared)
  list(APPEND contents ${shared})
  if(NOT arg_OWN_SYMBOLS)
    set(FERRULE_MODULE_SYMBOL ${symbol})
    set(symbols ${CMAKE_CURRENT_BINARY_DIR}/${stem}-symbols.c)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/module_symbols.c.in ${symbols} @ONLY)
    list(APPEND contents ${symbols})
  endif()
  add_library(${stem} MODULE ${contents})
  # The linked file is final: nothing may strip it, or change its run path, after its manifest is written.
  set_target_properties(${stem} PROPERTIES PREFIX lib LINKER_LANGUAGE CXX BUILD_WITH_INSTALL_RPATH ON)
  target_link_libraries(${stem} PRIVATE ferrule::sdk ${arg_LIBRARIES})
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/module.map)
    target_link_options(${stem} PRIVATE -Wl,--version-script=${map} -Wl,-z,defs)
    set_property(TARGET ${stem} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
  if(NOT MSVC)
    target_link_options(${stem} PRIVATE $<$<CONFIG:Release>:-s>)
  endif()
  _ferrule_write_manifest(${stem})
  if(NOT wanted)
    set_target_properties(${libraries} ${stem} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY FERRULE_MODULES ${stem})
  if(arg_DESTINATION)
    install(TARGETS ${stem} LIBRARY DESTINATION ${arg_DESTINATION})
    install(FILES $<TARGET_FILE_DIR:${stem}>/lib${stem}.json DESTINATION ${arg_DESTINATION})
    set_property(GLOBAL APPEND PROPERTY FERRULE_INSTALLED_MODULES ${stem})
    set_property(GLOBAL APPEND PROPERTY FERRULE_INSTALLED_MANIFESTS $<TARGET_FILE_DIR:${stem}>/lib${stem}.json)
  elseif(TARGET ferrule_core)
    # In a separate folder, so that no test loads the module from a root by accident.
    set_target_properties(${stem} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/testing)
  endif()
endfunction()

# Whether the module is part of this build: in a static build, if FERRULE_STATIC_BACKENDS names it and
# FERRULE_STATIC_<NAME> its variant; in a shared one, if FERRULE_VARIANTS is empty or names its variant.
function(_ferrule_is_wanted out)
  string(TOUPPER ${arg_NAME} upper)
  set(${out} ON PARENT_SCOPE)
  if(FERRULE_STATIC AND NOT arg_NAME IN_LIST FERRULE_STATIC_BACKENDS)
    set(${out} OFF PARENT_SCOPE)
  endif()
  if(arg_VARIANT AND FERRULE_STATIC AND NOT arg_VARIANT STREQUAL "${FERRULE_STATIC_${upper}}")
    set(${out} OFF PARENT_SCOPE)
  endif()
  if(arg_VARIANT AND FERRULE_VARIANTS AND NOT arg_VARIANT IN_LIST FERRULE_VARIANTS)
    set(${out} OFF PARENT_SCOPE)
  endif()
endfunction()

# Writes the manifest, with the hash of the linked file. Must be the last step that changes the module's file.
function(_ferrule_write_manifest stem)
  set(arguments "")
  foreach(option version rank preference)
    string(TOUPPER ${option} upper)
    if(DEFINED arg_${upper})
      list(APPEND arguments --${option} ${arg_${upper}})
    endif()
  endforeach()
  foreach(kind IN LISTS arg_DEVICE_KINDS)
    list(APPEND arguments --device-kind ${kind})
  endforeach()
  foreach(feature IN LISTS arg_CPU_FEATURES)
    list(APPEND arguments --cpu-feature ${feature})
  endforeach()
  set(option --driver)
  foreach(word IN LISTS arg_DRIVER)
    if(word STREQUAL LIBRARY)
      set(option --driver)
    elseif(word MATCHES "^(TITLE|FLOOR|VERSION_FILE|VARIABLES|HIDING_VARIABLES|FILE_VARIABLES|FOLDERS|STATE_FILES)$")
      string(TOLOWER ${word} option)
      string(REPLACE "_" "-" option --driver-${option})
      string(REGEX REPLACE "s$" "" option ${option})
    else()
      list(APPEND arguments ${option} ${word})
      if(option MATCHES "-(title|floor|version-file)$")
        set(option --driver)
      endif()
    endif()
  endforeach()
  foreach(op IN LISTS arg_OPS)
    list(APPEND arguments --op ${op})
  endforeach()
  foreach(library IN LISTS arg_LIBRARIES_BESIDE)
    list(APPEND arguments --library ${library})
  endforeach()
  add_custom_command(
    TARGET ${stem}
    POST_BUILD
    COMMAND ferrule::manifest $<TARGET_FILE:${stem}> ${arguments}
    VERBATIM)
endfunction()
