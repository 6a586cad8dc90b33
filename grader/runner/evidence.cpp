// SPDX-License-Identifier: Apache-2.0
#include "runner/evidence.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>
namespace odori::grader {
namespace {

using nlohmann::json;

constexpr std::size_t bytes_of_line = 256 << 10;  // many times what a right answer writes
constexpr std::int64_t small = 1 << 20;           // what an int is below, and not below its negative

/// A fact that has something else where a number or a name is to be.
struct NoFact {};
/// More of something than there can be.
struct TooMuch {};

/// Reads facts as observe/facts.h declares them.
class FieldReader {
 public:
  FieldReader(const json& object, const EvidenceLimits& limits) : object_(object), limits_(limits) {
    if (!object_.is_object()) throw NoFact();
  }

  template <typename T>
  void operator()(const char* key, T& field) const {
    const auto found = object_.find(key);
    if (found == object_.end()) throw NoFact();
    take(*found, field);
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& field) const {
    if (object_.contains(key)) (*this)(key, field.emplace());
  }

 private:
  void take(const json& value, std::int64_t& field) const {
    if (!value.is_number_integer()) throw NoFact();
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
      throw NoFact();
    field = value.get<std::int64_t>();
  }
  void take(const json& value, int& field) const {
    std::int64_t number = 0;
    take(value, number);
    if (number < -small || number >= small) throw NoFact();
    field = static_cast<int>(number);
  }
  void take(const json& value, double& field) const {
    field = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  }
  void take(const json& value, std::string& field) const {
    if (!value.is_string()) throw NoFact();
    field = value.get<std::string>();
  }
  template <typename T>
  void take(const json& value, std::vector<T>& list) const {
    if (!value.is_array()) throw NoFact();
    if (value.size() > (std::is_same_v<T, std::int64_t> ? limits_.images : limits_.devices)) throw TooMuch();
    for (const json& entry : value) take(entry, list.emplace_back());
  }
  template <typename Group>
  void take(const json& value, Group& group) const {
    group.each(FieldReader(value, limits_));
  }

  const json& object_;
  const EvidenceLimits& limits_;
};

int no_larger(std::int64_t number) { return static_cast<int>(std::clamp<std::int64_t>(number, -1, small)); }

/// The facts of one rank, put together line by line.
class Reader {
 public:
  Reader(const EvidenceLimits& limits, bool marked) : limits_(limits), is_past_blanks_(!marked) {}

  /// How many numbers follow this line.
  std::size_t numbers_behind(const json& line) const {
    std::optional<std::int64_t> numbers;
    if (line.is_object()) FieldReader(line, limits_)("numbers", numbers);
    if (!numbers) return 0;
    if (*numbers < 0 || static_cast<std::size_t>(*numbers) > limits_.parameters) throw TooMuch();
    return static_cast<std::size_t>(*numbers);
  }

  void take(const json& line, std::string_view numbers) {
    line_ = &line;
    FieldReader(line, limits_)("fact", fact_);
    take_of_any_program(numbers);
    if (const auto training = is<facts::Training>()) begin_training(*training);
    if (!training_) take_before();
    if (training_ && !trained_) take_of_training(numbers);
    trained_ |= is<facts::Trained>().has_value();
  }

  void forge(const char* key) {
    if (!seen_.forged) seen_.forged = Finding{key};
  }

  RankSeen seen() {
    if (!trains_on_its_iterators()) forge("evidence_other_images");
    return std::move(seen_);
  }

 private:
  /// The line's fact, if it is this one.
  template <typename Fact>
  std::optional<Fact> is() const {
    if (fact_ != Fact::fact) return {};
    Fact fact;
    fact.each(FieldReader(*line_, limits_));
    return fact;
  }

  static std::vector<float> floats_of(std::string_view numbers) {
    std::vector<float> floats(numbers.size() / sizeof(float));
    if (!numbers.empty()) std::memcpy(floats.data(), numbers.data(), numbers.size());
    return floats;
  }

  void take_of_any_program(std::string_view numbers) {
    if (const auto failure = is<facts::Failure>()) {
      seen_.error = failure->sentence;
      // Whatever is thrown and said to be no failure ends a program well, from wherever it was.
      if (failure->code == 0) forge("thrown_as_if_well");
    }
    if (const auto call = is<facts::Enter>()) {
      add(depth_++ == 0 ? seen_.collectives : seen_.inner_collectives, call->collective, limits_.calls);
      seen_.inside_collective = true;
    }
    if (is<facts::Leave>()) seen_.inside_collective = (depth_ = std::max(depth_ - 1, 0)) > 0;
    if (is<facts::BlanksPassed>()) is_past_blanks_ = true;
    if (const auto message = is<facts::Message>())
      add(seen_.messages,
          {message->call, message->to, no_larger(message->sent), message->from, no_larger(message->received)},
          limits_.calls);
    if (is<facts::MessageDone>() && !seen_.messages.empty()) seen_.messages.back().done = true;
    if (auto event = is<facts::Event>()) add(seen_.events, std::move(*event), limits_.calls);
    if (is<facts::Values>()) add(seen_.values, floats_of(numbers), limits_.calls);
  }

  template <typename T>
  static void add(std::vector<T>& list, std::type_identity_t<T> value, std::size_t most) {
    if (list.size() >= most) throw TooMuch();
    list.push_back(std::move(value));
  }

