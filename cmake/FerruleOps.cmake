# The op set. To add an op, add its row to csrc/ops/*.cpp: the table of ops, the C structs of attributes and the Python
# functions are generated from the rows. The name of the row's file is the op's family.
file(GLOB op_sources CONFIGURE_DEPENDS csrc/ops/*.cpp)
set(op_entries "")
foreach(source IN LISTS op_sources)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} rows REGEX "^OP\\([a-z0-9_]+\\)")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^OP\\(([a-z0-9_]+)\\).*" "\\1" name "${row}")
    cmake_path(GET source STEM family)
    list(APPEND op_entries "${name}, ${family}")
  endforeach()
endforeach()
list(SORT op_entries) # by name: a comma comes before whatever continues a name
list(TRANSFORM op_entries REPLACE "(.+)" "FERRULE_OP(\\1)\n" OUTPUT_VARIABLE op_table)
string(JOIN "" op_table ${op_table})
file(CONFIGURE OUTPUT ${FERRULE_GENERATED}/private/op_table.inc CONTENT "${op_table}" @ONLY)

add_library(ferrule_ops OBJECT ${op_sources})
target_link_libraries(ferrule_ops PUBLIC ferrule_base)

if(FERRULE_HOST_TOOLS)
  add_executable(ferrule-generate-ops IMPORTED)
  set_target_properties(ferrule-generate-ops PROPERTIES IMPORTED_LOCATION ${FERRULE_HOST_TOOLS}/ferrule-generate-ops)
else()
  file(GLOB generator_sources CONFIGURE_DEPENDS csrc/ops/generate/*.cpp)
  add_executable(ferrule-generate-ops ${generator_sources})
  target_link_libraries(ferrule-generate-ops PRIVATE ferrule_ops ferrule_base)
endif()

# ferrule_generate(<what> <file>): writes the file by `ferrule-generate-ops <what>`. An unchanged file keeps its time
# stamp, because many files depend on it.
function(ferrule_generate what file)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${file}
    COMMAND ferrule-generate-ops ${what} > ${file}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${file}.new ${file}
    DEPENDS ferrule-generate-ops
    COMMENT "Generating ${what} of the ops"
    VERBATIM)
endfunction()
set(FERRULE_OPS_HEADER ${FERRULE_GENERATED_INCLUDE}/ferrule/ops.h)
set(FERRULE_OPS_TABLE ${FERRULE_GENERATED_INCLUDE}/ferrule/op_table.hpp)
ferrule_generate(header ${FERRULE_OPS_HEADER})
ferrule_generate(table ${FERRULE_OPS_TABLE})
ferrule_generate(samples ${FERRULE_GENERATED}/conformance/op_samples.inc)
add_custom_target(ferrule_ops_header DEPENDS ${FERRULE_OPS_HEADER} ${FERRULE_OPS_TABLE})
add_custom_target(ferrule_op_samples DEPENDS ${FERRULE_GENERATED}/conformance/op_samples.inc)
