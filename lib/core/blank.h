// A blank of an exercise: it compiles everywhere, and stops the program where it is reached.
#pragma once

#include <utility>

namespace odori {

/// Throws an Unfilled error that names the blank, its question, file:line and the hint command.
[[noreturn]] void stop_at_blank(const char* file, int line);

/// Converts to whatever type the blank's variable has, so that an unfilled exercise compiles.
struct Blank {
  const char* file;
  int line;
  template <typename T>
  operator T() const {
    stop_at_blank(file, line);
  }
};

}  // namespace odori

/// Replace it by your own code.
#define PUT_YOUR_CODE (::odori::Blank{__FILE__, __LINE__})
