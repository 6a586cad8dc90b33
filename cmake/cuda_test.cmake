# SPDX-License-Identifier: Apache-2.0
# cmake -DKIT=folder -DSCRATCH=folder -DGENERATOR=Ninja -P cuda_test.cmake
#
# What Cuda.cmake finds, in trees of empty libraries and of headers that state a version: modules, NVIDIA's Python
# wheels, an old NCCL, nothing. The nvcc there compiles nothing, which has to be said too.
file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/project/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.25)\nproject(finding LANGUAGES NONE)\nset(CMAKE_SYSTEM_PREFIX_PATH \"\")\n"
     "if(DEFINED ENV{ODORI_TEST_CUDA})\n  set(ODORI_CUDA \$ENV{ODORI_TEST_CUDA})\nendif()\n"
     "include(${KIT}/cmake/Cuda.cmake)\n"
     "if(COMMAND odori_cuda_architectures)\n  odori_cuda_architectures(gpus)\nendif()\n"
     "message(STATUS \"architectures: \${gpus}\")\n")

function(script file text)
  file(WRITE ${file} "#!/bin/sh\n${text}\n")
  file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
function(toolkit folder version library_suffix)
  math(EXPR major "${version} / 1000")
  script(${folder}/bin/nvcc "printf 'sm_80\\nsm_90\\n'; exit 1")
  file(WRITE ${folder}/include/cuda_runtime_api.h "#define CUDART_VERSION  ${version}\n")
  file(WRITE ${folder}/include/cublas_api.h "#define CUBLAS_VER_MAJOR ${major}\n#define CUBLAS_VER_MINOR 1\n")
  file(WRITE ${folder}/lib/libcudart.so${library_suffix} "")
  file(WRITE ${folder}/lib/libcublas.so${library_suffix} "")
endfunction()
function(library folder name capitals major minor suffix)
  set(header ${name})
  if(name STREQUAL cudnn)
    set(header cudnn_version)
  endif()
  file(WRITE ${folder}/include/${header}.h "#define ${capitals}_MAJOR ${major}\n#define ${capitals}_MINOR ${minor}\n")
  file(WRITE ${folder}/lib/lib${name}.so${suffix} "")
endfunction()

# A machine on which only these programs are.
find_program(maker NAMES ninja make gmake)
find_program(shell sh)
file(MAKE_DIRECTORY ${SCRATCH}/bin ${SCRATCH}/empty)
foreach(program ${maker} ${shell})
  cmake_path(GET program FILENAME name)
  file(CREATE_LINK ${program} ${SCRATCH}/bin/${name} SYMBOLIC)
endforeach()

# expect(NAME CODE "VARIABLE=value;..." PART...): configuring in this environment ends so, and says all of these parts.
set(failures 0)
function(expect name code environment)
  execute_process(
    COMMAND env -i PATH=${SCRATCH}/bin ${environment} ${CMAKE_COMMAND} -G ${GENERATOR} -S
            ${SCRATCH}/project -B ${SCRATCH}/build_${name}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n;]+" " " words "${output}")
  foreach(part ${ARGN})
    string(FIND "${words}" "${part}" at)
    if(at LESS 0 OR NOT result EQUAL code)
      message("${name}: expected exit code ${code} and '${part}'; it ended with ${result} and said:\n${output}")
      math(EXPR failures "${failures} + 1")
      set(failures ${failures} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

set(nothing CUDAToolkit_ROOT=${SCRATCH}/empty CUDNN_ROOT=${SCRATCH}/empty NCCL_ROOT=${SCRATCH}/empty)
expect(nothing 0 "${nothing}" "Built without the CUDA backend. Missing: CUDA 12 or 13 (there is no nvcc"
       "cuDNN 9 (not found: CUDNN_ROOT=" "NCCL 2.18 or later (not found: NCCL_ROOT=")
expect(asked_for 1 "${nothing};ODORI_TEST_CUDA=ON" "ODORI_CUDA=ON, but for the CUDA backend these are missing: CUDA 12")
expect(not_asked_for 0 "${nothing};ODORI_TEST_CUDA=OFF" "architectures:")
expect(misspelt 1 "ODORI_TEST_CUDA=maybe" "ODORI_CUDA is AUTO, ON or OFF, not 'maybe'.")

# Modules: the toolkit in PATH, libraries through LD_LIBRARY_PATH and a ROOT; an older cuDNN comes first.
toolkit(${SCRATCH}/cuda 12040 "")
library(${SCRATCH}/cudnn8 cudnn CUDNN 8 9 "")
library(${SCRATCH}/cudnn9 cudnn CUDNN 9 4 "")
library(${SCRATCH}/nccl nccl NCCL 2 18 "")
set(modules PATH=${SCRATCH}/cuda/bin:${SCRATCH}/bin LD_LIBRARY_PATH=${SCRATCH}/cudnn8/lib:${SCRATCH}/cudnn9/lib/)
expect(modules 0 "${modules};NCCL_ROOT=${SCRATCH}/nccl" "CUDA 12 or 13: 12.4, ${SCRATCH}/cuda/lib/libcudart.so"
       "cuBLAS 12: 12.1" "cuDNN 9: 9.4, ${SCRATCH}/cudnn9/lib/libcudnn.so" "2.18, ${SCRATCH}/nccl/lib/libnccl.so"
       "Missing: an nvcc that works (${SCRATCH}/cuda/bin/nvcc with" "architectures: 80-real 90")

# What is too old, or has a header alone, is named; a ROOT that lacks the library isn't passed over.
library(${SCRATCH}/nccl_old nccl NCCL 2 16 "")
file(REMOVE ${SCRATCH}/cudnn8/lib/libcudnn.so)
expect(old_nccl 0 "${modules};NCCL_ROOT=${SCRATCH}/nccl_old"
       "Missing: NCCL 2.18 or later (2.16 is in ${SCRATCH}/nccl_old: NCCL_ROOT=/path names another place)")
file(WRITE ${SCRATCH}/cudnn8/include/cudnn_version.h "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 0\n")
expect(header_alone 0 "${modules};CUDNN_ROOT=${SCRATCH}/cudnn8" "cuDNN 9 (${SCRATCH}/cudnn8 has its header alone:")
toolkit(${SCRATCH}/cuda_old 11080 "")
expect(old_toolkit 0 "PATH=${SCRATCH}/cuda_old/bin:${SCRATCH}/bin" "CUDA 12 or 13 (11.8 is in ${SCRATCH}/cuda_old:")

# Python's wheels, with versioned names alone, of the python3 in PATH. Two GPUs of two kinds, and one unknown to nvcc.
set(wheels ${SCRATCH}/site-packages/nvidia)
toolkit(${wheels}/cu13 13000 .13)
library(${wheels}/cudnn cudnn CUDNN 9 19 .9)
library(${wheels}/nccl nccl NCCL 2 28 .2)
script(${SCRATCH}/python/python3 "echo ${wheels}")
script(${SCRATCH}/python/nvidia-smi "printf '9.0\\n8.0\\n9.0\\n12.0\\n'")
expect(wheels 0 "PATH=${SCRATCH}/python:${SCRATCH}/bin" "CUDA 12 or 13: 13.0, ${wheels}/cu13/lib/libcudart.so.13"
       "cuBLAS 13: 13.1, ${wheels}/cu13/lib/libcublas.so.13" "cuDNN 9: 9.19, ${wheels}/cudnn/lib/libcudnn.so.9"
       "2.28, ${wheels}/nccl/lib/libnccl.so.2" "architectures: 90-real 80-real")

if(failures)
  message(FATAL_ERROR "${failures} findings went wrong; see above.")
endif()
