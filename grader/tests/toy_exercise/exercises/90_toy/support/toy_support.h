// What the toy exercise gives its program.
#pragma once

namespace odori {

/// Halves a number and shows the result.
void show_half(float (*half_of)(float));

}  // namespace odori
