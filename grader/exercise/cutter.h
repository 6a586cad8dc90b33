// Makes an exercise out of a solution: what is inside a blank goes, its question and its variable's type stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace odori::grader {

/// `Type name = answer;` becomes `Type name = PUT_YOUR_CODE;`, `#PBS -l select=...` becomes `#PBS -l PUT_YOUR_CODE`,
/// and a line at the head says what to do. A file without blanks stays as it is. `path` is for messages and for the
/// language. Throws Error with path:line for a blank that can't be cut: its first statement declares no variable, or
/// declares it `auto`; and if a line of an answer also stands outside its blank.
std::string cut(std::string_view solution, const std::string& path);

/// The declaration of a statement, as in `const std::map<std::string, int> devices = {{"main", 0}};`: what stands
/// before `=` or `;`, in one line. Throws Error, beginning with `where`, if it isn't a declaration of a named type.
std::string declaration_of(const std::vector<std::string>& text, const std::string& where);

/// The first line at which two texts differ, as a sentence that shows both; empty if they are equal.
std::string first_difference(std::string_view expected, std::string_view found);

}  // namespace odori::grader
