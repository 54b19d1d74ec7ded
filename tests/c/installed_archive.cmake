# Installs a static build and builds a pure C program against it, with find_package and with pkg-config. BUILD: the
# build folder; SOURCE: the program's project; FOLDER: output folder; PACKAGES and PKGCONFIG: paths below the
# installation.
file(REMOVE_RECURSE ${FOLDER})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_sum program)
  run(${program} cpu)
  if(NOT output STREQUAL "cpu:0: 11 22 33\n")
    message(FATAL_ERROR "${program} printed: ${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER}/build -DCMAKE_C_COMPILER=${C_COMPILER}
    -Dferrule_DIR=${FOLDER}/prefix/${PACKAGES})
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
expect_sum(${FOLDER}/build/application)

find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${FOLDER}/prefix/${PKGCONFIG})
run(${pkg_config} --static --cflags --libs ferrule)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${C_COMPILER} ${SOURCE}/application.c -o ${FOLDER}/application ${flags})
expect_sum(${FOLDER}/application)
