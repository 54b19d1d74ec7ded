# ferrule_add_module: a backend module and its manifest. Used by the backends of this tree and, through
# find_package(ferrule), by everyone else's.
#
#   ferrule_add_module(
#     NAME mine                # [a-z0-9_]+; the module is libferrule-mine.so
#     [VARIANT fast]           # libferrule-mine-fast.so
#     SOURCES mine.cpp ...     # compiled for the base architecture; one of them holds FE_DEFINE_MODULE
#     [KERNELS k.cpp ...]      # compiled with KERNEL_OPTIONS beside COMPILE_OPTIONS
#     [KERNELS_OF target]      # or the compiled kernels of another module
#     [COMPILE_OPTIONS ...] [KERNEL_OPTIONS ...] [DEFINITIONS ...] [INCLUDES ...] [LIBRARIES ...]
#     [RANK n]                 # orders the variants of one name; without a variant 0, the last resort
#     [PREFERENCE n]           # orders devices of one kind; higher comes first
#     [DEVICE_KINDS cpu ...]   # gpu integrated_gpu accelerator remote cpu software test
#     [CPU_FEATURES avx2 ...]  # what the machine must have
#     [DRIVER libcuda.so.1 [FLOOR 550] [VERSION_FILE /sys/module/nvidia/version]
#             [VARIABLES CUDA_* ...] [HIDING_VARIABLES CUDA_VISIBLE_DEVICES ...] [FILE_VARIABLES VK_DRIVER_FILES ...]
#             [FOLDERS vulkan/icd.d ...] [STATE_FILES /proc/driver/nvidia/version ...] [LIBRARY libother.so.1 ...] ...]
#                              # libraries of drivers, each with the oldest version that will do, the file that tells it
#                              # if the name of the library's file does not, and what else decides what the driver
#                              # shows: variables of the environment, some of which hide all devices, some of which
#                              # list files; folders that it reads; files with versions (docs/loading.md). LIBRARY
#                              # begins the next driver behind a list
#     [LIBRARIES_BESIDE $<TARGET_FILE:mine_kernels> ...]
#                              # libraries that will lie beside the module, final as they are (BUILD_WITH_INSTALL_RPATH):
#                              # the manifest tells their hashes. Those that lie there already when the module is linked,
#                              # or where $ORIGIN in a run path leads, are found by themselves
#     [VERSION 0.3]            # of the module, for people
#     [OPS add ...]            # for readers of the manifest
#     [DESTINATION folder]     # where it is installed; without one it is not
#     [OWN_SYMBOLS])           # the sources define the three exported symbols themselves
#
# The target is ferrule-<name>[-<variant>]. In a static build it is an object library, which libferrule contains if
# FERRULE_STATIC_BACKENDS names it.
function(ferrule_add_module)
  cmake_parse_arguments(
    PARSE_ARGV 0 arg "OWN_SYMBOLS" "NAME;VARIANT;VERSION;RANK;PREFERENCE;DESTINATION;KERNELS_OF"
    "SOURCES;KERNELS;COMPILE_OPTIONS;KERNEL_OPTIONS;DEFINITIONS;INCLUDES;LIBRARIES;DEVICE_KINDS;CPU_FEATURES;DRIVER;OPS;LIBRARIES_BESIDE")
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

  # One object library for the module's own sources, one for the kernels: they differ in their instruction set.
  set(objects ${stem}-objects)
  add_library(${objects} OBJECT ${arg_SOURCES})
  target_compile_options(${objects} PRIVATE ${options})
  set(libraries ${objects})
  if(arg_KERNELS)
    add_library(${stem}-kernels OBJECT ${arg_KERNELS})
    target_compile_options(${stem}-kernels PRIVATE ${options} ${arg_KERNEL_OPTIONS})
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
      set_property(GLOBAL APPEND PROPERTY FERRULE_STATIC_OBJECTS ${libraries})
    else()
      set_target_properties(${libraries} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    return()
  endif()

  if(arg_KERNELS_OF)
    list(APPEND libraries ${arg_KERNELS_OF}-kernels)
  endif()
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE contents)
  if(NOT arg_OWN_SYMBOLS)
    set(FERRULE_MODULE_SYMBOL ${symbol})
    set(symbols ${CMAKE_CURRENT_BINARY_DIR}/${stem}-symbols.c)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/module_symbols.c.in ${symbols} @ONLY)
    list(APPEND contents ${symbols})
  endif()
  add_library(${stem} MODULE ${contents})
  # The file is final when it is linked: nothing may strip it, or change its run path, after its manifest was written.
  set_target_properties(${stem} PROPERTIES PREFIX lib LINKER_LANGUAGE CXX BUILD_WITH_INSTALL_RPATH ON)
  target_link_libraries(${stem} PRIVATE ferrule::sdk ${arg_LIBRARIES})
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/module.map)
    target_link_options(${stem} PRIVATE -Wl,--version-script=${map} -Wl,-z,defs $<$<CONFIG:Release>:-s>)
    set_property(TARGET ${stem} APPEND PROPERTY LINK_DEPENDS ${map})
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
    set_property(GLOBAL APPEND PROPERTY FERRULE_INSTALLED_MANIFESTS $<TARGET_FILE_DIR:${stem}>/lib${stem}.json)
  elseif(TARGET ferrule_core)
    # Apart from the modules that are installed, in a folder that no test takes for a root by accident.
    set_target_properties(${stem} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/testing)
  endif()
endfunction()

# Whether the module is part of this build: in a static one, FERRULE_STATIC_BACKENDS names it and FERRULE_STATIC_<NAME>
# its variant; in a shared one, FERRULE_VARIANTS, when it is not empty, names its variant.
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

# The last step that touches the file of a module: its manifest, with the hash of what was just linked.
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
    elseif(word MATCHES "^(FLOOR|VERSION_FILE|VARIABLES|HIDING_VARIABLES|FILE_VARIABLES|FOLDERS|STATE_FILES)$")
      string(TOLOWER ${word} option)
      string(REPLACE "_" "-" option --driver-${option})
      string(REGEX REPLACE "s$" "" option ${option})
    else()
      list(APPEND arguments ${option} ${word})
      if(option MATCHES "-(floor|version-file)$")
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
