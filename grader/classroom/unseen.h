// Characters that could hide something in a name or a report.
#pragma once

namespace odori::grader {

/// Controls, what is there without being seen, what turns the direction of a text, and what is no character.
bool is_unseen(char32_t character);

}  // namespace odori::grader
