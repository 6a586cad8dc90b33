// SPDX-License-Identifier: Apache-2.0
// Unfilled blanks of exercises: they compile everywhere, and stop the program when it reaches them.
#pragma once

#include <cstdlib>

namespace odori {

/// Throws Error with exit_code::unfilled, which names the blank, its question, file:line and the hint command.
[[noreturn]] void stop_at_blank(const char* file, int line);

/// The constructor stops the program. Converts to any type, so that an unfilled exercise compiles.
struct Blank {
  [[noreturn]] Blank(const char* file, int line) { stop_at_blank(file, line); }
  template <typename T>
  operator T() const {
    std::abort();  // never reached
  }
};

}  // namespace odori

/// Replace this by your own code.
#define PUT_YOUR_CODE (::odori::Blank{__FILE__, __LINE__})
