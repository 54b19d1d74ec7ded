# ferrule_vulkan_shaders(<out>): compiles every .comp file of kernels/ to SPIR-V and embeds all of them. Sets <out> to
# the generated header that embedded_shaders.cpp includes; the caller adds it to the sources of that target.
#
# With a line `// variants: basic sum_f64`, a shader is compiled once for each word, as "<file>.<word>", with
# -DVARIANT_<part> for each part of the word (VARIANT_sum and VARIANT_f64). Without such a line it is compiled once, as
# "<file>". Words with the part `khr` need GL_KHR_cooperative_matrix, and are skipped if the compiler does not support
# it. Needs glslangValidator (glslang-tools), because glslc cannot keep functions that nothing calls, which splice.h
# needs in shaders with a function `spliced`. OpName is kept without -g; -g0 would strip it.
find_program(FERRULE_GLSLANG NAMES glslangValidator glslang DOC "The GLSL compiler of the Vulkan backend")

function(ferrule_vulkan_shaders out)
  if(NOT FERRULE_GLSLANG)
    message(FATAL_ERROR "FERRULE_VULKAN needs glslangValidator (Debian: glslang-tools)")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/shaders)
  file(MAKE_DIRECTORY ${folder})
  file(WRITE ${folder}/cooperative.comp
       "#version 460\n#extension GL_KHR_cooperative_matrix : require\nvoid main() {}\n")
  execute_process(COMMAND ${FERRULE_GLSLANG} --quiet --target-env vulkan1.2 -o ${folder}/cooperative.spv
                          ${folder}/cooperative.comp RESULT_VARIABLE no_cooperative OUTPUT_QUIET ERROR_QUIET)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*.comp
       ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*/*.comp)
  set(includes "")
  set(rows "")
  set(headers "")
  foreach(source IN LISTS sources)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    get_filename_component(stem ${source} NAME_WE)
    set(variants "")
    file(STRINGS ${source} line REGEX "^// variants: " LIMIT_COUNT 1)
    if(line)
      string(REGEX REPLACE "^// variants: *" "" line "${line}")
      string(REGEX MATCHALL "[a-z0-9_]+" variants "${line}")
    endif()
    file(STRINGS ${source} spliced REGEX "^void spliced\\(" LIMIT_COUNT 1)
    set(uncalled "")
    if(spliced)
      set(uncalled --keep-uncalled)
    endif()
    if(NOT variants)
      set(variants none)
    endif()
    if(no_cooperative)
      list(FILTER variants EXCLUDE REGEX "khr")
    endif()
    foreach(variant IN LISTS variants)
      set(name ${stem})
      set(definitions "")
      if(NOT variant STREQUAL none)
        set(name ${stem}.${variant})
        string(REPLACE "_" ";" definitions "${variant}")
        list(TRANSFORM definitions PREPEND -DVARIANT_)
      endif()
      string(MAKE_C_IDENTIFIER words_${name} array)
      set(header ${folder}/${name}.h)
      add_custom_command(
        OUTPUT ${header}
        COMMAND ${FERRULE_GLSLANG} --quiet --target-env vulkan1.2 ${uncalled} ${definitions}
                -I${FERRULE_SDK_DIR}/.. --depfile
                ${folder}/${name}.d --variable-name ${array} -o ${header} ${source}
        DEPENDS ${source}
        DEPFILE ${folder}/${name}.d
        COMMENT "Shader ${name}"
        VERBATIM)
      list(APPEND headers ${header})
      string(APPEND includes "#include \"shaders/${name}.h\"\n")
      string(APPEND rows "    {\"${name}\", ${array}, std::size(${array})},\n")
    endforeach()
  endforeach()
  set(FERRULE_SHADER_INCLUDES "${includes}")
  set(FERRULE_SHADER_ROWS "${rows}")
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/shader_table.h.in ${CMAKE_CURRENT_BINARY_DIR}/shader_table.h @ONLY)
  set(${out} ${CMAKE_CURRENT_BINARY_DIR}/shader_table.h ${headers} PARENT_SCOPE)
endfunction()
