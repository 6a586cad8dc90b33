# SPDX-License-Identifier: Apache-2.0
# What learners edit has to build quickly: one precompiled odori.h for all training programs, and little optimisation. Some,
# since from exercise 03 on the blanks loop over all gradients.

# odori_training_program(TARGET SOURCE [EXERCISE]): a training program, named as its source, in build/bin/solutions or
# build/bin/exercises. An exercise's blanks leave variables unused. It is no part of `all`, so that a half-edited one
# stops nothing else; build the target `exercises` or the one of the program.
function(odori_training_program target source)
  cmake_parse_arguments(PROGRAM "EXERCISE" "" "" ${ARGN})
  odori_program(${target} ${source})
  target_link_libraries(${target} PRIVATE odori_support) # all of them: one recorded command stands for each program
  target_compile_options(${target} PRIVATE ${ODORI_QUICK})
  # A blank's index past the end, and its pointer that holds nothing, end the program there.
  target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  set(folder solutions)
  if(PROGRAM_EXERCISE)
    set(folder exercises)
    target_compile_options(${target} PRIVATE -Wno-unused)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  cmake_path(GET source STEM name)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                                 ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${folder})
  list(GET ODORI_PROGRAMS 0 first)
  list(GET ODORI_PROGRAMS 1 second)
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/lib/odori.h)
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
  # One for all: the grader compiles and links in the same way, elsewhere. The first target also compiles the header.
  if(target STREQUAL second)
    set_target_properties(${target} PROPERTIES BUILD_RPATH $<TARGET_FILE_DIR:odori>)
    foreach(step COMPILE LINK)
      string(TOLOWER ${step} name)
      set_target_properties(${target} PROPERTIES RULE_LAUNCH_${step}
        "\"${PROJECT_SOURCE_DIR}/cmake/record_command.sh\" \"${PROJECT_BINARY_DIR}/grader/${name}.command\"")
    endforeach()
  endif()
endfunction()
