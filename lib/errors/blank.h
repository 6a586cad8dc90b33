// SPDX-License-Identifier: Apache-2.0
// A blank of an exercise: it compiles everywhere, and stops the program where it is reached.
#pragma once

#include <cstdlib>

namespace odori {

/// Throws an Unfilled error that names the blank, its question, file:line and the hint command.
[[noreturn]] void stop_at_blank(const char* file, int line);

/// Stops the program as soon as there is one. Converts to whatever type the blank's variable has, or the function
/// returns, so that an unfilled exercise compiles; as a statement it is used alone.
struct Blank {
  [[noreturn]] Blank(const char* file, int line) { stop_at_blank(file, line); }
  template <typename T>
  operator T() const {
    std::abort();  // nothing comes to it
  }
};

}  // namespace odori

/// Replace it by your own code.
#define PUT_YOUR_CODE (::odori::Blank{__FILE__, __LINE__})
