# SPDX-License-Identifier: Apache-2.0
# What learners edit has to build quickly: one precompiled odori.h for all training programs, and little optimisation. Some,
# since from exercise 03 on the blanks loop over all gradients.

# odori_training_program(TARGET SOURCE [EXERCISE]): a training program, named as its source, in build/bin/solutions or
# build/bin/exercises. An exercise's blanks leave variables unused. It is no part of `all`, so that a half-edited one
# stops nothing else; build the target `exercises` or the one of the program.
function(odori_training_program target source)
  cmake_parse_arguments(PROGRAM "EXERCISE" "" "" ${ARGN})
  odori_program(${target} ${source})
  # All of them: one recorded command stands for each program. Only a program that calls CUDA loads emulated GPUs, which would
  # be in the way of a plug-in for real ones.
  target_link_libraries(${target} PRIVATE odori_support -Wl,--as-needed odori_gpu_support odori_emulated_gpu -Wl,--no-as-needed)
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
  cmake_path(GET source PARENT_PATH of_exercise)
  cmake_path(GET of_exercise FILENAME of_exercise)
  odori_use_support_of(${target} ${of_exercise})
  if(ODORI_HAS_CUDA AND EXISTS ${PROJECT_SOURCE_DIR}/exercises/${of_exercise}/support/gpu)
    odori_program_for_gpus(${target} ${source} ${folder} ${name})
    odori_use_support_of(${target}_gpu ${of_exercise})
  endif()
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

# The support code of this exercise, if it has any, is included by the name of its header.
function(odori_use_support_of target exercise)
  if(EXISTS ${PROJECT_SOURCE_DIR}/exercises/${exercise}/support)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/exercises/${exercise}/support)
  endif()
endfunction()

# NAME_gpu: a training program that calls CUDA itself, against real GPUs.
function(odori_program_for_gpus target source folder name)
  odori_program(${target}_gpu ${source})
  target_link_libraries(${target}_gpu PRIVATE odori_support odori_gpu_support_cuda)
  target_compile_options(${target}_gpu PRIVATE -Wno-unused)
  set_target_properties(${target}_gpu PROPERTIES OUTPUT_NAME ${name}_gpu RUNTIME_OUTPUT_DIRECTORY
                                                                       ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${folder})
  set_target_properties(${target}_gpu PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(${target} ${target}_gpu)
endfunction()
