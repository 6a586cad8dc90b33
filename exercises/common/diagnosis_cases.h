// SPDX-License-Identifier: Apache-2.0
// How the grader asks for diagnoses, and how they are shown.
#pragma once

#include <cstddef>

namespace odori {

/// The test cases, a JSON text, that ask for the diagnoses instead of a training run. Shown are 3 values for each: the
/// ranks, the line and the reason, by their position in diagnosis.h.
inline constexpr const char* ask_for_diagnoses = "diagnoses";
inline constexpr std::size_t choices_of_diagnosis = 3;

}  // namespace odori
