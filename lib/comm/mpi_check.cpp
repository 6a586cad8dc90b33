// SPDX-License-Identifier: Apache-2.0
#include "comm/mpi_check.h"

#include <string>

#include "errors/error.h"

namespace odori {

void check_mpi(int code, const char* call, const char* file, int line) {
  if (code == MPI_SUCCESS) return;
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, words, &length);
  fail("MPI failed: {} (in {}, {}:{}).", std::string(words, static_cast<std::size_t>(length)), call, file, line);
}

}  // namespace odori
