# How the kit's own targets are declared: one warning set, one way to add a program or a test.

add_library(odori_warnings INTERFACE)
set(cxx_warnings -Wall -Wextra -Wpedantic -Wno-missing-field-initializers $<$<BOOL:${ODORI_WERROR}>:-Werror>)
# nvcc's own host code isn't pedantic.
set(cuda_warnings -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers
                  $<$<BOOL:${ODORI_WERROR}>:--Werror=all-warnings>)
target_compile_options(odori_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_warnings}>"
                                                "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>")

# odori_program(NAME source...): an executable on the training library, in build/bin.
function(odori_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE odori odori_warnings)
endfunction()

# odori_test(NAME [RANKS n...] [LIBRARIES target...] [TIMEOUT seconds] [ON_GPU]): NAME.cpp is a GoogleTest program. With
# RANKS it runs once for each number of MPI ranks, under mpirun, and its own main must be odori_mpi_test_main (see
# lib/tests). With ON_GPU it runs once more on GPUs, as NAME_gpu (see odori_gpu_test). A test case that is skipped or
# disabled counts as failed: skipped is not passed.
function(odori_test name)
  if(NOT ODORI_TESTS)
    return()
  endif()
  cmake_parse_arguments(TEST "ON_GPU" "TIMEOUT" "RANKS;LIBRARIES" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  add_executable(${name} ${name}.cpp)
  target_link_libraries(${name} PRIVATE odori odori_warnings ${TEST_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(TEST_RANKS)
    target_link_libraries(${name} PRIVATE odori_mpi_test_main)
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    set(TEST_RANKS alone)
  endif()
  foreach(ranks ${TEST_RANKS})
    set(entry ${name})
    set(command $<TARGET_FILE:${name}>)
    set(processors 1)
    if(NOT ranks STREQUAL alone)
      set(entry ${name}_${ranks}_ranks)
      set(command ${MPIEXEC_EXECUTABLE} --allow-run-as-root --oversubscribe --bind-to none -np ${ranks}
                  --mca mpi_yield_when_idle 1 ${command})
      set(processors ${ranks})
    endif()
    add_test(NAME ${entry} COMMAND ${command})
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${TEST_TIMEOUT} PROCESSORS ${processors} FAIL_REGULAR_EXPRESSION
                                             "SKIPPED|DISABLED TEST")
    if(TEST_ON_GPU)
      odori_gpu_test(${entry}_gpu 1 ${TEST_TIMEOUT} ${command})
    endif()
  endforeach()
endfunction()

# odori_gpu_test(NAME GPUS TIMEOUT COMMAND...): a test that takes at least so many GPUs; ctest skips it where there are
# fewer, and `./odori test` counts it. One at a time has the GPUs. It runs with ODORI_TEST_DEVICE=cuda.
function(odori_gpu_test name gpus timeout)
  add_test(NAME ${name} COMMAND on_gpu ${gpus} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS gpu RESOURCE_LOCK gpu SKIP_RETURN_CODE 77
                                          FAIL_REGULAR_EXPRESSION "SKIPPED|DISABLED TEST")
endfunction()
