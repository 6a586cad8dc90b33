// One update, compared with what it had to be.
#pragma once

#include <array>
#include <vector>

namespace odori::grader {

/// What an update is made of, a number a weight: after = before + sum of coefficient * part.
struct Update {
  std::vector<float> before, after;
  std::array<std::vector<float>, 3> parts;
};

/// What is seen of one part's coefficient: how far it is from the expected one, and how far it may seem to be without
/// being so (a part that is zero shows nothing).
struct Deviation {
  double by = 0, uncertainty = 0;
};

struct Comparison {
  std::array<Deviation, 3> coefficients;
  double off = 0;   // the length of what is seen less what is expected, as a share of the expected step's
  double rest = 0;  // likewise, when coefficients have been mended by their deviations
};

/// Two sums of the same numbers in another order differ by 1e-7, but where two values of a pooling window are so close
/// that the order decides which is the larger, some weights of the convolutions differ by much more. So coefficients
/// are fitted by least trimmed squares (P. Rousseeuw, 1984, "Least median of squares regression"): to the half of all
/// weights that the fit explains best. `off` and `rest` are of all weights.
Comparison compare(const Update& update, const std::array<double, 3>& expected);

}  // namespace odori::grader
