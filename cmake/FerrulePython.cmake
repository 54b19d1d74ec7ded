# The extension of the Python package: conversions only, over ferrule.h.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(pybind11 CONFIG REQUIRED)
file(GLOB_RECURSE binding_sources CONFIGURE_DEPENDS csrc/bindings/*.cpp)
pybind11_add_module(_ferrule MODULE NO_EXTRAS ${binding_sources})
target_link_libraries(_ferrule PRIVATE ferrule)
target_link_options(_ferrule PRIVATE $<$<CONFIG:Release>:-s>)
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  # Hidden visibility does not hide instantiated templates of the C++ library.
  target_link_options(_ferrule PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/extension.map)
  set_property(TARGET _ferrule APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/extension.map)
endif()
# A path of the build tree would leave a trace of its length, where it is replaced when the file is installed.
set_target_properties(_ferrule PROPERTIES BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN" CXX_VISIBILITY_PRESET hidden)
install(TARGETS _ferrule LIBRARY DESTINATION ferrule)
install(FILES ${FERRULE_GENERATED}/python/ops.py DESTINATION ferrule/functions)
