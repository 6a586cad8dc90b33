# SPDX-License-Identifier: Apache-2.0
# What the kit stands on. MPI and oneDNN must be there; the others come through FetchContent where they aren't.
include(FetchContent)
set(missing "")

find_package(Threads REQUIRED)

find_package(MPI COMPONENTS CXX QUIET)
if(NOT MPI_CXX_FOUND OR NOT MPIEXEC_EXECUTABLE)
  list(APPEND missing "MPI (Debian: libopenmpi-dev openmpi-bin. Elsewhere: `module load openmpi`, or -DMPI_HOME=/path)")
endif()

# Not by oneDNN's own package file: Debian's asks for OpenCL's headers, which the kit has no use for.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
if(DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES
                                                                               ${DNNL_INCLUDE_DIR})
else()
  list(APPEND missing "oneDNN (Debian: libdnnl-dev. Elsewhere: its module, or -DCMAKE_PREFIX_PATH=/path/to/onednn)")
endif()

find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  list(APPEND missing "zlib (Debian: zlib1g-dev. Elsewhere: -DZLIB_ROOT=/path/to/zlib)")
endif()

if(missing)
  list(JOIN missing "\n  " missing)
  message(FATAL_ERROR "These are needed and were not found:\n  ${missing}\n")
endif()

# ./odori grade reads archives, names contents by SHA-256, and tells which names a file system takes for one. Nothing else
# needs these.
set(ODORI_MISSING_FOR_CLASSROOM "")
if(ODORI_GRADER)
  find_package(LibArchive QUIET)
  if(NOT LibArchive_FOUND)
    list(APPEND ODORI_MISSING_FOR_CLASSROOM
         "libarchive (Debian: libarchive-dev. Elsewhere: -DCMAKE_PREFIX_PATH=/path/to/libarchive)")
  endif()
  find_package(OpenSSL QUIET COMPONENTS Crypto)
  if(NOT OPENSSL_FOUND)
    list(APPEND ODORI_MISSING_FOR_CLASSROOM
         "OpenSSL's libcrypto (Debian: libssl-dev. Elsewhere: -DOPENSSL_ROOT_DIR=/path/to/openssl)")
  endif()
  find_package(ICU QUIET COMPONENTS uc)
  if(NOT ICU_FOUND)
    list(APPEND ODORI_MISSING_FOR_CLASSROOM "ICU (Debian: libicu-dev. Elsewhere: -DICU_ROOT=/path/to/icu)")
  endif()
endif()

# odori_dependency(PACKAGE REPOSITORY COMMIT): a copy that FETCHCONTENT_SOURCE_DIR_<PACKAGE in capitals>=/path names,
# else the installed package, else its source at a pinned commit.
macro(odori_dependency package repository commit)
  FetchContent_Declare(
    ${package}
    URL https://github.com/${repository}/archive/${commit}.tar.gz
    SYSTEM
    FIND_PACKAGE_ARGS CONFIG)
  FetchContent_MakeAvailable(${package})
  string(TOLOWER ${package} lower)
  if(${lower}_SOURCE_DIR)
    message(STATUS "${package} is built from ${${lower}_SOURCE_DIR}")
  endif()
endmacro()

set(INSTALL_GTEST OFF)
set(CLI11_BUILD_TESTS OFF)
set(CLI11_BUILD_EXAMPLES OFF)
set(JSON_BuildTests OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # a static fmt becomes a part of shared libraries
odori_dependency(fmt fmtlib/fmt a33701196adfad74917046096bf5a2aa0ab0bb50) # 9.1.0
unset(CMAKE_POSITION_INDEPENDENT_CODE)
odori_dependency(CLI11 CLIUtils/CLI11 70f8072f9dd2292fd0b9f9e5f58e279f60483ed3) # 2.1.2
odori_dependency(nlohmann_json nlohmann/json bc889afb4c5bf1c0d8ee29ef35eaaf4c8bef8a5d) # 3.11.2
# The grader stands on it too, so it is needed without the tests as well.
odori_dependency(GTest google/googletest 58d77fa8070e8cec2dc1ed015d66b454c8d78850) # 1.12.1

# Templates of pages: a single header, which Debian keeps in a folder of its own.
find_path(MUSTACHE_INCLUDE_DIR mustache.hpp PATH_SUFFIXES kainjow)
if(FETCHCONTENT_SOURCE_DIR_MUSTACHE OR NOT MUSTACHE_INCLUDE_DIR)
  FetchContent_Declare(
    mustache
    URL https://github.com/kainjow/Mustache/archive/c66fdd87f01f0b2d1ba704192f27355b77746a5b.tar.gz # 4.1
    SOURCE_SUBDIR no_build_of_its_own)
  FetchContent_MakeAvailable(mustache)
  set(MUSTACHE_INCLUDE_DIR ${mustache_SOURCE_DIR} CACHE PATH "" FORCE)
endif()
