# ferrule_kernel_table: the table of a backend's kernels, from the lines KERNEL(<op>, ...) of its sources: a kernel is
# added by its line alone.
#
#   ferrule_kernel_table(
#     <variable>            # the generated file, which defines `const Kernel* find_kernel(std::string_view op)`
#     <variable>            # the ops, sorted
#     NAMESPACE ferrule::x  # of Kernel, which has a member `op`, and of kernel_<op>, which KERNEL defines
#     HEADER plan.h         # declares Kernel and find_kernel
#     SOURCES k.cpp ...)
set(FERRULE_KERNEL_TABLE_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/kernel_table.cpp.in)
function(ferrule_kernel_table file ops)
  cmake_parse_arguments(PARSE_ARGV 2 table "" "NAMESPACE;HEADER" "SOURCES")
  set(names "")
  foreach(source IN LISTS table_SOURCES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "^KERNEL\\([a-z0-9_]+,")
    file(STRINGS ${source} broken REGEX "^KERNEL\\([ \t]*$")
    if(broken)
      message(FATAL_ERROR "${source}: the name of a kernel must be on the line of its KERNEL(")
    endif()
    list(TRANSFORM lines REPLACE "^KERNEL\\(([a-z0-9_]+),.*" "\\1")
    list(APPEND names ${lines})
  endforeach()
  list(SORT names)
  list(TRANSFORM names REPLACE "(.+)" "extern const Kernel kernel_\\1" OUTPUT_VARIABLE declarations)
  list(TRANSFORM names REPLACE "(.+)" "      &kernel_\\1," OUTPUT_VARIABLE rows)
  string(JOIN ";\n" table_DECLARATIONS ${declarations})
  string(JOIN "\n" table_ROWS ${rows})
  set(made ${CMAKE_CURRENT_BINARY_DIR}/kernel_table.cpp)
  configure_file(${FERRULE_KERNEL_TABLE_TEMPLATE} ${made} @ONLY)
  set(${file} ${made} PARENT_SCOPE)
  set(${ops} ${names} PARENT_SCOPE)
endfunction()
