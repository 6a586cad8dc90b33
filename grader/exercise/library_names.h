// Which names of a program are the library's, and which ones it has itself.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace odori::grader {

/// Those that the lines of a program declare; and what they call in classes with a base: it may be a member of the
/// base, which has no other name.
std::set<std::string> own_names(const std::vector<std::string>& program);

/// A word of some lines, by which they mean something of the library's or of C++'s own.
struct LibraryName {
  std::string name;
  std::size_t at = 0;  // where it begins in the lines, joined
};

/// In order: types, functions that are called, and what stands before "::" and nothing before it (`std`). `own`: what
/// the program has itself.
std::vector<LibraryName> names_of_library(const std::vector<std::string>& lines, const std::set<std::string>& own);

}  // namespace odori::grader
