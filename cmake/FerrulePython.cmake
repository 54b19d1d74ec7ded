# The extension of the Python package: conversions only, over ferrule.h. It is compiled by nanobind for one version of
# CPython or, from 3.12 on, for all later ones by the stable ABI. FERRULE_STABLE_ABI adds the second form, in a folder of
# its own, to a build for 3.11.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
option(FERRULE_STABLE_ABI "also compile the extension for the stable ABI of CPython 3.12" OFF)
function(ask_python variable expression)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import nanobind, numpy, pathlib, sysconfig; print(${expression})"
                  OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\\" "/" answer "${answer}")
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()
ask_python(nanobind "pathlib.Path(nanobind.source_dir()).parent")
ask_python(numpy_headers "numpy.get_include()")
ask_python(python_headers "sysconfig.get_path('include')")
ask_python(suffix "sysconfig.get_config_var('EXT_SUFFIX')")
# What a build for another system is told: NumPy's headers and the end of the extension's name, both of Python there.
set(FERRULE_NUMPY_HEADERS ${numpy_headers} CACHE PATH "the folder of numpy/arrayobject.h")
set(FERRULE_EXTENSION_SUFFIX ${suffix} CACHE STRING "the end of the file name of the extension")
if(FERRULE_TARGET)
  # The headers are the same for each system, but for pyconfig.h.
  file(COPY ${python_headers}/ DESTINATION ${PROJECT_BINARY_DIR}/python PATTERN pyconfig.h EXCLUDE)
  file(COPY ${PROJECT_SOURCE_DIR}/cmake/python/pyconfig.h DESTINATION ${PROJECT_BINARY_DIR}/python)
  set(python_headers ${PROJECT_BINARY_DIR}/python)
endif()
if(WIN32)
  set(stable_suffix .pyd)
else()
  set(stable_suffix .abi3.so)
endif()

file(GLOB binding_sources CONFIGURE_DEPENDS csrc/bindings/*.cpp)
set_source_files_properties(${nanobind}/src/nb_combined.cpp PROPERTIES
  COMPILE_DEFINITIONS "NB_BUILD;NB_COMPACT_ASSERTIONS" COMPILE_OPTIONS "-w;-fno-strict-aliasing"
  INCLUDE_DIRECTORIES ${nanobind}/ext/robin_map/include SKIP_LINTING ON SKIP_UNITY_BUILD_INCLUSION ON)

# ferrule_link_python(<target> <library>): on Windows an extension links Python's library, python3 or python311; elsewhere
# the process has it.
function(ferrule_link_python target library)
  if(APPLE)
    target_link_options(${target} PRIVATE "LINKER:-undefined,dynamic_lookup")
  elseif(WIN32 AND NOT FERRULE_TARGET)
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module Development.SABIModule)
    target_link_directories(${target} PRIVATE ${Python_LIBRARY_DIRS})  # the headers name the library
  elseif(WIN32)
    set(imports ${PROJECT_BINARY_DIR}/lib${library}.a)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
      set(machine arm64)
    else()
      set(machine i386:x86-64)
    endif()
    if(NOT TARGET ${library}_imports)
      add_custom_command(OUTPUT ${imports} DEPENDS ${PROJECT_SOURCE_DIR}/cmake/python/imports.def VERBATIM
        COMMAND ${FERRULE_ZIG} dlltool -m ${machine} -d ${PROJECT_SOURCE_DIR}/cmake/python/imports.def -l ${imports}
                -D ${library}.dll)
      add_custom_target(${library}_imports DEPENDS ${imports})
    endif()
    add_dependencies(${target} ${library}_imports)
    target_link_libraries(${target} PRIVATE ${imports})
  endif()
endfunction()

# ferrule_add_extension(<target> <folder> <suffix>): the extension, in a folder of the build tree.
function(ferrule_add_extension target folder suffix)
  add_library(${target} MODULE ${binding_sources} ${nanobind}/src/nb_combined.cpp)
  target_link_libraries(${target} PRIVATE ferrule)
  target_include_directories(${target} SYSTEM PRIVATE ${python_headers} ${FERRULE_NUMPY_HEADERS} ${nanobind}/include)
  target_link_options(${target} PRIVATE $<$<CONFIG:Release>:-s>)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    # Hidden visibility does not hide instantiated templates of the C++ library.
    target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/extension.map)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/extension.map)
  endif()
  # A path of the build tree would leave a trace of its length, where it is replaced when the file is installed.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME _ferrule PREFIX "" SUFFIX "${suffix}" LIBRARY_OUTPUT_DIRECTORY "${folder}"
    BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH ${FERRULE_ORIGIN} CXX_VISIBILITY_PRESET hidden)
endfunction()

# ferrule_use_stable_abi(<target>): for CPython 3.12 and later.
function(ferrule_use_stable_abi target)
  target_compile_definitions(${target} PRIVATE Py_LIMITED_API=0x030C0000)
  ferrule_link_python(${target} python3)
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
  ferrule_link_python(_ferrule python311)
  if(FERRULE_STABLE_ABI)
    ferrule_add_extension(_ferrule_stable ${PROJECT_BINARY_DIR}/stable ${stable_suffix})
    ferrule_use_stable_abi(_ferrule_stable)
    # It is copied to where the other is installed.
    set_target_properties(_ferrule_stable PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  endif()
endif()
install(TARGETS _ferrule LIBRARY DESTINATION ferrule)
install(FILES ${FERRULE_GENERATED}/python/ops.py DESTINATION ferrule/functions)
