# SPDX-License-Identifier: Apache-2.0
# What sanitizers find: odori_address_sanitizer (undefined behaviour too) and odori_thread_sanitizer are linked by whatever
# is checked so. GCC's alone: its runtimes are libraries, which a program that wasn't built with them can be given.
function(odori_sanitizer name what)
  add_library(odori_${name}_sanitizer INTERFACE)
  target_compile_options(odori_${name}_sanitizer INTERFACE -fsanitize=${what} ${ARGN} -fno-sanitize-recover=all
                                                           -fno-omit-frame-pointer -g1
                                                           $<IF:$<BOOL:$<TARGET_PROPERTY:ODORI_UNOPTIMISED>>,-O0,-O1>)
  target_link_options(odori_${name}_sanitizer INTERFACE -fsanitize=${what})
endfunction()
# Left out is what takes half of the compiler's time, since it looks at every access: most of it ends as a bad address anyway.
odori_sanitizer(address address,undefined -fno-sanitize=null,alignment,object-size,vptr)
odori_sanitizer(thread thread)

# odori_sanitized_library(NAME [PART...]): the training library once more, with a sanitizer, in build/sanitized/NAME; of these
# folders and files alone, where some are named. To be called in the folder of the target odori, whose sources and what they
# need it takes.
function(odori_sanitized_library name)
  get_target_property(sources odori SOURCES)
  get_target_property(quick_sources odori_quick SOURCES)
  if(ARGN)
    list(JOIN ARGN | parts)
    foreach(list sources quick_sources)
      list(FILTER ${list} INCLUDE REGEX "/lib/(${parts})[/.]") # not the whole path: that may hold a "c++"
    endforeach()
  endif()
  get_target_property(libraries odori LINK_LIBRARIES)
  list(REMOVE_ITEM libraries odori_quick)
  add_library(odori_${name}_quick OBJECT EXCLUDE_FROM_ALL ${quick_sources})
  set_target_properties(odori_${name}_quick PROPERTIES POSITION_INDEPENDENT_CODE ON ODORI_UNOPTIMISED ON)
  target_include_directories(odori_${name}_quick PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}) # its pages
  target_link_libraries(odori_${name}_quick PRIVATE odori_${name}_sanitizer ${libraries})
  add_library(odori_${name} SHARED EXCLUDE_FROM_ALL ${sources} $<TARGET_OBJECTS:odori_${name}_quick>)
  target_include_directories(odori_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(odori_${name} PUBLIC odori_${name}_sanitizer ${libraries})
  odori_compile_together(odori_${name} 20)
  odori_compile_together(odori_${name}_quick 20)
  set_target_properties(odori_${name} PROPERTIES OUTPUT_NAME odori LIBRARY_OUTPUT_DIRECTORY
                                                                   ${PROJECT_BINARY_DIR}/sanitized/${name})
endfunction()

# odori_sanitized_tests(NAME TEST...): these tests once more, on that library, as long tests. TEST_2_ranks is TEST under mpirun. For threads the
# programs are built anew, since that sanitizer has to see all that threads share; for addresses they are those that there are.
function(odori_sanitized_tests name)
  add_custom_target(sanitized_${name} DEPENDS odori_${name})
  odori_build_test(sanitized_${name})
  set_tests_properties(build_sanitized_${name} PROPERTIES TIMEOUT 1200 PROCESSORS 2)
  odori_long_tests(build_sanitized_${name})
  foreach(test ${ARGN})
    set(launcher "")
    string(REPLACE _2_ranks "" program ${test})
    if(NOT program STREQUAL test)
      set(launcher ${ODORI_MPIRUN} --allow-run-as-root --oversubscribe --bind-to none -np 2 --mca mpi_yield_when_idle 1 --)
    endif()
    if(name STREQUAL thread)
      get_target_property(libraries ${program} LINK_LIBRARIES)
      list(TRANSFORM libraries REPLACE "^odori$" odori_thread)
      set(program ${program}_thread)
      add_executable(${program} EXCLUDE_FROM_ALL ${test}.cpp)
      target_link_libraries(${program} PRIVATE ${libraries})
      set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sanitized/thread)
      add_dependencies(sanitized_thread ${program})
    endif()
    add_test(NAME ${test}_${name} COMMAND ${PROJECT_SOURCE_DIR}/lib/tests/sanitized.sh ${name}
                                          ${PROJECT_BINARY_DIR}/sanitized/${name} ${launcher} $<TARGET_FILE:${program}>)
    odori_test_targets(${test}_${name} ${program}) # the library is built by the fixture
    set_tests_properties(${test}_${name} PROPERTIES FIXTURES_REQUIRED sanitized_${name} TIMEOUT 600 FAIL_REGULAR_EXPRESSION
                                                    "SKIPPED|DISABLED TEST")
    odori_long_tests(${test}_${name})
  endforeach()
endfunction()

# odori_planted_faults(NAME): what shows that tests run so fail over a fault: a library of the same name that has faults, and
# a program that calls it, built as above.
function(odori_planted_faults name)
  set(folder ${PROJECT_BINARY_DIR}/sanitized/planted_${name})
  add_library(planted_${name} SHARED planted_fault.cpp)
  target_link_libraries(planted_${name} PRIVATE odori_${name}_sanitizer odori_warnings)
  set_target_properties(planted_${name} PROPERTIES OUTPUT_NAME odori LIBRARY_OUTPUT_DIRECTORY ${folder})
  add_executable(planted_${name}_program planted_fault_program.cpp)
  target_link_libraries(planted_${name}_program PRIVATE planted_${name} odori_warnings)
  if(name STREQUAL thread)
    target_link_libraries(planted_${name}_program PRIVATE odori_thread_sanitizer)
  endif()
  set_target_properties(planted_${name}_program PROPERTIES OUTPUT_NAME planted_fault_program
                                                           RUNTIME_OUTPUT_DIRECTORY ${folder})
endfunction()
