# SPDX-License-Identifier: Apache-2.0
# odori_pages(TARGET [NAMESPACE name] FILES file...): pages, their looks and scripts become a part of the
# program, so that it needs no file beside it. Its sources find them in FOLDER/pages.h: page.html is pages::page_html.
function(odori_pages target)
  cmake_parse_arguments(PAGES "" "NAMESPACE" "FILES" ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PAGES_FILES})
  set(namespace odori)
  if(PAGES_NAMESPACE)
    set(namespace ${PAGES_NAMESPACE})
  endif()
  set(texts "")
  foreach(file IN LISTS PAGES_FILES)
    file(READ ${file} text)
    string(MAKE_C_IDENTIFIER ${file} name)
    string(APPEND texts "inline constexpr const char* ${name} = R\"page(${text})page\";\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/pages.h.in pages.h @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/..)
endfunction()
