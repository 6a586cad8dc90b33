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

# odori_test(NAME [RANKS n...] [LIBRARIES target...]): NAME.cpp is a GoogleTest program. With RANKS it runs once
# for each number of MPI ranks, under mpirun, and its own main must be odori_mpi_test_main (see lib/tests). A test that
# is skipped or disabled counts as failed: skipped is not passed.
function(odori_test name)
  if(NOT ODORI_TESTS)
    return()
  endif()
  cmake_parse_arguments(TEST "" "TIMEOUT" "RANKS;LIBRARIES" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  set(properties TIMEOUT ${TEST_TIMEOUT} FAIL_REGULAR_EXPRESSION "SKIPPED|DISABLED TEST")
  add_executable(${name} ${name}.cpp)
  target_link_libraries(${name} PRIVATE odori odori_warnings ${TEST_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(TEST_RANKS)
    target_link_libraries(${name} PRIVATE odori_mpi_test_main)
    foreach(ranks ${TEST_RANKS})
      add_test(NAME ${name}_${ranks}_ranks
               COMMAND ${MPIEXEC_EXECUTABLE} --allow-run-as-root --oversubscribe --bind-to none -np ${ranks}
                       --mca mpi_yield_when_idle 1 $<TARGET_FILE:${name}>)
      set_tests_properties(${name}_${ranks}_ranks PROPERTIES ${properties} PROCESSORS ${ranks})
    endforeach()
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
  endif()
endfunction()
