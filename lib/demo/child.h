// Another program, run by this one.
#pragma once

#include <string>
#include <vector>

namespace odori::demo {

/// Runs a command, whose input and output are this program's own, until it ends. Returns its exit code, or 128 + the
/// signal that killed it. Ctrl-C and SIGTERM (see catch_interrupts) end it too; then Error with exit code 130 is
/// thrown. Throws Error if it can't be started.
int run_child(const std::vector<std::string>& command);

}  // namespace odori::demo
