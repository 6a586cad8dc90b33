// SPDX-License-Identifier: Apache-2.0
// Names of exercise 14's events. Each has two integers: how many collective calls its rank had made, and a number that
// stands for the file's name.
#pragma once

namespace odori {

inline constexpr const char *parameters_written = "parameters_written", *parameters_read = "parameters_read";

}  // namespace odori
