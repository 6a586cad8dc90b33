#include "checks/statistics.h"

#include <algorithm>
#include <cmath>

namespace odori::grader {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

std::optional<Interval> median_interval(std::vector<double> values) {
  constexpr double most = 0.025;  // on either side
  const std::size_t n = values.size();
  double probability = std::pow(0.5, static_cast<double>(n));  // of exactly k heads
  double fewer_or_equal = probability;
  std::size_t k = 0;
  for (; fewer_or_equal <= most && k < n; ++k) {
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    fewer_or_equal += probability;
  }
  if (k == 0) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Interval{values[k - 1], values[n - k]};
}

}  // namespace odori::grader
