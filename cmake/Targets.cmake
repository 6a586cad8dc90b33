# SPDX-License-Identifier: Apache-2.0
# How the kit's own targets are declared: one warning set, one way to add a program or a test.

add_library(odori_warnings INTERFACE)
set(cxx_warnings -Wall -Wextra -Wpedantic -Wno-missing-field-initializers $<$<BOOL:${ODORI_WERROR}>:-Werror>)
# nvcc's own host code isn't pedantic.
set(cuda_warnings -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers
                  $<$<BOOL:${ODORI_WERROR}>:--Werror=all-warnings>)
target_compile_options(odori_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_warnings}>"
                                                "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>")

# For what computes nothing itself, but lets the library: optimising it less takes a third off the time of the build.
set(ODORI_QUICK "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>")
set(ODORI_QUICKEST "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O0>") # tests: it takes longer to compile them than to run them

# odori_compile_together(TARGET n): n of its sources at a time, since most of the time goes to the headers that they share.
function(odori_compile_together target n)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ODORI_UNITY} UNITY_BUILD_BATCH_SIZE ${n})
endfunction()

# odori_compile_by_folder(TARGET): its sources of one folder at a time. Two folders may use the same local names. To be called
# after all target_sources().
function(odori_compile_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ODORI_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endfunction()

# How ranks are started here, as words and for a shell: lib/comm/mpirun.sh says why by a script.
set(ODORI_MPIRUN ${PROJECT_SOURCE_DIR}/lib/comm/mpirun.sh ${MPIEXEC_EXECUTABLE})
list(TRANSFORM ODORI_MPIRUN REPLACE "(.+)" "'\\1'" OUTPUT_VARIABLE ODORI_MPIRUN_IN_SHELL)
list(JOIN ODORI_MPIRUN_IN_SHELL " " ODORI_MPIRUN_IN_SHELL)

# odori_shared_library(NAME source...): a shared library in build/library, which has nothing else: sandboxes show it as a
# whole. What it uses, it has or links; what it calls of its own, nobody puts something else in the place of.
function(odori_shared_library name)
  add_library(${name} SHARED ${ARGN})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/library)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
  target_link_options(${name} PRIVATE -Wl,--no-undefined -Wl,-Bsymbolic-functions)
endfunction()

