#include "predict/measure.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "data/random_pictures.h"
#include "optim/momentum_sgd.h"
#include "optim/weight_decay.h"
#include "train/parallel_updater.h"
#include "train/standard_updater.h"

namespace odori {
namespace {

double seconds_of(Updater& updater, int iterations) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < iterations; ++i) updater.update();
  updater.model().device().synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// "32:0.041"
std::optional<cost::Measured> timing_of(std::string_view text) {
  const auto number = [](std::string_view digits) {
    double value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [parsed, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && parsed == end && value < 1e9 ? value : 0;
  };
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return {};
  const cost::Measured timing{number(text.substr(0, colon)), number(text.substr(colon + 1))};
  if (!(timing.batch > 0) || !(timing.seconds > 0)) return {};
  return timing;
}

}  // namespace

cost::Measured measure_iteration(const NetworkSpec& network, int batch, int n_devices,
                                 const DevicePoolOptions& devices) {
  DevicePool pool(devices);
  const auto images = std::make_shared<RandomPictures>(static_cast<std::size_t>(2 * batch), network.image_size);
  Classifier model(network, batch, 0);
  model.to_device(pool.use(0));
  MomentumSGD optimizer(1e-3f);
  optimizer.setup(model);
  optimizer.add_hook(std::make_unique<WeightDecay>(5e-4f));
  const SerialIterator iterator(images, batch);
  std::unique_ptr<Updater> updater;
  if (n_devices == 1) {
    updater = std::make_unique<StandardUpdater>(iterator, optimizer);
  } else {
    std::map<std::string, int> numbers{{"main", 0}};
    for (int i = 1; i < n_devices; ++i) numbers["gpu" + std::to_string(i)] = i;
    const std::vector<SerialIterator> iterators(static_cast<std::size_t>(n_devices), iterator);
    updater = std::make_unique<ParallelUpdater>(iterators, optimizer, numbers, pool);
  }

  seconds_of(*updater, 2);  // sets up; on a GPU, records the step
  const double first = seconds_of(*updater, 1);
  const int a_round = std::clamp(static_cast<int>(0.1 / first), 1, 1000);
  std::vector<double> seconds;
  double all = 0;
  do {
    seconds.push_back(seconds_of(*updater, a_round) / a_round);
    all += seconds.back() * a_round;
  } while (seconds.size() < 5 || (all < 1 && seconds.size() < 100));
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return {static_cast<double>(batch), seconds[seconds.size() / 2]};
}

std::pair<cost::Measured, cost::Measured> recorded_timings(const std::string& text) {
  const std::string_view all = text;
  const std::size_t comma = std::min(text.find(','), text.size());
  const auto one = timing_of(all.substr(0, comma)), other = timing_of(all.substr(std::min(comma + 1, text.size())));
  if (!one || !other)
    throw UsageError(fmt::format(
        "Recorded timings are two batches with the seconds of an iteration, \"32:0.041,128:0.153\", not \"{}\".",
        text));
  return {*one, *other};
}

}  // namespace odori
