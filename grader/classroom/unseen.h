// SPDX-License-Identifier: Apache-2.0
// Characters that could hide something in a name or a report.
#pragma once

namespace odori::grader {

/// True for control characters, invisible characters, marks that change the direction of a text, and noncharacters.
bool is_unseen(char32_t character);

}  // namespace odori::grader