# odori_program(NAME source...): an executable on the training library, and on the plug-in that this loads, in build/bin. Outside
# the folders tests and bench it is one that commands of ./odori run.
function(odori_program name)
  add_executable(${name} ${ARGN})
  if(NOT TEST_SOURCE AND NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/(tests|bench)$")
    set_property(GLOBAL APPEND PROPERTY ODORI_COMMANDS ${name})
  endif()
  target_link_libraries(${name} PRIVATE odori odori_warnings)
  target_compile_options(${name} PRIVATE ${ODORI_QUICK})
  if(ODORI_HAS_CUDA)
    add_dependencies(${name} odori_cuda)
  endif()
endfunction()

# odori_test(NAME [SOURCE file] [RANKS n...] [LIBRARIES target...] [TIMEOUT seconds] [AT_ONCE n] [ON_GPU] [CPU_BF16]
# [EMULATED_GPUS n] [EMULATED_RANKS n...] [NOT_ON_CPU] [OWN_OPTIONS]): NAME.cpp, or SOURCE, is a GoogleTest program. With
# RANKS it runs once for each number of MPI ranks, under mpirun, and its own main must be odori_mpi_test_main (see lib/tests).
# With AT_ONCE n of its cases run at a time, since they mostly wait. With ON_GPU it runs once more on GPUs, as NAME_gpu (see
# odori_gpu_test), with CPU_BF16 on CPU devices in bf16, as NAME_cpu_bf16, which ctest skips where there are none, with
# EMULATED_GPUS on a machine with so many emulated ones, as NAME_emulated, and with EMULATED_RANKS on these numbers of ranks
# alone (emulated GPUs are slow where ranks outnumber cores); NOT_ON_CPU leaves out all but these. OWN_OPTIONS says that it is
# compiled by options that other tests aren't, and optimised as programs are: what computes much itself. A test case that is
# skipped or disabled counts as failed: skipped is not passed.
function(odori_test name)
  if(NOT ODORI_TESTS)
    return()
  endif()
  cmake_parse_arguments(TEST "ON_GPU;CPU_BF16;NOT_ON_CPU;OWN_OPTIONS" "SOURCE;TIMEOUT;AT_ONCE;EMULATED_GPUS" "RANKS;EMULATED_RANKS;LIBRARIES" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300) # a machine can be ten times as busy as one thinks
  endif()
  if(NOT TEST_SOURCE)
    set(TEST_SOURCE ${name}.cpp)
  endif()
  if(NOT TEST_NOT_ON_CPU OR ODORI_HAS_CUDA)
    odori_test_program(${name} ${TEST_SOURCE})
    odori_test_entries(${name} ${name})
  endif()
  if(TEST_EMULATED_GPUS)
    set(program ${name}) # which knows nothing of CUDA, and loads the plug-in that it is told
    if(TEST_NOT_ON_CPU)
      set(program ${name}_emulated)
      odori_test_program(${program} ${TEST_SOURCE})
      target_link_libraries(${program} PRIVATE odori_emulated_gpu)
    endif()
    add_dependencies(${program} odori_emulated_gpu)
    if(TEST_EMULATED_RANKS)
      set(TEST_RANKS ${TEST_EMULATED_RANKS})
    endif()
    odori_test_entries(${name}_emulated ${program} ODORI_TEST_DEVICE=cuda ODORI_EMULATED_GPUS=${TEST_EMULATED_GPUS}
                       ODORI_GPU_PLUGIN=$<TARGET_FILE:odori_emulated_gpu>)
  endif()
endfunction()

# For odori_test: an executable. Most of a test's compile time would go to the headers that all of them include, so these are
# parsed once; not so where a test is compiled by options of its own.
function(odori_test_program program source)
  if(NOT TARGET odori_test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/tests/headers.cpp "")
    add_library(odori_test_headers OBJECT ${PROJECT_BINARY_DIR}/tests/headers.cpp)
    target_link_libraries(odori_test_headers PRIVATE odori_warnings GTest::gtest fmt::fmt)
    target_compile_options(odori_test_headers PRIVATE ${ODORI_QUICKEST})
    target_precompile_headers(odori_test_headers PRIVATE <gtest/gtest.h> <fmt/format.h> <algorithm> <filesystem> <fstream>
                                                         <functional>)
  endif()
  odori_program(${program} ${source})
  target_link_libraries(${program} PRIVATE ${TEST_LIBRARIES})
  odori_compile_together(${program} 8)
  if(NOT TEST_OWN_OPTIONS)
    target_compile_options(${program} PRIVATE ${ODORI_QUICKEST})
    target_precompile_headers(${program} REUSE_FROM odori_test_headers)
    # GCC 12 takes what it inlines from such a header for the program's own, and warns of std::string.
    target_compile_options(${program} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-restrict>")
  endif()
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(TEST_RANKS)
    target_link_libraries(${program} PRIVATE odori_mpi_test_main)
  else()
    target_link_libraries(${program} PRIVATE odori_test_main)
  endif()
endfunction()

# For odori_test: what ctest runs of the program, by this name, in this environment.
function(odori_test_entries test program)
  if(NOT TEST_RANKS)
    set(TEST_RANKS alone)
  endif()
  foreach(ranks ${TEST_RANKS})
    set(entry ${test})
    set(command $<TARGET_FILE:${program}>)
    if(TEST_AT_ONCE)
      set(command bash ${PROJECT_SOURCE_DIR}/lib/tests/at_once.sh ${TEST_AT_ONCE} ${command})
    endif()
    set(processors 1)
    if(NOT ranks STREQUAL alone)
      set(entry ${test}_${ranks}_ranks)
      set(command ${ODORI_MPIRUN} --allow-run-as-root --oversubscribe --bind-to none -np ${ranks}
                  --mca mpi_yield_when_idle 1 ${command})
      set(processors ${ranks})
    endif()
    if(NOT TEST_NOT_ON_CPU OR test STREQUAL ${name}_emulated)
      add_test(NAME ${entry} COMMAND ${command})
      odori_test_targets(${entry} ${program})
      set_tests_properties(${entry} PROPERTIES TIMEOUT ${TEST_TIMEOUT} PROCESSORS ${processors} FAIL_REGULAR_EXPRESSION
                                               "SKIPPED|DISABLED TEST" ENVIRONMENT "${ARGN}")
      if(ARGN) # CUDA_VISIBLE_DEVICES selects emulated GPUs as well
        set_property(TEST ${entry} PROPERTY ENVIRONMENT_MODIFICATION CUDA_VISIBLE_DEVICES=unset:)
      endif()
    endif()
    if(TEST_CPU_BF16 AND test STREQUAL name)
      add_test(NAME ${entry}_cpu_bf16 COMMAND on_device bf16 ${command})
      odori_test_targets(${entry}_cpu_bf16 ${program} on_device)
      set_tests_properties(${entry}_cpu_bf16 PROPERTIES TIMEOUT ${TEST_TIMEOUT} SKIP_RETURN_CODE 77
                                                        FAIL_REGULAR_EXPRESSION "SKIPPED|DISABLED TEST")
    endif()
    if(TEST_ON_GPU AND test STREQUAL name)
      odori_gpu_test(${entry}_gpu 1 ${TEST_TIMEOUT} ${command})
      odori_test_targets(${entry}_gpu ${program} on_device)
      set_property(GLOBAL APPEND PROPERTY ODORI_GPU_TEST_PROGRAMS ${program})
    endif()
  endforeach()
endfunction()

# odori_test_targets(TEST target...): all that has to be built before this test runs; no target for a script that uses nothing
# built, and `all` for one that uses most of the kit. odori_test declares its tests.
function(odori_test_targets test)
  list(JOIN ARGN " " targets)
  set_property(GLOBAL APPEND PROPERTY ODORI_DECLARED_TESTS ${test})
  set_property(GLOBAL APPEND_STRING PROPERTY ODORI_TEST_TARGETS "${test} ${targets}\n")
endfunction()

# odori_long_tests(TEST...): `./odori test` leaves these tests, declared above in the same folder, to `./odori test --all`.
# CONTRIBUTING.md gives the rule.
function(odori_long_tests)
  if(NOT ODORI_TESTS)
    return()
  endif()
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS long)
endfunction()

# Writes what tests need into build/test_targets, one test per line, for the driver. Fails for a test that does not declare it.
function(odori_write_test_targets)
  get_property(lines GLOBAL PROPERTY ODORI_TEST_TARGETS)
  file(WRITE ${PROJECT_BINARY_DIR}/test_targets "${lines}")
  get_property(declared GLOBAL PROPERTY ODORI_DECLARED_TESTS)
  set(folders ${PROJECT_SOURCE_DIR})
  while(folders)
    list(POP_FRONT folders folder)
    get_property(tests DIRECTORY ${folder} PROPERTY TESTS)
    list(REMOVE_ITEM tests ${declared})
    if(tests)
      message(FATAL_ERROR "These tests of ${folder} do not declare what has to be built before they run: ${tests}. Add "
                          "odori_test_targets(TEST target...) after each add_test (cmake/Targets.cmake).")
    endif()
    get_property(inner DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    list(APPEND folders ${inner})
  endwhile()
endfunction()

# odori_commands is all that commands of ./odori run: everything but tests, and what is built on demand.
function(odori_declare_commands)
  get_property(programs GLOBAL PROPERTY ODORI_COMMANDS)
  foreach(program ${programs})
    get_target_property(on_demand ${program} EXCLUDE_FROM_ALL)
    if(on_demand)
      list(REMOVE_ITEM programs ${program})
    endif()
  endforeach()
  add_custom_target(odori_commands DEPENDS ${programs})
endfunction()

# odori_gpu_test(NAME GPUS TIMEOUT COMMAND...): a test that takes at least so many GPUs; ctest skips it where there are
# fewer, and `./odori test` counts it. One at a time has the GPUs. It runs with ODORI_TEST_DEVICE=cuda.
function(odori_gpu_test name gpus timeout)
  add_test(NAME ${name} COMMAND on_device ${gpus} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS gpu RESOURCE_LOCK gpu SKIP_RETURN_CODE 77
                                          FAIL_REGULAR_EXPRESSION "SKIPPED|DISABLED TEST")
endfunction()

# odori_on_demand(TARGET program...): these programs are no part of `all`. TARGET builds them, and tests that run them require the
# fixture of this name. They are long: this build is.
function(odori_on_demand target)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  if(NOT TARGET ${target})
    add_custom_target(${target})
    odori_build_test(${target})
    odori_long_tests(build_${target})
  endif()
  add_dependencies(${target} ${ARGN})
endfunction()

# odori_build_test(TARGET): a test that builds it, as the fixture TARGET of those that need it: what nothing else needs is built
# when the tests run.
function(odori_build_test target)
  if(NOT ODORI_TESTS)
    return()
  endif()
  add_test(NAME build_${target}
           COMMAND bash -c ". \"$0\" && lock_build \"$1\" && exec \"\${@:2}\"" ${PROJECT_SOURCE_DIR}/cmake/build_folder.sh
                   ${PROJECT_BINARY_DIR} ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${target})
  odori_test_targets(build_${target})
  set_tests_properties(build_${target} PROPERTIES FIXTURES_SETUP ${target} RESOURCE_LOCK build TIMEOUT 600)
endfunction()
