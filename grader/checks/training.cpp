// SPDX-License-Identifier: Apache-2.0
#include "checks/training.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "errors/error.h"

namespace odori::grader {
namespace {

/// A coefficient that is further off, as a share of what it should be, is another one. What rounding makes of one is
/// off by 0.0005 at most, and of that the fit knows.
constexpr double same_coefficient = 0.005, uncertain = 8;
/// Of an update's length: what pooling windows without a clear maximum can make of it, and no other images do.
constexpr double same_step = 0.03;
/// A weight whose share of its gradient, over all updates, is further off got another gradient: rounding and pooling
/// make far less of it, where the gradient is at least so long, as a share of the mean one.
constexpr double same_share = 0.25, telling = 0.03;
constexpr double few = 0.01;  // of the weights: what is wrong with more is wrong with the update
constexpr int n_trims = 8;    // more change nothing
constexpr double rounding = std::numeric_limits<float>::epsilon();  // of a weight, as a share of it
constexpr double infinity = std::numeric_limits<double>::infinity();

/// All images of an update, and nothing if they aren't so many a worker.
Images images_of(const RunData& data, std::size_t images_of_worker, const std::vector<Step>& update) {
  Images all;
  const auto n_train = static_cast<std::int64_t>(data.sets.train->size());
  for (const Step& step : update) {
    if (step.images.size() != images_of_worker) return {};
    for (const std::int64_t image : step.images) {
      if (image < 0 || image >= n_train) return {};
      all.push_back(image);
    }
  }
  return all;
}

using Coefficients = std::array<double, 3>;  // of the gradient, the last step and the weights

/// One weight of an update: what its step is made of, the expected step, and by how much the seen one differs.
struct WeightStep {
  Coefficients parts;
  double step, off, rounding;
  double rest(const Coefficients& by) const { return off - by[0] * parts[0] - by[1] * parts[1] - by[2] * parts[2]; }
};

/// From weights `before` to `after`; `earlier` are those before the last update.
std::vector<WeightStep> rows_of(const Sgd& sgd, const std::vector<float>& gradient, const std::vector<float>& earlier,
                                const std::vector<float>& before, const std::vector<float>& after) {
  std::vector<WeightStep> rows;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Coefficients parts{-gradient[i], before[i] - earlier[i], -before[i]};
    const double step = sgd.rate * parts[0] + sgd.momentum * parts[1] + sgd.rate * sgd.decay * parts[2];
    rows.push_back({parts, step, static_cast<double>(after[i]) - before[i] - step, rounding * before[i]});
  }
  return rows;
}

struct Fit {
  Coefficients by{}, uncertainty{};  // how far they are from the expected ones, and how far they may seem to be
  double off = 0;                    // the length of what is seen less what is expected, as a share of the step's
  double rest = 0;                   // likewise with the fitted coefficients
};

/// Least squares: the normal equations, by Gauss and Jordan. A part that is zero, or the same as those before it, gets
/// nothing.
Fit least_squares(std::span<const WeightStep> rows) {
  std::array<std::array<double, 7>, 3> equations{};  // products of parts, of parts and `off`, and the unit matrix
  for (std::size_t a = 0; a < 3; ++a) {
    for (const WeightStep& row : rows) {
      for (std::size_t b = 0; b < 3; ++b) equations[a][b] += row.parts[a] * row.parts[b];
      equations[a][3] += row.parts[a] * row.off;
    }
    equations[a][4 + a] = 1;
  }
  const Coefficients squares{equations[0][0], equations[1][1], equations[2][2]};
  std::array<bool, 3> known{};
  Fit fit;
  for (std::size_t a = 0; a < 3; ++a) {
    const double pivot = equations[a][a];
    known[a] = pivot > 1e-9 * squares[a] && squares[a] > 0;
    if (!known[a]) continue;
    for (double& x : equations[a]) x /= pivot;
    for (std::size_t other = 0; other < 3; ++other) {
      const double factor = equations[other][a];
      for (std::size_t column = 0; other != a && column < 7; ++column)
        equations[other][column] -= factor * equations[a][column];
    }
  }
  for (std::size_t a = 0; a < 3; ++a) fit.by[a] = known[a] ? equations[a][3] : 0;
  double sum = 0;
  for (const WeightStep& row : rows) sum += std::pow(row.rest(fit.by), 2) + std::pow(row.rounding, 2);
  for (std::size_t a = 0; a < 3; ++a)
    fit.uncertainty[a] = known[a] ? std::sqrt(sum / static_cast<double>(rows.size()) * equations[a][4 + a]) : infinity;
  return fit;
}

/// Sums in another order differ by 1e-7. Where two values of a pooling window are nearly the same, some weights of the
/// convolutions differ by much more. So coefficients are fitted by least trimmed squares (P. Rousseeuw, 1984, "Least
/// median of squares regression"): to the half of all weights that the fit explains best. `off` and `rest` are of all.
Fit fit(std::vector<WeightStep> rows) {
  const auto length = [&](const Coefficients& by) {
    double rest = 0, step = 0;
    for (const WeightStep& row : rows) rest += std::pow(row.rest(by), 2), step += row.step * row.step;
    return std::sqrt(rest / step);
  };
  const double off = length({});
  if (!std::isfinite(off)) return {.off = infinity, .rest = infinity};  // NaNs have no order
  Fit fitted = least_squares(rows);
  const auto half = static_cast<std::ptrdiff_t>(rows.size() / 2);
  for (int trim = 0; trim < n_trims; ++trim) {
    std::nth_element(rows.begin(), rows.begin() + half, rows.end(), [&](const WeightStep& a, const WeightStep& b) {
      return std::abs(a.rest(fitted.by)) < std::abs(b.rest(fitted.by));
    });
    fitted = least_squares({rows.begin(), rows.begin() + half});
  }
  fitted.off = off;
  fitted.rest = length(fitted.by);
  return fitted;
}

/// What is wrong with an update; nothing if nothing is.
std::optional<WrongWeights> find_wrong(const Fit& seen, int number, const Sgd& sgd) {
  const double rate = sgd.rate + seen.by[0], decay = (sgd.rate * sgd.decay + seen.by[2]) / rate;
  const auto differs = [](double by, double expected, double uncertainty) {
    return std::abs(by) > same_coefficient * expected + uncertain * uncertainty;
  };
  const bool other_rate = differs(seen.by[0], sgd.rate, seen.uncertainty[0]),
             other_momentum = differs(seen.by[1], sgd.momentum, seen.uncertainty[1]),
             other_decay = differs(decay - sgd.decay, sgd.decay, seen.uncertainty[2] / sgd.rate);
  if (!other_rate && !other_momentum && !other_decay && seen.off < same_step) return {};
  WrongWeights wrong{.update = number, .expected = sgd};
  if (!(seen.rest < same_step)) return wrong;
  if (other_rate) wrong.rate = rate;
  if (other_momentum) wrong.momentum = sgd.momentum + seen.by[1];
  if (other_decay) wrong.decay = decay;
  return wrong;
}

/// How much of its gradient each weight got, over all updates: in an update's length one of thousands is lost.
class SharesOfGradient {
 public:
  explicit SharesOfGradient(std::size_t n_weights) : off_(n_weights), squares_(n_weights) {}

