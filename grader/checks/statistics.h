// Is one program as fast as another? Decided from pairs of measured times, as soon as they can tell.
#pragma once

#include <vector>

namespace odori::grader {

/// The middle value, or the mean of the two middle ones. At least one value.
double median(std::vector<double> values);

/// The Hodges-Lehmann estimate of the centre: the median of the means of all pairs of values, each with itself too. For
/// few values it is nearly as steady as their mean, and hardly moved by one that is far off (J. Hodges, E. Lehmann,
/// 1963, "Estimates of location based on rank tests"). At least one value.
double hodges_lehmann(const std::vector<double>& values);

/// How strongly `values` contradict "they are symmetric about `centre`, or about something below it". 1 is nothing;
/// values that obey the claim ever bring it to 1/p with a probability of at most p, however often one looks.
///
/// Each value x multiplies the evidence by 2 / (1 + exp(-f(x - centre))) with an odd function f. If x - centre is as
/// often d as -d, the mean factor is 1: the product is a martingale, and Ville's inequality bounds its maximum (J.
/// Ville, 1939; a sequential probability ratio test as in A. Wald, 1945, with mirrored hypotheses). Nothing is assumed
/// of the noise but its symmetry: neither its spread, nor its tails, nor that it is the same for all values (S. Howard,
/// A. Ramdas, J. McAuliffe, J. Sekhon, 2020, "Time-uniform Chernoff bounds via nonnegative supermartingales";
/// A. Ramdas, J. Ruf, M. Larsson, W. Koolen, 2020, arXiv:2009.03167, on symmetry). f is clipped, so that one late job
/// can't outweigh many others (P. Huber, 1965, "A robust version of the probability ratio test").
///
/// So a value at most doubles the evidence: p = 1/1000 takes 10 values at least.
double evidence_above(const std::vector<double>& values, double centre);
double evidence_below(const std::vector<double>& values, double centre);

enum class Pace { unknown, fast_enough, too_slow };

/// The learner's speed as a share of the kit's.
struct PaceTest {
  double needed = 0.9;               // the limit between right and wrong
  double slow = 0.76;                // up to here, at most ... (a start that noise prolonged makes 0.75 seem more)
  double false_pass = 1.0 / 1000;    // ... so many are called fast enough
  double fast = 1;                   // from here on, at most ...
  double false_fail = 1.0 / 10'000;  // ... so many are called too slow
};

/// `shares`: one a pair of jobs that ran next to each other, in the order that a coin gave. Whatever the machine did in
/// the first place and in the second (a burst, a drift), the coin gave it to one program or the other: the logarithms
/// of the shares are symmetric about the true one's, given all pairs before (R. Fisher, 1935, "The Design of
/// Experiments", on randomization). Between `slow` and `fast` either answer may come: that of the median.
Pace pace_of(const std::vector<double>& shares, const PaceTest& test = {});

}  // namespace odori::grader
