#include "worker/evidence.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "worker/run_plan.h"

namespace odori::grader {
namespace {

using nlohmann::json;

constexpr std::size_t bytes_of_line = 256 << 10;  // many times what a right answer writes
constexpr int most_devices = 1 << 20;             // a device's number is below, and not below its negative

/// A fact that has something else where a number or a name is to be.
struct NoFact {};
/// More of something than there can be.
struct TooMuch {};

const json& member(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end()) throw NoFact();
  return *found;
}

std::int64_t integer(const json& value) {
  if (!value.is_number_integer()) throw NoFact();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    throw NoFact();
  return value.get<std::int64_t>();
}

std::string text(const json& value) {
  if (!value.is_string()) throw NoFact();
  return value.get<std::string>();
}

int device_in(const json& value) {
  const std::int64_t device = integer(member(value, "device"));
  if (device < -most_devices || device >= most_devices) throw NoFact();
  return static_cast<int>(device);
}

/// JSON has no infinity: the library writes null.
double number(const json& line, const char* key) {
  const json& value = member(line, key);
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// The facts of one rank, put together line by line.
class Reader {
 public:
  Reader(const EvidenceLimits& limits, bool marked) : limits_(limits), is_past_blanks_(!marked) {}

  /// How many numbers follow this line.
  std::size_t numbers_behind(const json& line) const {
    if (!line.is_object() || !line.contains("numbers")) return 0;
    const std::int64_t n = integer(line.at("numbers"));
    if (n < 0 || static_cast<std::size_t>(n) > limits_.parameters) throw TooMuch();
    return static_cast<std::size_t>(n);
  }

  void take(const json& line, std::string_view numbers) {
    const std::string fact = text(member(line, "fact"));
    if (fact == "failure") take_failure(line);
    if (fact == "enter") add(seen_.collectives, text(member(line, "collective")), limits_.calls);
    if (fact == "enter" || fact == "leave") seen_.inside_collective = fact == "enter";
    if (fact == "blanks_passed") is_past_blanks_ = true;
    if (fact == "training") begin_training(line);
    if (!training_) take_before(fact, line);
    if (training_ && !trained_) take_of_training(fact, line, numbers);
    trained_ |= fact == "trained";
  }

  void forge(const char* key) {
    if (!seen_.forged) seen_.forged = Finding{key};
  }

  RankSeen seen() {
    if (!trains_on_its_iterators()) forge("evidence_other_pictures");
    return std::move(seen_);
  }

 private:
  /// Whatever is thrown and said to be no failure ends a program well, from wherever it was.
  void take_failure(const json& line) {
    seen_.error = text(member(line, "sentence"));
    if (integer(member(line, "code")) == 0) forge("thrown_as_if_well");
  }

  template <typename T>
  static void add(std::vector<T>& list, T value, std::size_t most) {
    if (list.size() >= most) throw TooMuch();
    list.push_back(std::move(value));
  }

  const json& list_in(const json& line, const char* key, std::size_t most) const {
    const json& list = member(line, key);
    if (!list.is_array()) throw NoFact();
    if (list.size() > most) throw TooMuch();
    return list;
  }

  Pictures pictures_in(const json& line, const char* key) const {
    Pictures pictures;
    for (const json& picture : list_in(line, key, limits_.pictures)) pictures.push_back(integer(picture));
    return pictures;
  }

  IteratorSeen iterator(const json& facts) const {
    const std::int64_t batch_size = integer(member(facts, "batch_size"));
    if (batch_size < 0 || batch_size > std::numeric_limits<int>::max()) throw NoFact();
    return {pictures_in(facts, "pictures"), pictures_in(facts, "not_counted"), static_cast<int>(batch_size),
            integer(member(facts, "repeat")) != 0};
  }

  /// What a program asks for before it trains.
  void take_before(const std::string& fact, const json& line) {
    if (fact == "use_device") seen_.device = device_in(line);
    if (fact == "to_device") seen_.model_device = device_in(line);
    if (fact == "load_cifar") seen_.loaded_data = true;
    if (fact == "scatter") {
      const std::int64_t root = integer(member(line, "root"));
      if (std::abs(root) >= most_devices) throw NoFact();
      add(seen_.scatter_roots, static_cast<int>(root), limits_.calls);
    }
    if (fact == "devices") take_devices(line);
    if (fact == "refused_batch")
      seen_.refused_batch = static_cast<int>(std::min<std::int64_t>(integer(member(line, "batch_size")), 1 << 20));
    if (fact == "updater") take_updater(line);
    if (fact == "evaluator") take_evaluator(line);
  }

  void begin_training(const json& line) {
    if (training_) forge("trained_twice");
    if (!is_past_blanks_) forge("trained_in_a_blank");
    if (std::exchange(training_, true)) return;
    take_updater(line);
    if (line.contains("devices")) take_devices(line);
    for (const json& device : list_in(line, "models", limits_.devices))
      models_.push_back(device_in(json{{"device", device}}));
    if (!models_.empty()) seen_.device = seen_.model_device = models_.front();
    seen_.evaluator_device.reset();
    seen_.test_iterator.reset();
    for (const json& evaluator : list_in(line, "evaluators", limits_.devices)) take_evaluator(evaluator);
  }

  void take_of_training(const std::string& fact, const json& line, std::string_view numbers) {
    if (fact == "load_cifar") seen_.loaded_data = true;
    if (fact == "step") take_step(line, numbers);
    if (fact == "updated") end_update();
    if (fact == "evaluation")
      add(seen_.evaluations,
          EvaluationSeen{number(line, "loss"), number(line, "accuracy"), integer(member(line, "samples"))},
          limits_.calls);
  }

  void take_devices(const json& line) {
    seen_.devices.clear();
    for (const json& entry : list_in(line, "devices", limits_.devices))
      seen_.devices[text(member(entry, "name"))] = device_in(entry);
  }

  void take_updater(const json& line) {
    seen_.updater = text(member(line, "kind"));
    seen_.rule = text(member(line, "rule"));
    seen_.train_iterators.clear();
    for (const json& facts : list_in(line, "iterators", limits_.devices))
      seen_.train_iterators.push_back(iterator(facts));
  }

  void take_evaluator(const json& line) {
    seen_.evaluator_device = device_in(line);
    seen_.test_iterator = iterator(member(line, "iterator"));
  }

  void take_step(const json& line, std::string_view numbers) {
    Step step{.device = device_in(line), .pictures = pictures_in(line, "pictures")};
    step.parameters.resize(numbers.size() / sizeof(float));
    if (!numbers.empty()) std::memcpy(step.parameters.data(), numbers.data(), numbers.size());
    add(update_, std::move(step), limits_.devices);
  }

  void end_update() {
    std::sort(update_.begin(), update_.end(), [](const Step& a, const Step& b) { return a.device < b.device; });
    add(seen_.steps, std::exchange(update_, {}), limits_.calls);
  }

  /// Each model on pictures of its own iterator alone, and by the end on all of them.
  bool trains_on_its_iterators() const {
    if (!training_ || models_.size() != seen_.train_iterators.size()) return !training_ || seen_.steps.empty();
    for (std::size_t i = 0; i < models_.size(); ++i) {
      const IteratorSeen& iterator = seen_.train_iterators[i];
      std::set<std::int64_t> given(iterator.pictures.begin(), iterator.pictures.end()), trained;
      given.insert(iterator.not_counted.begin(), iterator.not_counted.end());
      for (const auto& update : seen_.steps)
        for (const Step& step : update)
          if (step.device == models_[i]) trained.insert(step.pictures.begin(), step.pictures.end());
      if (!std::includes(given.begin(), given.end(), trained.begin(), trained.end())) return false;
      if (trained_ && trained != given) return false;
    }
    return true;
  }

  const EvidenceLimits& limits_;
  bool is_past_blanks_, training_ = false, trained_ = false;
  RankSeen seen_;
  std::vector<int> models_;   // the devices of the models that are trained, in the iterators' order
  std::vector<Step> update_;  // what is known of the update under way
};

}  // namespace

EvidenceLimits limits_of(const RunData& data) {
  // Learners give devices the whole set, or the same share, several times over.
  const std::size_t pictures = 8 * data.sets.train->size();
  return {.pictures = pictures, .calls = 8 * pictures * std::size_t{epochs_of_a_run}, .parameters = data.parameters};
}

RankSeen read_rank(std::string_view written, const EvidenceLimits& limits, bool marked) {
  Reader reader(limits, marked);
  while (!written.empty()) {
    const std::size_t end = written.substr(0, bytes_of_line).find('\n');
    if (end == std::string_view::npos) {
      if (written.size() > bytes_of_line) reader.forge("evidence_too_much");
      break;  // half written
    }
    const json line = json::parse(written.substr(0, end), nullptr, false);
    written.remove_prefix(end + 1);
    try {
      const std::size_t bytes = reader.numbers_behind(line) * sizeof(float);
      if (bytes > written.size()) break;
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
