# kw_embed(module file kVariable): the text of `file` (path from the project's root) as a constant of one module:
#   #include "kVariable.inc"  gives  static constexpr char kVariable[] = "…";
# Done at configure time; a change of the file triggers a new configure.
function(kw_embed module file variable)
  set(source ${PROJECT_SOURCE_DIR}/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embed/${module})
  file(CONFIGURE OUTPUT ${folder}/${variable}.inc @ONLY CONTENT
    "static constexpr char ${variable}[] = R\"kw_embed(@text@)kw_embed\";\n")
  target_include_directories(kw_${module} PRIVATE ${folder})
endfunction()

# kw_write_rows(module kVariable fields rows): kVariable.inc with an array of structs that have these fields, and an empty last row.
function(kw_write_rows module variable fields rows)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embed/${module})
  file(CONFIGURE OUTPUT ${folder}/${variable}.inc @ONLY CONTENT
    "static constexpr struct {\n  const char ${fields};\n} ${variable}[] = {\n@rows@    {},\n};\n")
  target_include_directories(kw_${module} PRIVATE ${folder})
endfunction()

# kw_embed_folder(module folder kVariable): every file below `folder`, with its path from there, as
#   #include "kVariable.inc"  gives  static constexpr struct { const char *name, *text; } kVariable[] = {…};
# whose last row is empty.
function(kw_embed_folder module folder variable)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_SOURCE_DIR}/${folder}/*)
  list(SORT files)
  set(rows "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${file})
    file(READ ${PROJECT_SOURCE_DIR}/${folder}/${file} text)
    string(APPEND rows "    {\"${file}\", R\"kw_embed(${text})kw_embed\"},\n")
  endforeach()
  kw_write_rows(${module} ${variable} "*name, *text" "${rows}")
endfunction()

# kw_embed_python(module folder kVariable): every Python file of `folder` and its syntax tree (python/ast_dump.py), as
#   #include "kVariable.inc"  gives  static constexpr struct { const char *name, *text, *tree; } kVariable[] = {…};
# whose last row is empty.
function(kw_embed_python module folder variable)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.py)
  list(SORT files)
  set(rows "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    execute_process(COMMAND ${Python3_EXECUTABLE} -I -S -B ${PROJECT_SOURCE_DIR}/python/ast_dump.py ${file} OUTPUT_VARIABLE tree
      COMMAND_ERROR_IS_FATAL ANY)
    if(tree MATCHES "^{\"error\"")
      message(FATAL_ERROR "${file}: ${tree}")
    endif()
    cmake_path(GET file FILENAME name)
    string(APPEND rows "    {\"${name}\", R\"kw_embed(${text})kw_embed\", R\"kw_embed(${tree})kw_embed\"},\n")
  endforeach()
  kw_write_rows(${module} ${variable} "*name, *text, *tree" "${rows}")
endfunction()

# kw_embed_library(module target kVariable): the bytes of a library this build makes:
#   #include "kVariable.inc"  declares  extern "C" const char kVariable[], kVariable_end[];
function(kw_embed_library module target variable)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embed/${module})
  file(CONFIGURE OUTPUT ${folder}/${variable}.inc @ONLY CONTENT
    "extern \"C\" const char @variable@[], @variable@_end[];\n")
  # The assembler reads the file, so the dependency must be declared: the compiler cannot see it.
  file(CONFIGURE OUTPUT ${folder}/${variable}.cpp.in @ONLY CONTENT
    "asm(\".section .rodata\\n.balign 16\\n.global @variable@\\n.global @variable@_end\\n\"
    \"@variable@:\\n.incbin \\\"$<TARGET_FILE:@target@>\\\"\\n@variable@_end:\\n.byte 0\\n.previous\\n\");\n")
  file(GENERATE OUTPUT ${folder}/${variable}.cpp INPUT ${folder}/${variable}.cpp.in)
  set_source_files_properties(${folder}/${variable}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON  # a unity build would lose it
    OBJECT_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/lib${target}.so)
  target_sources(kw_${module} PRIVATE ${folder}/${variable}.cpp)
  target_include_directories(kw_${module} PRIVATE ${folder})
  add_dependencies(kw_${module} ${target})
endfunction()
