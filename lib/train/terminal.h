// Whether someone is looking.
#pragma once

namespace odori {

/// Is standard output a terminal that can be drawn over? Not if TERM isn't set or says dumb.
bool on_terminal();

}  // namespace odori
