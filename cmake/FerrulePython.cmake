# The extension of the Python package: conversions only, over ferrule.h. It is compiled by pybind11 for one version of
# CPython, that of Python_EXECUTABLE.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
function(ask_python variable expression)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "import numpy, os, pybind11, sys, sysconfig; print(${expression})"
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\\" "/" answer "${answer}")
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()
ask_python(pybind11_headers "pybind11.get_include()")
ask_python(numpy_headers "numpy.get_include()")
ask_python(python_headers "sysconfig.get_path('include')")
ask_python(suffix "sysconfig.get_config_var('EXT_SUFFIX')")
# A build for another system sets these two, to those of the Python there.
set(FERRULE_NUMPY_HEADERS ${numpy_headers} CACHE PATH "the folder of numpy/arrayobject.h")
set(FERRULE_EXTENSION_SUFFIX ${suffix} CACHE STRING "the end of the file name of the extension")
if(FERRULE_TARGET)
  # The headers are the same for each system, but for pyconfig.h.
  file(COPY ${python_headers}/ DESTINATION ${PROJECT_BINARY_DIR}/python PATTERN pyconfig.h EXCLUDE)
  file(COPY ${PROJECT_SOURCE_DIR}/cmake/python/pyconfig.h DESTINATION ${PROJECT_BINARY_DIR}/python)
  set(python_headers ${PROJECT_BINARY_DIR}/python)
endif()

# ferrule_link_python(<target>): on Windows an extension links Python's library; elsewhere the process has it. A build on
# another system makes the import library from the names that the Python there exports.
function(ferrule_link_python target)
  if(APPLE)
    target_link_options(${target} PRIVATE "LINKER:-undefined,dynamic_lookup")
  elseif(WIN32 AND NOT FERRULE_TARGET)
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
    target_link_directories(${target} PRIVATE ${Python_LIBRARY_DIRS})  # the headers name the library
  elseif(WIN32)
    set(library python${Python_VERSION_MAJOR}${Python_VERSION_MINOR})
    # Its functions and data are in the program, or in a library where it has one.
    ask_python(exporters "';'.join(filter(os.path.isfile, (os.path.realpath(sys.executable), os.path.join(\
*sysconfig.get_config_vars('LIBDIR', 'INSTSONAME')))))")
    execute_process(COMMAND nm -D --defined-only ${exporters} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[BDRTVW] _?Py[A-Za-z0-9_]+" names "${names}")
    list(TRANSFORM names REPLACE "^[TW] (.+)$" "  \\1")
    list(TRANSFORM names REPLACE "^[BDRV] (.+)$" "  \\1 DATA")
    list(REMOVE_DUPLICATES names)
    list(JOIN names "\n" names)
    set(imports ${PROJECT_BINARY_DIR}/${library})
    file(WRITE ${imports}.def "EXPORTS\n${names}\n")
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
      set(machine arm64)
    else()
      set(machine i386:x86-64)
    endif()
    execute_process(COMMAND ${FERRULE_ZIG} dlltool -m ${machine} -d ${imports}.def -l ${imports}.a -D ${library}.dll
                    COMMAND_ERROR_IS_FATAL ANY)
    target_link_libraries(${target} PRIVATE ${imports}.a)
  endif()
endfunction()

file(GLOB binding_sources CONFIGURE_DEPENDS csrc/bindings/*.cpp)
add_library(_ferrule MODULE ${binding_sources})
target_link_libraries(_ferrule PRIVATE ferrule)
target_include_directories(_ferrule SYSTEM PRIVATE ${python_headers} ${FERRULE_NUMPY_HEADERS} ${pybind11_headers})
target_link_options(_ferrule PRIVATE $<$<CONFIG:Release>:-s>)
target_compile_definitions(_ferrule PRIVATE FERRULE_VERSION="${PROJECT_VERSION}")
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  # Hidden visibility does not hide instantiated templates of the C++ library.
  target_link_options(_ferrule PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/extension.map)
  set_property(TARGET _ferrule APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/extension.map)
endif()
# Without $ORIGIN from the start, the installed file would depend on the length of the build tree's path.
set_target_properties(_ferrule PROPERTIES
  PREFIX "" SUFFIX "${FERRULE_EXTENSION_SUFFIX}" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH ${FERRULE_ORIGIN} CXX_VISIBILITY_PRESET hidden)
ferrule_link_python(_ferrule)
install(TARGETS _ferrule LIBRARY DESTINATION ferrule)

# ---- the functions of the ops
set(generate ${PROJECT_SOURCE_DIR}/csrc/ops/generate)
file(GLOB templates CONFIGURE_DEPENDS ${generate}/templates/*.*.jinja)
set(python_files "")
foreach(template IN LISTS templates)
  cmake_path(GET template STEM LAST_ONLY file)
  list(APPEND python_files ${FERRULE_GENERATED}/python/${file})
endforeach()
set(package ${PROJECT_SOURCE_DIR}/python/ferrule)
file(GLOB function_files CONFIGURE_DEPENDS
  ${package}/functions/*.py ${package}/linalg/*.py ${package}/fft/*.py ${package}/io/*.py ${package}/random/*.py)
file(GLOB generator_files CONFIGURE_DEPENDS ${generate}/*.py ${generate}/*.toml ${generate}/templates/*)
ferrule_generate(description ${FERRULE_GENERATED}/ops.json)
add_custom_command(
  OUTPUT ${python_files}
  COMMAND ${Python_EXECUTABLE} ${generate}/python_files.py ${FERRULE_GENERATED}/ops.json ${package}/functions
          ${FERRULE_GENERATED}/python
  DEPENDS ${FERRULE_GENERATED}/ops.json ${function_files} ${generator_files}
  COMMENT "Generating the functions of the ops"
  VERBATIM)
# ---- where the public names are
set(public_names ${FERRULE_GENERATED}/python/public_names.py)
set(functions ${FERRULE_GENERATED}/python/ops.py ${FERRULE_GENERATED}/python/reduction_functions.py)
set(names_generator ${PROJECT_SOURCE_DIR}/cmake/python/public_names.py)
add_custom_command(
  OUTPUT ${public_names}
  COMMAND ${Python_EXECUTABLE} ${names_generator} ${public_names} ${package} ${FERRULE_GENERATED}/python
  DEPENDS ${package}/__init__.py ${function_files} ${python_files} ${names_generator}
  COMMENT "Generating the list of public names"
  VERBATIM)
add_custom_target(ferrule_python_files ALL DEPENDS ${python_files} ${public_names})
install(FILES ${functions} ${FERRULE_GENERATED}/python/array_methods.py DESTINATION ferrule/functions)
install(FILES ${FERRULE_GENERATED}/python/transform_functions.py DESTINATION ferrule/fft)
install(FILES ${FERRULE_GENERATED}/python/op_attributes.py DESTINATION ferrule/array)
install(FILES ${public_names} ${FERRULE_GENERATED}/python/op_rows.py DESTINATION ferrule)
