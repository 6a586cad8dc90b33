// Task 1: one process, several devices. Every blank is tried on three devices and on two, since "for any number of
// them" can't be seen from one number; a main device other than the first also on one.
#include <fmt/ranges.h>

#include <algorithm>

#include "checks/division.h"
#include "checks/findings.h"

namespace odori::grader {
namespace {

const RunPlan three{.devices = 3}, two{.devices = 2}, one{.devices = 1};

const RankSeen& process_of(const Evidence& evidence) {
  static const RankSeen nothing;
  return evidence.ranks.empty() ? nothing : evidence.ranks.front();
}

bool exists(int device, int n) { return device >= 0 && device < n; }

Found no_such_device(int device, int n) {
  return found("no_such_device", {{"device", device}, {"n", n}, {"last", n - 1}});
}

// ---- Blank 1: the iterators

/// As many iterators as devices. Which iterator is first, and how each one shuffles, is free.
Found find_wrong_number(Runs& runs) {
  const auto seen = [&](const RunPlan& plan) { return process_of(runs.of(plan)).train_iterators.size(); };
  const std::size_t on_three = seen(three);
  if (process_of(runs.of(three)).updater.empty()) return {};
  if (on_three == 2 && seen(two) == 2) return found("iterators_always_two");
  for (const RunPlan& plan : {three, two}) {
    if (process_of(runs.of(plan)).updater.empty()) continue;
    const auto n = static_cast<std::size_t>(plan.devices);
    if (seen(plan) == n) continue;
    return found(seen(plan) < n ? "iterators_too_few" : "iterators_too_many", {{"seen", seen(plan)}, {"n", n}});
  }
  return {};
}

Found find_in_batches(const Evidence& evidence, const RunData& data, int) {
  for (const IteratorSeen& iterator : process_of(evidence).train_iterators) {
    if (iterator.batch_size != data.batch_size)
      return found("batch_size_changed", {{"seen", iterator.batch_size}, {"expected", data.batch_size}});
    if (!iterator.repeat) return found("iterator_does_not_repeat");
  }
  return {};
}

/// Also blank 6's business: an updater can be given other iterators than those of blank 1. The order within a share is
/// free, and so are the shares' seed and who gets which.
Found find_in_shares(const Evidence& evidence, const RunData& data, int n) {
  const RankSeen& process = process_of(evidence);
  std::vector<Pictures> shares;
  for (const IteratorSeen& iterator : process.train_iterators) shares.push_back(iterator.pictures);
  if (static_cast<int>(shares.size()) != n) return {};
  const std::size_t whole = data.sets.train->size(), share = whole / static_cast<std::size_t>(n);
  const Division seen = divide(shares, whole);
  if (is_test_set(data, shares, process.steps))
    return found("test_data_trained_on", {{"test", data.sets.test->size()}, {"train", whole}});
  if (seen.all_the_same && seen.covered == whole)
    return found("whole_set_for_each_device", {{"whole", whole}, {"n", n}, {"epoch", whole * shares.size()}});
  if (seen.all_the_same) return found("same_share_for_all", {{"covered", seen.covered}, {"whole", whole}});
  if (seen.shared > 0) return found("shares_overlap", {{"shared", seen.shared}});
  if (seen.repeated > 0) return found("picture_repeated", {{"repeated", seen.repeated}});
  if (seen.smallest != seen.largest)
    return found("shares_unequal", {{"smallest", seen.smallest}, {"largest", seen.largest}, {"share", share}});
  if (seen.smallest != share)
    return found("data_left_out", {{"left", whole - seen.covered}, {"whole", whole}, {"share", share}});
  if (seen.in_order || seen.every_nth) return found("shares_not_random", {{"n", n}});
  return {};
}

// ---- Blanks 2 to 5: the devices

/// Any device that there is with any --n_gpus may be the main one, if all blanks keep to it.
Found find_missing_main_device(Runs& runs) {
  bool always_first = true;
  for (const RunPlan& plan : {three, two}) {
    const int main = process_of(runs.of(plan)).device.value_or(0);
    if (!exists(main, plan.devices)) return no_such_device(main, plan.devices);
    always_first &= main == 0;
  }
  if (always_first) return {};
  const Evidence& alone = runs.of(one);
  const int main = process_of(alone).device.value_or(0);
  if (exists(main, 1)) return find_untrained(alone, runs.data());
  return found("main_device_not_always_there", {{"device", main}, {"n", 1}, {"last", 0}});
}

bool is_in(const std::map<std::string, int>& devices, int device) {
  return std::any_of(devices.begin(), devices.end(), [=](const auto& entry) { return entry.second == device; });
}

/// A device that stands in the map under two names.
Found find_device_twice(const std::map<std::string, int>& devices) {
  for (const auto& [name, device] : devices)
    for (const auto& [other, same] : devices)
      if (name < other && device == same)
        return found("device_twice", {{"device", device}, {"one", name}, {"other", other}});
  return {};
}

Found find_model_elsewhere(const Evidence& evidence, const RunData&, int n) {
  const RankSeen& process = process_of(evidence);
  const std::optional<int> model = process.model_device ? process.model_device : process.device;
  if (!model) return {};
  if (!exists(*model, n)) return no_such_device(*model, n);
  const auto main = process.devices.find("main");
  if (main == process.devices.end() || main->second == *model) return {};
  // Where the other entries make room for this device, the one called main is the odd one out: blank 4's.
  if (!is_in(process.devices, *model) && find_device_twice(process.devices)) return {};
  return found("model_not_on_main_device", {{"device", *model}, {"main", main->second}});
}

Found find_in_main_entry(const Evidence& evidence, const RunData&, int n) {
  const RankSeen& process = process_of(evidence);
  if (process.devices.empty() && process.updater.empty()) return {};  // it didn't come that far
  const auto main = process.devices.find("main");
  if (main == process.devices.end()) {
    std::vector<std::string> names;
    for (const auto& [name, device] : process.devices) names.push_back('"' + name + '"');
    return found("main_name_missing", {{"names", names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "))}});
  }
  if (process.device && main->second != *process.device)
    return found("main_is_another_device", {{"device", main->second}, {"main", *process.device}});
  if (Found twice = find_device_twice(process.devices)) return twice;
  for (const auto& [name, device] : process.devices)
    if (!exists(device, n)) return no_such_device(device, n);
  return {};
}

/// The devices in the map besides the main one.
std::vector<int> others_of(const Evidence& evidence) {
  std::vector<int> others;
  for (const auto& [name, device] : process_of(evidence).devices)
    if (name != "main") others.push_back(device);
  return others;
}

/// Devices are missing: which mistake leaves out just these?
Found missing_devices(Runs& runs, int n, const std::vector<int>& missing) {
  const std::vector<int> seen = others_of(runs.of(three));
  if (seen.empty()) return found("other_devices_missing", {{"n", 3}});
  if (n == 3 && seen == std::vector{2}) return found("same_name_for_all", {{"device", 2}});
  if (n == 3 && seen == std::vector{1})
    return others_of(runs.of(two)).empty() ? found("last_device_missing", {{"n", 3}, {"last", 2}})
                                           : found("only_two_devices");
  return found("devices_missing", {{"n", n}, {"missing", list(missing)}});
}

/// Names are free, as long as they differ.
Found find_in_other_devices(Runs& runs) {
  for (const RunPlan& plan : {three, two}) {
    const auto& devices = process_of(runs.of(plan)).devices;
    if (!devices.contains("main")) continue;
    const int n = plan.devices;
    for (const int device : others_of(runs.of(plan)))
      if (!exists(device, n)) return found("device_too_many", {{"device", device}, {"n", n}, {"last", n - 1}});
    if (Found twice = find_device_twice(devices)) return twice;
    std::vector<int> missing;
    for (int device = 0; device < n; ++device)
      if (!is_in(devices, device)) missing.push_back(device);
    if (!missing.empty()) return missing_devices(runs, n, missing);
  }
  return {};
}

// ---- Blank 6: the updater

/// Any kind of updater will do that trains on every device, and gets the right weights: that is looked at below.
Found find_idle_devices(const Evidence& evidence, const RunData&, int n) {
  const RankSeen& process = process_of(evidence);
  const std::size_t used = !process.steps.empty()    ? process.steps.front().size()
                           : process.updater.empty() ? static_cast<std::size_t>(n)
                                                     : process.train_iterators.size();
  if (used == 1) return found("updater_for_one_device", {{"n", n}});
  if (used < static_cast<std::size_t>(n)) return found("updater_misses_devices", {{"seen", used}, {"n", n}});
  return {};
}

/// Not giving the rule is right too: the mean is the default, and what args.gradient_rule asks for here.
Found find_wrong_rule(const Evidence& evidence, const RunData&, int n) {
  if (process_of(evidence).rule == "sum") return found("gradients_summed", {{"n", n}});
  return {};
}

// ---- Blank 7: the evaluator

Found find_evaluated_elsewhere(const Evidence& evidence, const RunData&, int n) {
  const RankSeen& process = process_of(evidence);
  if (!process.evaluator_device || !process.model_device) return {};
  if (!exists(*process.evaluator_device, n)) return no_such_device(*process.evaluator_device, n);
  if (*process.evaluator_device == *process.model_device) return {};
  return found("evaluated_on_another_device", {{"device", *process.evaluator_device}, {"main", *process.model_device}});
}

// ---- All blanks

Found find_in_weights(const Evidence& evidence, const RunData& data, int) {
  const Updates& updates = process_of(evidence).steps;
  if (const auto apart = find_disagreement(updates)) {
    const auto& steps = updates[static_cast<std::size_t>(apart->update) - 1];
    return found("devices_disagree", {{"update", apart->update},
                                      {"one", steps[static_cast<std::size_t>(apart->one)].device},
                                      {"other", steps[static_cast<std::size_t>(apart->other)].device}});
  }
  const auto wrong = find_wrong_weights(data, updates);
  return wrong ? explain(*wrong, data) : Found();
}

using Find = Found (*)(const Evidence&, const RunData&, int n_devices);

Check on_three_and_two(int blank, const char* name, Find find) {
  return {blank,
          name,
          [find](Runs& runs) {
            const Found on_three = find(runs.of(three), runs.data(), 3);
            return on_three ? on_three : find(runs.of(two), runs.data(), 2);
          },
          {three, two}};
}

}  // namespace

std::vector<Check> checks_of_multi_gpu() {
  std::vector<Check> checks{
      {1, "AsManyIteratorsAsDevices", find_wrong_number, {three, two}},
      on_three_and_two(1, "BatchesFitTheModel", find_in_batches),
      on_three_and_two(1, "SharesDivideTheTrainingSet", find_in_shares),
      {2, "MainDeviceExists", find_missing_main_device, {three, two}},
      on_three_and_two(3, "ModelIsSetUpOnTheMainDevice", find_model_elsewhere),
      on_three_and_two(4, "MainDeviceHasItsName", find_in_main_entry),
      {5, "EveryDeviceIsInTheMapOnce", find_in_other_devices, {three, two}},
      on_three_and_two(6, "EveryDeviceTrains", find_idle_devices),
      on_three_and_two(6, "EveryDeviceTrainsOnItsShare", find_in_shares),
      on_three_and_two(6, "GradientsAreAveraged", find_wrong_rule),
      on_three_and_two(7, "EvaluatedOnTheMainDevice", find_evaluated_elsewhere),
  };
  for (int blank = 1; blank <= 7; ++blank) {
    checks.push_back(on_three_and_two(blank, "TrainsToTheEnd", [](const Evidence& evidence, const RunData& data, int) {
      return find_early_end(evidence, data);
    }));
    checks.push_back(on_three_and_two(blank, "WeightsAreTheGraders", find_in_weights));
    checks.push_back(
        on_three_and_two(blank, "EvaluationIsTheGraders", [](const Evidence& evidence, const RunData& data, int) {
          return find_wrong_evaluation(process_of(evidence), data);
        }));
    checks.push_back(
        on_three_and_two(blank, "EvidenceIsOfOneTraining",
                         [](const Evidence& evidence, const RunData&, int) { return find_forgery(evidence); }));
  }
  return checks;
}

}  // namespace odori::grader
