#include "checks/update.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "errors/error.h"

namespace odori::grader {
namespace {

constexpr int n_steps = 8;                                          // of trimming: more change nothing
constexpr double rounding = std::numeric_limits<float>::epsilon();  // of a weight, as a share of it
using Numbers = std::array<double, 3>;

/// The rows of the regression, one a weight: what is seen less what is expected, by the parts.
class Regression {
 public:
  Regression(const Update& update, const Numbers& expected) : update_(update) {
    for (std::size_t i = 0; i < update.before.size(); ++i) {
      double step = 0;
      for (std::size_t p = 0; p < 3; ++p) step += expected[p] * part(p, i);
      off_.push_back(static_cast<double>(update.after[i]) - update.before[i] - step);
      way_ += step * step;
      rows_.push_back(i);
    }
  }

  /// What is left of row i when coefficients have been mended.
  double rest(std::size_t i, const Numbers& mended) const {
    return off_[i] - mended[0] * part(0, i) - mended[1] * part(1, i) - mended[2] * part(2, i);
  }
  double rest(const Numbers& mended) const {
    double sum = 0;
    for (std::size_t i = 0; i < off_.size(); ++i) sum += std::pow(rest(i, mended), 2);
    return std::sqrt(sum / way_);
  }

  /// Least squares over the first `n` rows: the normal equations, by Gauss and Jordan. A part that is zero, or the same
  /// as those before it, gets nothing.
  std::array<Deviation, 3> fit(std::size_t n) const {
    std::array<std::array<double, 7>, 3> equations{};  // products of parts, of parts and `off`, and the unit matrix
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t i : std::span(rows_).first(n)) {
        for (std::size_t b = 0; b < 3; ++b) equations[a][b] += part(a, i) * part(b, i);
        equations[a][3] += part(a, i) * off_[i];
      }
      equations[a][4 + a] = 1;
    }
    const Numbers squares{equations[0][0], equations[1][1], equations[2][2]};
    std::array<bool, 3> known{};
    for (std::size_t a = 0; a < 3; ++a) {
      known[a] = equations[a][a] > 1e-9 * squares[a] && squares[a] > 0;
      if (!known[a]) continue;
      const double pivot = equations[a][a];
      for (double& x : equations[a]) x /= pivot;
      for (std::size_t other = 0; other < 3; ++other) {
        const double factor = equations[other][a];
        for (std::size_t column = 0; other != a && column < 7; ++column)
          equations[other][column] -= factor * equations[a][column];
      }
    }
    Numbers found{};
    for (std::size_t a = 0; a < 3; ++a) found[a] = known[a] ? equations[a][3] : 0;
    double sum = 0;
    for (std::size_t i : std::span(rows_).first(n))
      sum += std::pow(rest(i, found), 2) + std::pow(rounding * update_.before[i], 2);
    std::array<Deviation, 3> fitted;
    for (std::size_t a = 0; a < 3; ++a)
      fitted[a] = {found[a], known[a] ? std::sqrt(sum / static_cast<double>(n) * equations[a][4 + a])
                                      : std::numeric_limits<double>::infinity()};
    return fitted;
  }

  /// Puts those rows first that are explained best.
  void order_by(const Numbers& mended, std::size_t n) {
    std::nth_element(
        rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(n), rows_.end(),
        [&](std::size_t a, std::size_t b) { return std::abs(rest(a, mended)) < std::abs(rest(b, mended)); });
  }

  std::size_t size() const { return rows_.size(); }

 private:
  double part(std::size_t p, std::size_t i) const { return update_.parts[p][i]; }

  const Update& update_;
  std::vector<double> off_;
  double way_ = 0;
  std::vector<std::size_t> rows_;
};

Numbers values_of(const std::array<Deviation, 3>& fitted) { return {fitted[0].by, fitted[1].by, fitted[2].by}; }

}  // namespace

Comparison compare(const Update& update, const Numbers& expected) {
  Regression regression(update, expected);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const double off = regression.rest(Numbers{});
  if (!std::isfinite(off)) return {.off = infinite, .rest = infinite};  // weights that are no numbers have no order
  const std::size_t half = regression.size() / 2;
  auto fitted = regression.fit(regression.size());
  for (int step = 0; step < n_steps; ++step) {
    regression.order_by(values_of(fitted), half);
    fitted = regression.fit(half);
  }
  return {fitted, off, regression.rest(values_of(fitted))};
}

}  // namespace odori::grader
