// SPDX-License-Identifier: Apache-2.0
#include "program/library.h"

#include <dlfcn.h>

namespace odori {

std::filesystem::path library_file() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&library_file), &here);
  return here.dli_fname;
}

}  // namespace odori
