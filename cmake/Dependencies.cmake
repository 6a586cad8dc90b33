# SPDX-License-Identifier: Apache-2.0
# What the kit stands on. MPI must be installed. What else is missing is built from source (sources.txt): from a folder that
# `./odori vendor FOLDER` has made (ODORI_VENDOR), from what FETCHCONTENT_SOURCE_DIR_<NAME in capitals> names, or downloaded.
include(FetchContent)
set(ODORI_VENDOR "" CACHE PATH "The sources of libraries, as ./odori vendor FOLDER collects them")

find_package(Threads REQUIRED)

find_package(MPI COMPONENTS CXX QUIET)
if(NOT MPI_CXX_FOUND OR NOT MPIEXEC_EXECUTABLE)
  message(FATAL_ERROR "MPI was not found. Debian: libopenmpi-dev openmpi-bin. Elsewhere: `module load openmpi`, or "
                      "./odori setup -DMPI_HOME=/path\n")
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

# odori_declare(NAME [ARGUMENT...]): for odori_provide(NAME). The arguments are FetchContent_Declare's.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/sources.txt)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/sources.txt sources REGEX "^[^#]")
macro(odori_declare name)
  set(line ${sources})
  list(FILTER line INCLUDE REGEX "^${name} ")
  string(REGEX MATCH "^([^ ]+) ([^ ]+) ([^ ]+)" _ "${line}")
  # SYSTEM comes first: after URL, CMake 3.25 reads it as a second URL.
  FetchContent_Declare(${name} SYSTEM URL https://github.com/${CMAKE_MATCH_2}/archive/${CMAKE_MATCH_3}.tar.gz ${ARGN})
  string(TOUPPER ${name} capitals)
  if(ODORI_VENDOR AND NOT FETCHCONTENT_SOURCE_DIR_${capitals})
    set(FETCHCONTENT_SOURCE_DIR_${capitals} ${ODORI_VENDOR}/${name})
  endif()
endmacro()
macro(odori_provide name)
  FetchContent_MakeAvailable(${name})
  string(TOLOWER ${name} lower)
  if(${lower}_SOURCE_DIR)
    message(STATUS "${name} is built from ${${lower}_SOURCE_DIR}")
  endif()
endmacro()
# odori_dependency(PACKAGE): a named source, else the installed package, else a download.
macro(odori_dependency package)
  odori_declare(${package} FIND_PACKAGE_ARGS CONFIG)
  odori_provide(${package})
endmacro()

set(INSTALL_GTEST OFF)
set(CLI11_BUILD_TESTS OFF)
set(CLI11_BUILD_EXAMPLES OFF)
set(JSON_BuildTests OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # a static fmt becomes a part of shared libraries
odori_dependency(fmt)
unset(CMAKE_POSITION_INDEPENDENT_CODE)
odori_dependency(CLI11)
odori_dependency(nlohmann_json)
# The grader stands on it too, so it is needed without the tests as well.
odori_dependency(GTest)

# oneDNN. Not by its own package file: Debian's asks for OpenCL's headers, which the kit has no use for.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
if(NOT ODORI_ONEDNN)
  message(STATUS "Without oneDNN: CPU devices compute with plain loops, many times slower")
elseif(DNNL_INCLUDE_DIR AND DNNL_LIBRARY AND NOT ODORI_VENDOR)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES
                                                                               ${DNNL_INCLUDE_DIR})
else()
  set(DNNL_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
  set(DNNL_BUILD_TESTS OFF CACHE BOOL "" FORCE)
  set(DNNL_ENABLE_PRIMITIVE "BATCH_NORMALIZATION;CONVOLUTION;ELTWISE;INNER_PRODUCT;MATMUL;POOLING;REORDER" CACHE STRING "" FORCE)
  odori_declare(dnnl)
  set(flags "${CMAKE_CXX_FLAGS}")
  set(CMAKE_CXX_FLAGS "${flags} -w") # its warnings are its authors'
  set(CMAKE_CXX_STANDARD 11)
  odori_provide(dnnl)
  set(CMAKE_CXX_FLAGS "${flags}")
  set(CMAKE_CXX_STANDARD 20)
  message(STATUS "This takes longer than the kit itself. oneDNN installed: Debian's libdnnl-dev, a module, or CMAKE_PREFIX_PATH. "
                 "Without it, slowly: -DODORI_ONEDNN=OFF")
  add_library(DNNL::dnnl ALIAS dnnl)
endif()

# zlib, of which only checksums (CRC-32) are used: one file of its source.
if(NOT ODORI_VENDOR)
  find_package(ZLIB QUIET)
endif()
if(NOT ZLIB_FOUND)
  odori_declare(zlib SOURCE_SUBDIR no_build_of_its_own)
  odori_provide(zlib)
  enable_language(C)
  add_library(odori_crc32 STATIC ${zlib_SOURCE_DIR}/crc32.c)
  set_target_properties(odori_crc32 PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(odori_crc32 SYSTEM PUBLIC ${zlib_SOURCE_DIR})
  add_library(ZLIB::ZLIB ALIAS odori_crc32)
endif()

# Templates of pages: a single header, which Debian keeps in a folder of its own.
find_path(MUSTACHE_INCLUDE_DIR mustache.hpp PATH_SUFFIXES kainjow)
if(FETCHCONTENT_SOURCE_DIR_MUSTACHE OR ODORI_VENDOR OR NOT MUSTACHE_INCLUDE_DIR)
  odori_declare(mustache SOURCE_SUBDIR no_build_of_its_own)
  odori_provide(mustache)
  set(MUSTACHE_INCLUDE_DIR ${mustache_SOURCE_DIR} CACHE PATH "" FORCE)
endif()
