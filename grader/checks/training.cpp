#include "checks/training.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "checks/update.h"

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

enum Part { gradient, last_step, weights };

/// From weights `before` to `after`; `earlier` are those before the last update.
Comparison compare_step(const Sgd& sgd, std::vector<float> of_gradient, const std::vector<float>& earlier,
                        const std::vector<float>& before, const std::vector<float>& after) {
  Update update{before, after, {std::move(of_gradient), before, before}};
  for (std::size_t i = 0; i < before.size(); ++i) {
    update.parts[gradient][i] *= -1;
    update.parts[last_step][i] -= earlier[i];
    update.parts[weights][i] *= -1;
  }
  return compare(update, {sgd.rate, sgd.momentum, sgd.rate * sgd.decay});
}

/// What is wrong with an update; nothing if nothing is.
std::optional<WrongWeights> find_wrong(const Comparison& seen, int number, const Sgd& sgd) {
  const auto& [of_gradient, of_last_step, of_weights] = seen.coefficients;
  const double rate = sgd.rate + of_gradient.by, decay = (sgd.rate * sgd.decay + of_weights.by) / rate;
  const auto differs = [](double by, double expected, double uncertainty) {
    return std::abs(by) > same_coefficient * expected + uncertain * uncertainty;
  };
  const bool other_rate = differs(of_gradient.by, sgd.rate, of_gradient.uncertainty),
             other_momentum = differs(of_last_step.by, sgd.momentum, of_last_step.uncertainty),
             other_decay = differs(decay - sgd.decay, sgd.decay, of_weights.uncertainty / sgd.rate);
  if (!other_rate && !other_momentum && !other_decay && seen.off < same_step) return {};
  WrongWeights wrong{.update = number, .expected = sgd};
  if (!(seen.rest < same_step)) return wrong;
  if (other_rate) wrong.rate = rate;
  if (other_momentum) wrong.momentum = sgd.momentum + of_last_step.by;
  if (other_decay) wrong.decay = decay;
  return wrong;
}

/// How much of its gradient each weight got, over all updates: in an update's length one of thousands is lost.
class SharesOfGradient {
 public:
  explicit SharesOfGradient(std::size_t n_weights) : off_(n_weights), squares_(n_weights) {}

  void add(const Sgd& sgd, const std::vector<float>& gradient, const std::vector<float>& earlier,
           const std::vector<float>& before, const std::vector<float>& after) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double now = before[i], by_gradient = -sgd.rate * gradient[i];
      const double expected = by_gradient + sgd.momentum * (now - earlier[i]) - sgd.rate * sgd.decay * now;
      off_[i] += (after[i] - now - expected) * by_gradient;
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

}  // namespace

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
                                               const std::function<Sgd(std::size_t update)>& sgd_of) {
  if (updates.empty() || updates.front().empty()) return {};
  const std::size_t n_images = images_of_worker * updates.front().size();
  Reference reference(data, static_cast<int>(n_images));
  std::vector<float> before = first_weights(data, plan.programs_seed(data.seed)), earlier = before;
  SharesOfGradient shares(before.size());
  for (std::size_t update = 0; update < updates.size(); ++update) {
    const int number = static_cast<int>(update) + 1;
    const Sgd sgd = sgd_of(update);
    const Images images = images_of(data, images_of_worker, updates[update]);
    const std::vector<float>& after = updates[update].front().parameters;
    if (images.size() != n_images || after.size() != before.size()) return WrongWeights{number, sgd};
    const std::vector<float> gradient = reference.gradient(before, images);
    const Comparison seen = compare_step(sgd, gradient, earlier, before, after);
    shares.add(sgd, gradient, earlier, before, after);
    if (auto wrong = find_wrong(seen, number, sgd)) {
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
  return compare_step(sgd_of(plan), reference.gradient(start, images), start, start, step.parameters).rest < same_step;
}

}  // namespace odori::grader
