#include "worker/evidence.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "exercise/blanks.h"

namespace odori::grader {
namespace {

using nlohmann::json;

/// The facts of one rank, put together line by line.
class Reader {
 public:
  explicit Reader(std::string numbers) : numbers_(std::move(numbers)) {}

  void take(const json& line) {
    const std::string fact = line.at("fact");
    if (fact == "use_device") seen_.device = line.at("device");
    if (fact == "to_device") seen_.model_device = line.at("device");
    if (fact == "load_cifar") seen_.loaded_data = true;
    if (fact == "devices") take_devices(line);
    if (fact == "updater") take_updater(line);
    if (fact == "evaluator") take_evaluator(line);
    if (fact == "batch") append(step_of(line.at("device")).pictures, line.at("pictures"));
    if (fact == "parameters") take_parameters(line);
    if (fact == "updated") end_update();
    if (fact == "evaluation")
      seen_.evaluations.push_back({number(line, "loss"), number(line, "accuracy"), line.at("samples")});
    if (fact == "failure") seen_.error = line.at("sentence").get<std::string>();
    if (fact == "scatter") seen_.scatter_roots.push_back(line.at("root"));
    if (fact == "enter") seen_.collectives.push_back(line.at("collective"));
    if (fact == "enter" || fact == "leave") seen_.inside_collective = fact == "enter";
  }

  RankSeen seen() const { return seen_; }

 private:
  static void append(Pictures& to, const Pictures& pictures) { to.insert(to.end(), pictures.begin(), pictures.end()); }

  /// JSON has no infinity: the library writes null.
  static double number(const json& line, const char* key) {
    return line.at(key).is_null() ? std::numeric_limits<double>::quiet_NaN() : line.at(key).get<double>();
  }

  static IteratorSeen iterator(const json& facts) {
    return {facts.at("pictures"), facts.at("not_counted"), facts.at("batch_size"), facts.at("repeat") != 0};
  }

  void take_devices(const json& line) {
    seen_.devices.clear();
    for (const json& entry : line.at("devices")) seen_.devices[entry.at("name")] = entry.at("device");
  }

  void take_updater(const json& line) {
    seen_.updater = line.at("kind");
    seen_.rule = line.at("rule");
    seen_.train_iterators.clear();
    for (const json& facts : line.at("iterators")) seen_.train_iterators.push_back(iterator(facts));
  }

  void take_evaluator(const json& line) {
    seen_.evaluator_device = line.at("device");
    seen_.test_iterator = iterator(line.at("iterator"));
  }

  /// Devices work at the same time, so that their lines come in any order.
  void end_update() {
    std::sort(update_.begin(), update_.end(), [](const Step& a, const Step& b) { return a.device < b.device; });
    seen_.steps.push_back(std::exchange(update_, {}));
  }

  void take_parameters(const json& line) {
    const std::size_t at = line.at("at"), n = line.at("numbers");
    if (at > numbers_.size() || n > (numbers_.size() - at) / sizeof(float)) return;
    // Each was written once: lines that name the same ones again and again would fill the grader's memory.
    if ((taken_ += n * sizeof(float)) > numbers_.size()) return;
    std::vector<float>& parameters = step_of(line.at("device")).parameters;
    parameters.resize(n);
    std::memcpy(parameters.data(), numbers_.data() + at, n * sizeof(float));
  }

  Step& step_of(int device) {
    const auto found =
        std::find_if(update_.begin(), update_.end(), [device](const Step& step) { return step.device == device; });
    return found != update_.end() ? *found : update_.emplace_back(Step{.device = device});
  }

  std::string numbers_;
  std::size_t taken_ = 0;  // bytes of numbers_
  RankSeen seen_;
  std::vector<Step> update_;  // what is known of the update under way
};

}  // namespace

std::vector<RankSeen> read_evidence(const std::filesystem::path& folder, int n_ranks) {
  std::vector<RankSeen> ranks;
  for (int rank = 0; rank < n_ranks; ++rank) {
    Reader reader(read_file(folder / (std::to_string(rank) + ".bin")));
    std::ifstream lines(folder / (std::to_string(rank) + ".jsonl"));
    for (std::string line; std::getline(lines, line);) {
      try {
        reader.take(json::parse(line));
      } catch (const json::exception&) {
        // Half written, or not by the library: what the other lines say still holds.
      }
    }
    ranks.push_back(reader.seen());
  }
  return ranks;
}

}  // namespace odori::grader
