// SPDX-License-Identifier: Apache-2.0
// Makes an exercise out of a solution: removes what is inside a blank, keeps its question and its variable's type.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/blanks.h"

namespace odori::grader {

/// `Type name = answer;` becomes `Type name = PUT_YOUR_CODE;`, if something outside of the blank uses that variable;
/// `return answer;` becomes `return PUT_YOUR_CODE;`, all other statements `PUT_YOUR_CODE;`, `#PBS -l select=...`
/// `#PBS -l PUT_YOUR_CODE`, a program with a planted fault (planted_fault.h) the text that has it, and a line at the
/// head says what to do. A file without blanks is not changed. `path` is for messages and for the language. Throws
/// Error with path:line for a blank that can't be cut: the variable that it begins with is declared in another way, or
/// `auto`; and if a line of an answer is also outside its blank.
std::string cut(std::string_view solution, const std::string& path);

/// Returns the exercise that is cut from the kit's file `solution`, with these texts in its blanks. The other blanks
/// are left unfilled. Throws Error as cut() does.
std::string filled_exercise(const std::filesystem::path& solution,
                            const std::map<int, std::vector<std::string>>& blanks);

/// What an exercise keeps of a solution's blank, in one line: "const std::map<std::string, int> devices", "return", or
/// nothing. `lines`: the solution's. Throws Error as cut() does.
std::string kept_of(const std::vector<std::string>& lines, const Blank& blank, const std::string& path);

/// The first line at which two texts differ, as a sentence that shows both; empty if they are equal.
std::string first_difference(std::string_view expected, std::string_view found);

}  // namespace odori::grader