  void add(const std::vector<WeightStep>& rows, double rate) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double by_gradient = rate * rows[i].parts[0];
      off_[i] += rows[i].off * by_gradient;
      squares_[i] += by_gradient * by_gradient;
    }
  }

  WrongShares find_wrong() const {
    WrongShares wrong{.weights = squares_.size()};
    const double all = std::accumulate(squares_.begin(), squares_.end(), 0.0);
    const double least = telling * telling * all / static_cast<double>(wrong.weights);
    for (std::size_t i = 0; i < squares_.size(); ++i) {
      if (!(squares_[i] > least) || std::abs(off_[i]) <= same_share * squares_[i]) continue;
      if (wrong.n++ == 0) wrong.first = i, wrong.share = 1 + off_[i] / squares_[i];
    }
    return wrong;
  }

 private:
  std::vector<double> off_, squares_;  // sums over the updates
};

NetworkSpec network_of(const RunData& data) { return create_network("tiny", data.sets.train->n_classes()); }

Batch batch_of(const Dataset& set, const Images& images) {
  Batch batch{.transform = set.transform(), .storage = set.storage()};
  for (const std::int64_t image : images) {
    require(image >= 0 && static_cast<std::size_t>(image) < set.size(), "There is no image {} among {}.", image,
            set.size());
    batch.examples.push_back(set[static_cast<std::size_t>(image)]);
  }
  return batch;
}

void set_parameters(Classifier& model, const std::vector<float>& parameters) {
  require(parameters.size() == model.parameter_count(), "The network has {} parameters, and {} were given.",
          model.parameter_count(), parameters.size());
  ModelState state = model.state();
  auto next = parameters.begin();
  for (auto& parameter : state.parameters) {
    std::copy_n(next, parameter.size(), parameter.begin());
    next += static_cast<std::ptrdiff_t>(parameter.size());
  }
  model.restore(state);
}

DevicePoolOptions one_cpu_device() { return {.request = DeviceRequest::cpu}; }

}  // namespace

Reference::Reference(const RunData& data, int n_images)
    : data_(data), pool_(one_cpu_device()), model_(network_of(data), n_images, 0) {
  model_.to_device(pool_.use(0));
}

std::vector<float> Reference::gradient(const std::vector<float>& weights, const Images& images) {
  set_parameters(model_, weights);
  model_.forward_backward(batch_of(*data_.sets.train, images));
  std::vector<float> gradient;
  for (const NamedView& parameter : model_.parameters()) {
    const auto part = model_.graph().read_parameter(model_.memory().gradients, parameter.view);
    gradient.insert(gradient.end(), part.begin(), part.end());
  }
  return gradient;
}

