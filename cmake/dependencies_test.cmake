# SPDX-License-Identifier: Apache-2.0
# cmake -DKIT=folder -DSCRATCH=folder -DGENERATOR=Ninja -P dependencies_test.cmake
#
# Collects the sources of all libraries from a mirror and configures the kit with them, which must come before what is
# installed; and without MPI, which must be named as missing. The sources are stand-ins: nothing is built.
file(REMOVE_RECURSE ${SCRATCH})
set(targets_of_CLI11 CLI11::CLI11)
set(targets_of_GTest GTest::gtest GTest::gtest_main)
set(targets_of_dnnl dnnl)
set(targets_of_fmt fmt::fmt)
set(targets_of_nlohmann_json nlohmann_json::nlohmann_json)
file(STRINGS ${KIT}/cmake/sources.txt sources REGEX "^[^#]")
foreach(line IN LISTS sources)
  string(REGEX MATCH "^([^ ]+) ([^ ]+) ([^ ]+)" _ "${line}")
  set(name ${CMAKE_MATCH_1})
  set(archive ${SCRATCH}/mirror/${CMAKE_MATCH_2}/archive/${CMAKE_MATCH_3}.tar.gz)
  list(APPEND names ${name})
  string(REPLACE ";" " " targets "${targets_of_${name}}")
  file(WRITE ${SCRATCH}/stand_ins/${name}/inner/crc32.c "")
  file(WRITE ${SCRATCH}/stand_ins/${name}/inner/CMakeLists.txt
       "foreach(target ${targets})\n  string(REPLACE :: _ plain \${target})\n  add_library(\${plain} INTERFACE)\n"
       "  if(NOT TARGET \${target})\n    add_library(\${target} ALIAS \${plain})\n  endif()\nendforeach()\n")
  cmake_path(GET archive PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${CMAKE_COMMAND} -E chdir ${SCRATCH}/stand_ins/${name} ${CMAKE_COMMAND} -E tar czf ${archive} inner)
endforeach()

set(collect ${CMAKE_COMMAND} -DFOLDER=${SCRATCH}/vendor -DMIRROR=file://${SCRATCH}/mirror -P ${KIT}/cmake/collect_sources.cmake)
execute_process(COMMAND ${collect} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "Collecting the sources failed:\n${output}")
endif()
# The second time nothing is downloaded.
file(RENAME ${SCRATCH}/mirror ${SCRATCH}/no_mirror)
execute_process(COMMAND ${collect} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "Collecting what is there should download nothing:\n${output}")
endif()
file(REMOVE ${SCRATCH}/vendor/fmt/odori_commit)
execute_process(COMMAND ${collect} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "fmt could not be downloaded from")
  message(FATAL_ERROR "A source that cannot be downloaded should be named:\n${output}")
endif()
file(RENAME ${SCRATCH}/no_mirror ${SCRATCH}/mirror)
execute_process(COMMAND ${collect} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${KIT} -B ${SCRATCH}/build -DFETCHCONTENT_FULLY_DISCONNECTED=ON
                        -DODORI_CUDA=OFF -DODORI_TESTS=OFF -DODORI_VENDOR=${SCRATCH}/vendor
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "Configuring with collected sources failed:\n${output}")
endif()
foreach(name IN LISTS names)
  if(NOT output MATCHES "${name} is built from ${SCRATCH}/vendor/${name}\n")
    message(FATAL_ERROR "${name} did not come from the folder that was named:\n${output}")
  endif()
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${KIT} -B ${SCRATCH}/build -DODORI_ONEDNN=OFF
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0 OR NOT output MATCHES "Without oneDNN" OR output MATCHES "dnnl is built")
  message(FATAL_ERROR "Without oneDNN, none should be built:\n${output}")
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${KIT} -B ${SCRATCH}/build_without_mpi -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "MPI was not found. +Debian: libopenmpi-dev openmpi-bin")
  message(FATAL_ERROR "Without MPI, configuring should stop and name it:\n${output}")
endif()
