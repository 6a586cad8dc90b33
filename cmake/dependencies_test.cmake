# SPDX-License-Identifier: Apache-2.0
# cmake -DKIT=folder -DSCRATCH=folder -DGENERATOR=Ninja -P dependencies_test.cmake
#
# Configures the kit with sources named by FETCHCONTENT_SOURCE_DIR_*, which must come before what is installed, and
# without MPI, which must be named as missing. The sources are stand-ins: nothing is built.
file(REMOVE_RECURSE ${SCRATCH})
set(options -DFETCHCONTENT_FULLY_DISCONNECTED=ON -DODORI_CUDA=OFF)
foreach(dependency fmt=fmt::fmt CLI11=CLI11::CLI11 nlohmann_json=nlohmann_json::nlohmann_json
                   GTest=GTest::gtest+GTest::gtest_main)
  string(REGEX MATCH "^([^=]+)=(.+)$" _ ${dependency})
  set(name ${CMAKE_MATCH_1})
  string(REPLACE "+" " " targets ${CMAKE_MATCH_2})
  string(TOUPPER ${name} capitals)
  file(WRITE ${SCRATCH}/${name}/CMakeLists.txt
       "foreach(target ${targets})\n  string(REPLACE :: _ plain \${target})\n  add_library(\${plain} INTERFACE)\n"
       "  add_library(\${target} ALIAS \${plain})\nendforeach()\n")
  list(APPEND options -DFETCHCONTENT_SOURCE_DIR_${capitals}=${SCRATCH}/${name})
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${KIT} -B ${SCRATCH}/build ${options} RESULT_VARIABLE result
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "Configuring with named sources failed:\n${output}")
endif()
foreach(name fmt CLI11 nlohmann_json GTest)
  if(NOT output MATCHES "${name} is built from ${SCRATCH}/${name}\n")
    message(FATAL_ERROR "${name} did not come from the source that was named:\n${output}")
  endif()
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${KIT} -B ${SCRATCH}/build_without_mpi -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "were not found:[\n ]*MPI \\(Debian: libopenmpi-dev openmpi-bin")
  message(FATAL_ERROR "Without MPI, configuring should stop and name it:\n${output}")
endif()
