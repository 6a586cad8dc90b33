# SPDX-License-Identifier: Apache-2.0
# odori_pages(TARGET [NAMESPACE name] FILES file... SOURCES file...): pages, their looks and scripts become a part of the
# program, so that it needs no file beside it. The sources find them in FOLDER/pages.h: page.html is pages::page_html.
function(odori_pages target)
  cmake_parse_arguments(PAGES "" "NAMESPACE" "FILES;SOURCES" ${ARGN})
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
  set_property(SOURCE ${PAGES_SOURCES} TARGET_DIRECTORY ${target} APPEND PROPERTY INCLUDE_DIRECTORIES
                                                                               ${CMAKE_CURRENT_BINARY_DIR}/..)
endfunction()
