// What a student hands in, written for a test: a program and a script, or whatever an attack's list says.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "blanks/task.h"
#include "classroom/self_test/attack.h"

namespace odori::grader {

/// The exercise with these texts in its blanks. `solution`: the kit's file that it is cut from.
std::string filled_exercise(const std::filesystem::path& solution,
                            const std::map<int, std::vector<std::string>>& blanks);

/// The attack's program: its blanks filled, with its text in front of main.
std::string program_of(const std::filesystem::path& kit, const Attack& attack);
std::string script_of(const std::filesystem::path& kit, const Attack& attack);

/// Writes what the attack's "handed in" lists into a student's folder, or its program and script if it lists nothing.
/// Throws Error for a line that it can't do.
void write_handed_in(const std::filesystem::path& kit, const Attack& attack, const std::filesystem::path& folder);

}  // namespace odori::grader
