# The extension of the Python package: conversions only, over ferrule.h. It is compiled by nanobind for one version of
# CPython or, from 3.12 on, for all later ones by the stable ABI. FERRULE_STABLE_ABI adds the second form, in a folder of
# its own, to a build for 3.11.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
option(FERRULE_STABLE_ABI "also compile the extension for the stable ABI of CPython 3.12" OFF)
function(ask_python variable expression)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import nanobind, pathlib, sysconfig; print(${expression})"
                  OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()
ask_python(nanobind "pathlib.Path(nanobind.source_dir()).parent")
cmake_path(SET nanobind NORMALIZE "${nanobind}")
# The end of the extension's name. A build for another system gives that of Python there.
ask_python(suffix "sysconfig.get_config_var('EXT_SUFFIX')")
set(FERRULE_EXTENSION_SUFFIX ${suffix} CACHE STRING "the end of the file name of the extension")
if(WIN32)
  set(stable_suffix .pyd)
else()
  set(stable_suffix .abi3.so)
endif()

file(GLOB binding_sources CONFIGURE_DEPENDS csrc/bindings/*.cpp)
set_source_files_properties(${nanobind}/src/nb_combined.cpp PROPERTIES
  COMPILE_DEFINITIONS "NB_BUILD;NB_COMPACT_ASSERTIONS" COMPILE_OPTIONS "-w;-fno-strict-aliasing"
  INCLUDE_DIRECTORIES ${nanobind}/ext/robin_map/include SKIP_LINTING ON SKIP_UNITY_BUILD_INCLUSION ON)

# ferrule_add_extension(<target> <folder> <suffix>): the extension, in a folder of the build tree.
function(ferrule_add_extension target folder suffix)
  add_library(${target} MODULE ${binding_sources} ${nanobind}/src/nb_combined.cpp)
  target_link_libraries(${target} PRIVATE ferrule)
  # Not Python::Module: what an extension links on each system is below.
  target_include_directories(${target} SYSTEM PRIVATE ${Python_INCLUDE_DIRS} ${Python_NumPy_INCLUDE_DIRS}
                                                      ${nanobind}/include)
  target_link_options(${target} PRIVATE $<$<CONFIG:Release>:-s>)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    # Hidden visibility does not hide instantiated templates of the C++ library.
    target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/extension.map)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/extension.map)
  endif()
  # A path of the build tree would leave a trace of its length, where it is replaced when the file is installed.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME _ferrule PREFIX "" SUFFIX "${suffix}" LIBRARY_OUTPUT_DIRECTORY "${folder}"
    BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN" CXX_VISIBILITY_PRESET hidden)
endfunction()

# ferrule_use_stable_abi(<target>): for CPython 3.12 and later.
function(ferrule_use_stable_abi target)
  target_compile_definitions(${target} PRIVATE Py_LIMITED_API=0x030C0000)
  if(Python_VERSION VERSION_LESS 3.12)
    target_compile_options(${target} PRIVATE
      "SHELL:-include ${PROJECT_SOURCE_DIR}/csrc/bindings/stable_abi/additions_of_3_12.h")
  endif()
endfunction()

if(SKBUILD_SABI_VERSION)
  ferrule_add_extension(_ferrule ${PROJECT_BINARY_DIR} ${stable_suffix})
  ferrule_use_stable_abi(_ferrule)
else()
  ferrule_add_extension(_ferrule ${PROJECT_BINARY_DIR} ${FERRULE_EXTENSION_SUFFIX})
  if(FERRULE_STABLE_ABI)
    ferrule_add_extension(_ferrule_stable ${PROJECT_BINARY_DIR}/stable ${stable_suffix})
    ferrule_use_stable_abi(_ferrule_stable)
    # It is copied to where the other is installed.
    set_target_properties(_ferrule_stable PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  endif()
endif()
install(TARGETS _ferrule LIBRARY DESTINATION ferrule)
install(FILES ${FERRULE_GENERATED}/python/ops.py DESTINATION ferrule/functions)
