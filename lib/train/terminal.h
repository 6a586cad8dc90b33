// SPDX-License-Identifier: Apache-2.0
// Whether someone is looking.
#pragma once

#include <string>

namespace odori {

/// Is standard output a terminal that can be drawn over? Not if TERM isn't set or says dumb.
bool on_terminal();
/// A line of its own: on a terminal, whatever is below (the progress bar) is removed first.
void print_line(const std::string& line);

}  // namespace odori
