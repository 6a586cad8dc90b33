// The median of measured times, and how well it is known.
#pragma once

#include <optional>
#include <vector>

namespace odori::grader {

/// The middle value, or the mean of the two middle ones. At least one value.
double median(std::vector<double> values);

struct Interval {
  double low = 0, high = 0;
  /// Half its width, as a share of `centre`: 0.05 is "within 5 %".
  double spread(double centre) const { return (high - low) / 2 / centre; }
};

/// Holds the true median with at least 95 % confidence, whatever the values' distribution, as long as they are
/// independent: the k-th least and the k-th greatest value, with the greatest k for which a fair coin, tossed n times,
/// shows heads fewer than k times, or tails fewer than k times, with a probability of at most 5 %. So one late run
/// among many changes nothing. Fewer than 6 values: none, since even their least and greatest are not enough.
/// (Conover, Practical Nonparametric Statistics, 3.2; Hahn and Meeker, Statistical Intervals, 5.2.)
std::optional<Interval> median_interval(std::vector<double> values);

}  // namespace odori::grader