std::vector<float> first_weights(const RunData& data, std::uint64_t seed) {
  DevicePool pool(one_cpu_device());
  Classifier model(network_of(data), 1, seed);
  model.to_device(pool.use(0));
  std::vector<float> weights;
  for (const auto& parameter : model.state().parameters)
    weights.insert(weights.end(), parameter.begin(), parameter.end());
  return weights;
}

EvaluationSeen evaluate(const RunData& data, const std::vector<float>& weights, const Images& images) {
  DevicePool pool(one_cpu_device());
  Classifier model(network_of(data), static_cast<int>(std::max<std::size_t>(images.size(), 1)), 0);
  model.to_device(pool.use(0));
  set_parameters(model, weights);
  model.evaluate(batch_of(*data.sets.test, images));
  const Metrics metrics = model.take_metrics();
  return {metrics.loss(), metrics.accuracy(), metrics.samples};
}

Images whole_set(std::size_t n) {
  Images all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Updates updates_of_ranks(const Evidence& evidence) {
  Updates updates;
  for (std::size_t update = 0;; ++update) {
    std::vector<Step> steps;
    for (const RankSeen& rank : evidence.ranks) {
      if (update >= rank.steps.size() || rank.steps[update].empty()) return updates;
      steps.push_back(rank.steps[update].front());
    }
    if (steps.empty()) return updates;
    updates.push_back(std::move(steps));
  }
}

std::optional<Disagreement> find_disagreement(const Updates& updates) {
  // Workers that get the same numbers from one another have the same bits.
  for (std::size_t update = 0; update < updates.size(); ++update)
    for (std::size_t worker = 1; worker < updates[update].size(); ++worker)
      if (updates[update][worker].parameters != updates[update].front().parameters)
        return Disagreement{static_cast<int>(update) + 1, 0, static_cast<int>(worker)};
  return {};
}

Sgd sgd_of(const RunPlan& plan, double epochs) {
  Sgd sgd{.rate = plan.learning_rate};
  if (plan.scaled) sgd.rate *= 1 + (plan.ranks() - 1) * std::min(epochs, 1.0);
  if (plan.sum) sgd.decay /= plan.devices;
  return sgd;
}

std::optional<WrongWeights> find_wrong_weights(const RunData& data, const RunPlan& plan, const Updates& updates) {
  const auto images = static_cast<std::size_t>(plan.images_of_worker());
  const double share = std::ceil(static_cast<double>(data.sets.train->size()) / plan.workers());
  return find_wrong_weights(data, plan, updates, images, [&](std::size_t update) {
    return sgd_of(plan, static_cast<double>(update * images) / share);
  });
}

std::optional<WrongWeights> find_wrong_weights(const RunData& data, const RunPlan& plan, const Updates& updates,
                                               std::size_t images_of_worker,
                                               const std::function<Sgd(std::size_t update)>& sgd_of,
                                               const StartingPoint* start) {
  if (updates.empty() || updates.front().empty()) return {};
  const std::size_t n_images = images_of_worker * updates.front().size();
  Reference reference(data, static_cast<int>(n_images));
  std::vector<float> before = start ? start->weights : first_weights(data, plan.programs_seed(data.seed)),
                     earlier = start ? start->earlier : before;
  SharesOfGradient shares(before.size());
  for (std::size_t update = 0; update < updates.size(); ++update) {
    const int number = static_cast<int>(update) + 1;
    const Sgd sgd = sgd_of(update);
    const Images images = images_of(data, images_of_worker, updates[update]);
    const std::vector<float>& after = updates[update].front().parameters;
    if (images.size() != n_images || after.size() != before.size()) return WrongWeights{number, sgd};
    const std::vector<WeightStep> rows = rows_of(sgd, reference.gradient(before, images), earlier, before, after);
    shares.add(rows, sgd.rate);
    if (auto wrong = find_wrong(fit(rows), number, sgd)) {
      // One weight alone can make up much of an update, too.
      const WrongShares of_some = shares.find_wrong();
      if (!wrong->rate && !wrong->momentum && !wrong->decay && of_some.n <= few * before.size())
        wrong->of_some = of_some;
      return wrong;
    }
    earlier = std::exchange(before, after);
  }
  const WrongShares of_some = shares.find_wrong();
  if (of_some.n == 0) return {};
  const std::size_t last = updates.size() - 1;
  return WrongWeights{.update = static_cast<int>(last) + 1, .expected = sgd_of(last), .of_some = of_some};
}

bool learnt_alone(const RunData& data, const RunPlan& plan, const Step& step, int rank) {
  const Images images = images_of(data, static_cast<std::size_t>(plan.images_of_worker()), {step});
  const std::vector<float> start =
      first_weights(data, plan.programs_seed(data.seed) + static_cast<std::uint64_t>(rank));
  if (images.empty() || step.parameters.size() != start.size()) return false;
  Reference reference(data, plan.images_of_worker());
  return fit(rows_of(sgd_of(plan), reference.gradient(start, images), start, start, step.parameters)).rest < same_step;
}

}  // namespace odori::grader
