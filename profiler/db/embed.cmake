# SPDX-License-Identifier: MIT
# memlag_embed(TARGET NAME FILE): compiles the bytes of FILE into TARGET as the
# NUL-terminated string NAME, declared in the generated header "NAME.h", and
# makes them again whenever FILE changes.
set(MEMLAG_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_file.cmake)

function(memlag_embed target name file)
  get_filename_component(file ${file} ABSOLUTE)
  set(stem ${CMAKE_CURRENT_BINARY_DIR}/embed/${name})
  add_custom_command(OUTPUT ${stem}.c ${stem}.h
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DFILE=${file} -DSTEM=${stem}
      -P ${MEMLAG_EMBED_SCRIPT}
    DEPENDS ${file} ${MEMLAG_EMBED_SCRIPT}
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE ${stem}.c ${stem}.h)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embed)
endfunction()
