// SPDX-License-Identifier: Apache-2.0
// The test cases that the grader wants an answer's functions tried with. For support code alone: no header that a
// training program includes reaches this one, so that answers cannot name it.
#pragma once

#include <nlohmann/json.hpp>

namespace odori {

/// Returns the test cases of $ODORI_TEST_CASES, a JSON value; null if the variable is not set. The variable is removed
/// from the environment when this library is loaded. Throws UsageError if it holds no JSON.
const nlohmann::json& test_cases();

}  // namespace odori
