// What a program computes or does, for the checks of its exercise. It does nothing where nobody grades.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace odori {

/// Numbers that the program has computed. Only the kit's own text may call this: blanks can't.
void show_to_grader(std::span<const float> values);
/// Something of which the order counts: what happens now, and the numbers that tell of what: "start", {0, 320}.
void show_to_grader(const std::string& event, const std::vector<std::int64_t>& about);

}  // namespace odori
