# SPDX-License-Identifier: Apache-2.0
# Which exercises there are: a folder of solutions/ each (solutions/README.md). For each folder, in order:
#   ODORI_EXERCISES              01_multi_gpu
#   ODORI_PROGRAM_<folder>       train_cifar_multi_gpu, the name of its program and of that one's target
#   ODORI_NAME_<folder>          multi_gpu
file(GLOB ODORI_EXERCISES RELATIVE ${PROJECT_SOURCE_DIR}/solutions ${PROJECT_SOURCE_DIR}/solutions/*/exercise.json)
list(TRANSFORM ODORI_EXERCISES REPLACE "/exercise.json$" "")
foreach(folder IN LISTS ODORI_EXERCISES)
  string(REGEX REPLACE "^[0-9]+_" "" ODORI_NAME_${folder} ${folder})
  file(GLOB program ${PROJECT_SOURCE_DIR}/solutions/${folder}/*.cpp)
  cmake_path(GET program STEM ODORI_PROGRAM_${folder})
  list(APPEND ODORI_PROGRAMS ${ODORI_PROGRAM_${folder}})
endforeach()
# A folder that comes or goes changes the folder that it is in: then CMake has to look again.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/solutions
                                       ${PROJECT_SOURCE_DIR}/exercises)