  /// What a program asks for before it trains.
  void take_before() {
    if (const auto asked = is<facts::UseDevice>()) seen_.device = asked->device;
    if (const auto asked = is<facts::ToDevice>()) seen_.model_device = asked->device;
    if (is<facts::LoadCifar>()) seen_.loaded_data = true;
    if (const auto scatter = is<facts::Scatter>()) add(seen_.scatter_roots, scatter->root, limits_.calls);
    if (const auto devices = is<facts::Devices>()) take_devices(devices->devices);
    if (const auto refused = is<facts::RefusedBatch>()) seen_.refused_batch = no_larger(refused->batch_size);
    if (const auto updater = is<facts::Updater>()) take_updater(*updater);
    if (const auto evaluator = is<facts::Evaluator>()) take_evaluator(*evaluator);
  }

  void begin_training(const facts::Training& training) {
    if (!is_past_blanks_) forge("trained_in_a_blank");
    if (training_ && seen_.earlier_trainings + 1 >= limits_.trainings) return forge("trained_twice");
    if (std::exchange(training_, true)) {  // another one begins
      ++seen_.earlier_trainings;
      seen_.earlier_updates += std::exchange(seen_.steps, {}).size();
      seen_.evaluations.clear(), seen_.observations.clear(), seen_.reports.clear(), seen_.values.clear();
      update_.clear();
      trained_ = false;
    }
    take_updater(training);
    if (training.devices) take_devices(*training.devices);
    models_ = training.models;
    if (!models_.empty()) seen_.device = seen_.model_device = models_.front();
    seen_.evaluator_device.reset();
    seen_.test_iterator.reset();
    for (const facts::Evaluator& evaluator : training.evaluators) take_evaluator(evaluator);
  }

  void take_of_training(std::string_view numbers) {
    if (is<facts::LoadCifar>()) seen_.loaded_data = true;
    if (auto step = is<facts::Step>())
      add(update_, {step->device, std::move(step->images), floats_of(numbers)}, limits_.devices);
    if (is<facts::Updated>()) {
      std::ranges::sort(update_, {}, &Step::device);
      add(seen_.steps, std::exchange(update_, {}), limits_.calls);
    }
    if (const auto evaluation = is<facts::Evaluation>()) add(seen_.evaluations, *evaluation, limits_.calls);
    if (const auto observation = is<facts::Observation>())
      add(seen_.observations, {*observation, seen_.steps.size()}, limits_.calls);
    if (const auto report = is<facts::Report>()) add(seen_.reports, {*report, seen_.steps.size()}, limits_.calls);
  }

  void take_devices(const std::vector<facts::NamedDevice>& devices) {
    seen_.devices.clear();
    for (const facts::NamedDevice& one : devices) seen_.devices[one.name] = one.device;
  }

  /// An updater's, or a training's with one.
  void take_updater(const auto& shown) {
    seen_.updater = shown.kind;
    seen_.train_iterators = shown.iterators;
  }

  void take_evaluator(const facts::Evaluator& evaluator) {
    seen_.evaluator_device = evaluator.device;
    seen_.test_iterator = evaluator.iterator;
  }

  /// Each model on images of its own iterator alone, and by the end on all of them.
  bool trains_on_its_iterators() const {
    if (!training_ || models_.size() != seen_.train_iterators.size()) return !training_ || seen_.steps.empty();
    for (std::size_t i = 0; i < models_.size(); ++i) {
      const IteratorSeen& iterator = seen_.train_iterators[i];
      std::set<std::int64_t> given(iterator.images.begin(), iterator.images.end()), trained;
      given.insert(iterator.not_counted.begin(), iterator.not_counted.end());
      for (const auto& update : seen_.steps)
        for (const Step& step : update)
          if (step.device == models_[i]) trained.insert(step.images.begin(), step.images.end());
      if (!std::includes(given.begin(), given.end(), trained.begin(), trained.end())) return false;
      if (trained_ && trained != given) return false;
    }
    return true;
  }

  const EvidenceLimits& limits_;
  const json* line_ = nullptr;  // that is read
  std::string fact_;            // its name
  bool is_past_blanks_, training_ = false, trained_ = false;
  RankSeen seen_;
  int depth_ = 0;             // of collectives, one within another
  std::vector<int> models_;   // the devices of the models that are trained, in the iterators' order
  std::vector<Step> update_;  // what is known of the update under way
};

}  // namespace

EvidenceLimits limits_of(const RunData& data) {
  // Learners give devices the whole set, or the same share, several times over.
  const std::size_t images = 8 * data.sets.train->size();
  return {.images = images, .calls = 16 * images, .parameters = data.parameters};
}

RankSeen read_rank(std::string_view written, const EvidenceLimits& limits, bool marked) {
  Reader reader(limits, marked);
  while (!written.empty()) {
    const std::size_t end = written.substr(0, bytes_of_line).find('\n');
    if (end == std::string_view::npos) {
      reader.forge(written.size() > bytes_of_line ? "evidence_too_much" : "evidence_changed");
      break;
    }
    const json line = json::parse(written.substr(0, end), nullptr, false);
    written.remove_prefix(end + 1);
    try {
      const std::size_t bytes = reader.numbers_behind(line) * sizeof(float);
      if (bytes > written.size()) {
        reader.forge("evidence_changed");
        break;
      }
      const std::string_view numbers = written.substr(0, bytes);
      written.remove_prefix(bytes);
      reader.take(line, numbers);
    } catch (const NoFact&) {
      // Not by the library: what the other lines say still holds.
    } catch (const TooMuch&) {
      reader.forge("evidence_too_much");
      break;
    }
  }
  return reader.seen();
}

}  // namespace odori::grader
