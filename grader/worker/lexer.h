// As much of C++'s grammar as tells whether a blank's text can stand beside others in one source file.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace odori::grader {

/// Every identifier and number, those in comments and strings left out.
std::set<std::string> words_in(const std::vector<std::string>& text);

/// Brackets, quotes and comments are closed within the text, in order, and it holds no directive (#include, #define)
/// and no line that goes on in the next: whatever is wrong with it, what stands behind it is read as if it weren't.
bool is_self_contained(const std::vector<std::string>& text);

}  // namespace odori::grader
