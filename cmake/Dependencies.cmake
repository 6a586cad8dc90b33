# What the kit stands on. MPI and oneDNN must be there; the others come through FetchContent where they aren't.
include(FetchContent)
set(missing "")

find_package(Threads REQUIRED)

find_package(MPI COMPONENTS CXX QUIET)
if(NOT MPI_CXX_FOUND)
  list(APPEND missing "MPI (Debian: libopenmpi-dev openmpi-bin; a site: `module load openmpi`, or -DMPI_HOME=...)")
endif()

find_package(dnnl CONFIG QUIET)
if(NOT dnnl_FOUND)
  list(APPEND missing "oneDNN (Debian: libdnnl-dev; a site: its module, or -DCMAKE_PREFIX_PATH=/path/to/onednn)")
endif()

if(missing)
  list(JOIN missing "\n  " missing)
  message(FATAL_ERROR "These are needed and were not found:\n  ${missing}\n")
endif()

# odori_dependency(PACKAGE TARGET REPOSITORY COMMIT): the installed package, else its source at a pinned commit.
# FETCHCONTENT_SOURCE_DIR_<PACKAGE in capitals>=/path takes a copy that is there already.
macro(odori_dependency package target repository commit)
  find_package(${package} CONFIG QUIET)
  if(NOT TARGET ${target})
    message(STATUS "${package} isn't installed: fetching ${repository} at ${commit}")
    FetchContent_Declare(${package} GIT_REPOSITORY https://github.com/${repository} GIT_TAG ${commit})
    FetchContent_MakeAvailable(${package})
  endif()
endmacro()

set(INSTALL_GTEST OFF)
set(CLI11_BUILD_TESTS OFF)
set(CLI11_BUILD_EXAMPLES OFF)
set(JSON_BuildTests OFF)
odori_dependency(fmt fmt::fmt fmtlib/fmt a33701196adfad74917046096bf5a2aa0ab0bb50) # 9.1.0
odori_dependency(CLI11 CLI11::CLI11 CLIUtils/CLI11 985a19f3860be0cba87354336f6588494b20111c) # 2.1.2
odori_dependency(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json bc889afb4c5bf1c0d8ee29ef35eaaf4c8bef8a5d) # 3.11.2
if(ODORI_TESTS)
  odori_dependency(GTest GTest::gtest_main google/googletest 58d77fa8070e8cec2dc1ed015d66b454c8d78850) # 1.12.1
endif()
