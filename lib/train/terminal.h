// SPDX-License-Identifier: Apache-2.0
// Output to a terminal.
#pragma once

#include <string>

namespace odori {

/// True if standard output is a terminal that can be redrawn: TERM is set, and is not "dumb".
bool on_terminal();
/// Prints a line. On a terminal, first erases everything below the cursor (the progress bar).
void print_line(const std::string& line);

}  // namespace odori
