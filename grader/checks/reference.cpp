#include "checks/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/error.h"
#include "optim/weight_decay.h"

namespace odori::grader {
namespace {

NetworkSpec network_of(const RunData& data) { return create_network("tiny", data.sets.train->n_classes()); }

Batch batch_of(const Dataset& set, const Pictures& pictures) {
  Batch batch{.transform = set.transform(), .storage = set.storage()};
  for (const std::int64_t picture : pictures) {
    require(picture >= 0 && static_cast<std::size_t>(picture) < set.size(), "There is no picture {} among {}.", picture,
            set.size());
    batch.examples.push_back(set[static_cast<std::size_t>(picture)]);
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

Reference::Reference(const RunData& data, int n_pictures, std::uint64_t seed)
    : data_(data),
      pool_(one_cpu_device()),
      model_(network_of(data), n_pictures, seed),
      optimizer_(data.learning_rate, momentum) {
  model_.to_device(pool_.use(0));
  optimizer_.setup(model_);
  optimizer_.add_hook(std::make_unique<WeightDecay>(weight_decay));
}

void Reference::update(const Pictures& pictures) {
  model_.forward_backward(batch_of(*data_.sets.train, pictures));
  optimizer_.update();
}

std::vector<float> Reference::parameters() const {
  std::vector<float> plain;
  for (const auto& parameter : model_.state().parameters) plain.insert(plain.end(), parameter.begin(), parameter.end());
  return plain;
}

void Reference::go_on_from(const std::vector<float>& parameters) { set_parameters(model_, parameters); }

EvaluationSeen evaluate(const RunData& data, const std::vector<float>& parameters, const Pictures& pictures) {
  DevicePool pool(one_cpu_device());
  Classifier model(network_of(data), static_cast<int>(std::max<std::size_t>(pictures.size(), 1)), 0);
  model.to_device(pool.use(0));
  set_parameters(model, parameters);
  model.evaluate(batch_of(*data.sets.test, pictures));
  const Metrics metrics = model.take_metrics();
  return {metrics.loss(), metrics.accuracy(), metrics.samples};
}

Pictures whole_set(std::size_t n) {
  Pictures all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

double distance(const std::vector<float>& seen, const std::vector<float>& expected, const std::vector<float>& before) {
  if (seen.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double off = 0, way = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    off += std::pow(static_cast<double>(seen[i]) - expected[i], 2);
    way += std::pow(static_cast<double>(expected[i]) - before[i], 2);
  }
  const double share = std::sqrt(off / way);
  return std::isfinite(share) ? share : std::numeric_limits<double>::infinity();
}

}  // namespace odori::grader
