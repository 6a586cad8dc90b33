// What a crash by a pointer may come from, as an answer's text shows it.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace odori::grader {

/// Pointers of an answer that may hold nothing: declared without a value, set to nullptr, or used again behind a
/// std::move.
std::set<std::string> empty_pointers_in(const std::vector<std::string>& text);

}  // namespace odori::grader
