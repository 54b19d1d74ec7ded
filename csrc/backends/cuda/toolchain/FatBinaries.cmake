# ferrule_cuda_fat_binaries(<out> KERNELS a.cu ... [INCLUDES folder ...]): compiles each kernel file to one fat binary,
# with the code for FERRULE_CUDA_ARCHITECTURES, and embeds them in a source. Sets <out> to that source, which defines
# fat_binaries() of fat_binaries.h; the caller adds it to a target of the same folder. Only for ELF: it uses .incbin.
#
# No host code goes through nvcc, which uses this machine's compiler only as a preprocessor; it does not take the one of
# cmake/toolchains/zig.cmake. Each architecture of a file is a command of its own, because ccache cannot store what one
# command compiles for several; fatbinary binds them. Beside <stem>.fatbin is <stem>.resources.txt, what ptxas says about
# registers and memory, which tests/test_resources.py reads. The target ferrule_cuda_fat_binaries builds only these.
set(FERRULE_CUDA_ARCHITECTURES 75 80 86 89 90a 100 120
    CACHE STRING "GPU architectures with machine code; PTX for the last one serves newer ones")
if(DEFINED ENV{FERRULE_BUILD_CUDA_ARCHITECTURES}) # for builds of wheels; separated by spaces. FERRULE_CUDA_* are the options of devices
  separate_arguments(FERRULE_CUDA_ARCHITECTURES UNIX_COMMAND "$ENV{FERRULE_BUILD_CUDA_ARCHITECTURES}")
endif()
find_program(CCACHE ccache)
mark_as_advanced(CCACHE)

function(ferrule_cuda_fat_binaries out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "KERNELS;INCLUDES")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/fat_binaries)
  file(MAKE_DIRECTORY ${folder})

  cmake_path(SET tree NORMALIZE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../..)
  cmake_path(GET FERRULE_CUDA_NVCC PARENT_PATH programs)
  set(ccache "")
  if(CCACHE)
    set(ccache ${CCACHE})
  endif()
  if(CMAKE_CROSSCOMPILING)
    find_program(preprocessor NAMES c++ g++ NO_CACHE REQUIRED)
  else()
    set(preprocessor ${CMAKE_CXX_COMPILER})
  endif()
  set(options -ccbin ${preprocessor} -allow-unsupported-compiler -std=c++20 -O3 -fmad=false -Werror=all-warnings
              -I .)
  foreach(include IN LISTS arg_INCLUDES)
    list(APPEND options -I ${include})
  endforeach()
  list(GET FERRULE_CUDA_ARCHITECTURES -1 newest)

  set(files "")
  set(FERRULE_CUDA_BLOBS "")
  set(FERRULE_CUDA_ROWS "")
  foreach(kernel IN LISTS arg_KERNELS)
    cmake_path(ABSOLUTE_PATH kernel NORMALIZE)
    cmake_path(GET kernel STEM LAST_ONLY stem)
    if(NOT stem MATCHES "^[a-z][a-z0-9_]*$")
      message(FATAL_ERROR "${kernel}: the name must consist of a-z, 0-9 and _")
    endif()
    set(file ${folder}/${stem}.fatbin)
    if(file IN_LIST files)
      message(FATAL_ERROR "two kernel files are named ${stem}.cu")
    endif()
    list(APPEND files ${file})
    cmake_path(RELATIVE_PATH kernel BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE relative)
    set(parts "")
    set(pairs "")
    foreach(architecture IN LISTS FERRULE_CUDA_ARCHITECTURES)
      set(code ${folder}/${stem}.${architecture}.cubin)
      set(phase -cubin)
      set(outputs ${code})
      if(architecture STREQUAL newest)
        set(phase -both)
        list(APPEND outputs ${folder}/${stem}.${architecture}.ptx)
      endif()
      add_custom_command(
        OUTPUT ${outputs}
        BYPRODUCTS ${code}.txt
        COMMAND sh ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compile_kernel.sh ${phase} ${code} ${tree} "${ccache}"
                ${FERRULE_CUDA_NVCC} ${options} -arch=sm_${architecture} --resource-usage ${relative}
        DEPENDS ${kernel} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compile_kernel.sh
                ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/device_phase
        DEPFILE ${code}.d
        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
        COMMENT "GPU kernels ${stem} for ${architecture}"
        VERBATIM)
      list(APPEND parts ${outputs})
      list(TRANSFORM outputs PREPEND ${architecture}= OUTPUT_VARIABLE images)
      list(APPEND pairs ${images})
    endforeach()
    add_custom_command(
      OUTPUT ${file}
      BYPRODUCTS ${folder}/${stem}.resources.txt
      COMMAND sh ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/bind_kernel.sh ${programs}/fatbinary ${file} ${pairs}
      DEPENDS ${parts} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/bind_kernel.sh
      COMMENT "GPU kernels ${stem}"
      VERBATIM)
    string(APPEND FERRULE_CUDA_BLOBS "EMBED(${stem}, \"${file}\")\n")
    string(APPEND FERRULE_CUDA_ROWS "      ROW(${stem}),\n")
  endforeach()
  add_custom_target(ferrule_cuda_fat_binaries DEPENDS ${files})

  set(source ${CMAKE_CURRENT_BINARY_DIR}/fat_binaries.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fat_binaries.cpp.in ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}" SKIP_UNITY_BUILD_INCLUSION ON)
  set(${out} ${source} PARENT_SCOPE)
endfunction()
