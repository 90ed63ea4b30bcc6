# kw_embed(module file kVariable): the text of `file` (seen from the project's root) as a constant of one module:
#   #include "kVariable.inc"  gives  static constexpr char kVariable[] = "…";
# Done at configure time; a change of the file configures again.
function(kw_embed module file variable)
  set(source ${PROJECT_SOURCE_DIR}/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embed/${module})
  file(CONFIGURE OUTPUT ${folder}/${variable}.inc @ONLY CONTENT
    "static constexpr char ${variable}[] = R\"kw_embed(@text@)kw_embed\";\n")
  target_include_directories(kw_${module} PRIVATE ${folder})
endfunction()
