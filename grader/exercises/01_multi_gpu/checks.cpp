// SPDX-License-Identifier: Apache-2.0
// Task 1: one process, several devices.
#include <fmt/ranges.h>

#include <algorithm>

#include "checks/findings.h"

namespace odori::grader {
namespace {

// "For any number of devices" can't be seen from one number, nor "the flag's value" from one value, nor "after each
// epoch" from two.
const RunPlan three{.devices = 3}, two{.devices = 2, .batch_size = 5, .learning_rate = 0.025f, .seed = 1, .sum = true},
    five{.devices = 5, .batch_size = 3, .seed = 3, .epochs = 5},
    thirteen{.devices = 13, .batch_size = 3, .seed = {}, .sum = true},
    one{.devices = 1, .batch_size = 35, .learning_rate = 0.025f};

/// Everything has another value there.
const RunPlan& other_than(const RunPlan& plan) { return plan.learning_rate == three.learning_rate ? two : three; }

const RankSeen& process_of(const Evidence& evidence) {
  static const RankSeen nothing;
  return evidence.ranks.empty() ? nothing : evidence.ranks.front();
}
const RankSeen& process_of(const Situation& situation) { return process_of(situation.evidence()); }

bool exists(int device, int n) { return device >= 0 && device < n; }

Found no_such_device(int device, int n) {
  return found(device < 0 ? "device_below_0" : "no_such_device", {{"device", device}, {"n", n}, {"last", n - 1}});
}

// ---- Blank 1: the iterators

/// As many iterators as devices. Which iterator is first, and how each one shuffles, is free.
Found find_wrong_number(const Situation& situation) {
  const auto seen = process_of(situation).train_iterators.size();
  const auto n = static_cast<std::size_t>(situation.plan.devices);
  if (process_of(situation).updater.empty() || seen == n) return {};
  const auto there = [&](const RunPlan& plan) { return process_of(situation.runs.of(plan)).train_iterators.size(); };
  if (seen == 2 && there(three) == 2 && there(two) == 2) return found("iterators_always_two");
  return found(seen < n ? "iterators_too_few" : "iterators_too_many", {{"seen", seen}, {"n", n}});
}

/// Of the batches that the iterators hand out, or that one was to hand out and couldn't.
std::vector<std::int64_t> batch_sizes_of(const RankSeen& process) {
  std::vector<std::int64_t> sizes;
  for (const IteratorSeen& iterator : process.train_iterators) sizes.push_back(iterator.batch_size);
  if (sizes.empty() && process.refused_batch) sizes.push_back(*process.refused_batch);
  return sizes;
}

Found find_in_batches(const Situation& situation) {
  for (const IteratorSeen& iterator : process_of(situation).train_iterators)
    if (!iterator.repeat) return found("iterator_does_not_repeat");
  const int expected = situation.plan.batch_size;
  for (const std::int64_t size : batch_sizes_of(process_of(situation))) {
    if (size == expected) continue;
    const std::vector<std::int64_t> there = batch_sizes_of(process_of(situation.runs.of(other_than(situation.plan))));
    const bool written_down = !there.empty() && there.front() == size;
    return found(written_down ? "batch_size_written_down" : "batch_size_changed",
                 {{"seen", size}, {"expected", expected}});
  }
  return {};
}

/// Not blank 1's business alone: an updater can be given other iterators. The order within a share is free, and so are
/// the shares' seed and who gets which.
Found find_in_shares(const Situation& situation) {
  const RankSeen& process = process_of(situation);
  const RunData& data = situation.data();
  const int n = situation.plan.devices;
  std::vector<Images> shares;
  for (const IteratorSeen& iterator : process.train_iterators) shares.push_back(iterator.images);
  if (static_cast<int>(shares.size()) != n) return {};
  const std::size_t whole = data.sets.train->size(), share = whole / static_cast<std::size_t>(n);
  const Division seen = divide(shares, whole);
  if (is_test_set(situation, shares, process.steps))
    return found("test_data_trained_on", {{"test", data.sets.test->size()}, {"train", whole}});
  if (seen.all_the_same && seen.covered == whole)
    return found("whole_set_for_each_device", {{"whole", whole}, {"n", n}, {"epoch", whole * shares.size()}});
  if (seen.all_the_same) return found("same_share_for_all", {{"covered", seen.covered}, {"whole", whole}});
  if (seen.shared > 0) return found("shares_overlap", {{"shared", seen.shared}});
  if (seen.repeated > 0) return found("image_repeated", {{"repeated", seen.repeated}});
  if (seen.smallest != seen.largest)
    return found("shares_unequal", {{"smallest", seen.smallest}, {"largest", seen.largest}, {"share", share}});
  if (seen.smallest != share)
    return found("data_left_out", {{"left", whole - seen.covered}, {"whole", whole}, {"share", share}});
  if (seen.in_order) return found("shares_not_random", {{"n", n}});
  return seen.outside == 0 && follows_classes(shares, *data.sets.train) ? found("shares_by_class", {{"n", n}})
                                                                        : Found();
}

// ---- Blanks 2 to 5: the devices

/// Any device that there is with any --n-gpus may be the main one, if all blanks keep to it.
Found find_missing_main_device(const Situation& situation) {
  const int n = situation.plan.devices, main = process_of(situation).device.value_or(0);
  if (exists(main, n)) return {};
  if (n > 1) return no_such_device(main, n);
  return found("main_device_not_always_there", {{"device", main}, {"n", n}, {"last", n - 1}});
}

bool is_in(const std::map<std::string, int>& devices, int device) {
  return std::any_of(devices.begin(), devices.end(), [=](const auto& entry) { return entry.second == device; });
}

/// A device that stands in the map under two names.
Found find_device_twice(const std::map<std::string, int>& devices) {
  for (const auto& [name, device] : devices)
    for (const auto& [other, same] : devices)
      if (name < other && device == same)
        return found("device_twice", {{"device", device}, {"one", name}, {"other", other}, {"against", 4}});
  return {};
}

Found find_model_elsewhere(const Situation& situation) {
  const RankSeen& process = process_of(situation);
  const int n = situation.plan.devices;
  const std::optional<int> model = process.model_device ? process.model_device : process.device;
  if (!model) return {};
  if (!exists(*model, n)) return no_such_device(*model, n);
  const auto main = process.devices.find("main");
  if (main == process.devices.end() || main->second == *model) return {};
  // Where the other entries make room for this device, the one called main is the odd one out: blank 4's.
  if (!is_in(process.devices, *model) && find_device_twice(process.devices)) return {};
  return found("model_not_on_main_device", {{"device", *model}, {"main", main->second}, {"against", 4}});
}

Found find_in_main_entry(const Situation& situation) {
  const RankSeen& process = process_of(situation);
  const int n = situation.plan.devices;
  if (process.devices.empty() && process.updater.empty()) return {};  // it didn't come that far
  const auto main = process.devices.find("main");
  if (main == process.devices.end()) {
    std::vector<std::string> names;
    for (const auto& [name, device] : process.devices) names.push_back('"' + name + '"');
    return found("main_name_missing", {{"names", names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "))}});
  }
  if (process.device && main->second != *process.device)
    return found("main_is_another_device", {{"device", main->second}, {"main", *process.device}, {"against", 3}});
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

/// `"gpu" + i` begins i letters later in the text instead of adding a number to it: "pu", "u", and soon what lies
/// behind the text. So each name is the one before it without its first letter.
Found find_cut_names(const std::map<std::string, int>& devices) {
  std::map<int, std::string> names;
  for (const auto& [name, device] : devices)
    if (name != "main") names.emplace(device, name);
  if (names.size() < 2) return {};
  const std::string &first = names.begin()->second, &second = std::next(names.begin())->second;
  if (first.empty() || first.substr(1) != second || first.front() == second[0]) return {};
  return found("names_cut", {{"first", first}, {"second", second}});
}

/// Devices are missing: which mistake leaves out just these?
Found missing_devices(const Situation& situation, const std::vector<int>& missing) {
  const int n = situation.plan.devices;
  const std::vector<int> seen = others_of(situation.evidence());
  if (seen.empty()) return found("other_devices_missing", {{"n", n}});
  if (n == 3 && seen == std::vector{2}) return found("same_name_for_all", {{"device", 2}, {"n", n}});
  if (n == 3 && seen == std::vector{1})
    return others_of(situation.runs.of(two)).empty() ? found("last_device_missing", {{"n", n}, {"last", n - 1}})
                                                     : found("only_two_devices");
  return found("devices_missing", {{"n", n}, {"missing", list(missing)}});
}

/// Names are free, as long as they differ, and go on for any number of devices.
Found find_in_other_devices(const Situation& situation) {
  const auto& devices = process_of(situation).devices;
  const int n = situation.plan.devices;
  if (!devices.contains("main")) return {};
  for (const int device : others_of(situation.evidence()))
    if (!exists(device, n)) return found("device_too_many", {{"device", device}, {"n", n}, {"last", n - 1}});
  if (Found twice = find_device_twice(devices)) return twice;
  if (Found cut = find_cut_names(devices)) return cut;
  std::vector<int> missing;
  for (int device = 0; device < n; ++device)
    if (!is_in(devices, device)) missing.push_back(device);
  return missing.empty() ? Found() : missing_devices(situation, missing);
}

// ---- Blank 6: the updater

/// Any kind of updater will do that trains on every device, and gets the right weights: that is looked at below.
Found find_idle_devices(const Situation& situation) {
  const RankSeen& process = process_of(situation);
  const int n = situation.plan.devices;
  const std::size_t used = !process.steps.empty()    ? process.steps.front().size()
                           : process.updater.empty() ? static_cast<std::size_t>(n)
                                                     : process.train_iterators.size();
  if (used == 1 && n > 1) return found("updater_for_one_device", {{"n", n}});
  if (used < static_cast<std::size_t>(n)) return found("updater_misses_devices", {{"seen", used}, {"n", n}});
  return {};
}

// ---- Blank 7: the evaluator

Found find_evaluated_elsewhere(const Situation& situation) {
  const RankSeen& process = process_of(situation);
  const int n = situation.plan.devices;
  if (!process.evaluator_device || !process.model_device) return {};
  if (!exists(*process.evaluator_device, n)) return no_such_device(*process.evaluator_device, n);
  if (*process.evaluator_device == *process.model_device) return {};
  return found("evaluated_on_another_device",
               {{"device", *process.evaluator_device}, {"main", *process.model_device}, {"against", 3}});
}

// ---- All blanks

Found find_in_weights(const Situation& situation) {
  const Updates& updates = process_of(situation).steps;
  if (const auto apart = find_disagreement(updates)) {
    const auto& steps = updates[static_cast<std::size_t>(apart->update) - 1];
    return found("devices_disagree", {{"update", apart->update},
                                      {"one", steps[static_cast<std::size_t>(apart->one)].device},
                                      {"other", steps[static_cast<std::size_t>(apart->other)].device}});
  }
  const Found wrong = find_in_updates(situation, other_than(situation.plan),
                                      [](const Evidence& evidence) { return process_of(evidence).steps; });
  RunPlan by_other_rule = situation.plan;
  by_other_rule.sum = !by_other_rule.sum;
  if (wrong && !find_wrong_weights(situation.data(), by_other_rule, updates))
    return found(by_other_rule.sum ? "gradients_summed" : "gradient_rule_left_out", {{"n", situation.plan.devices}});
  return wrong;
}

Found find_in_evaluation(const Situation& situation) {
  return find_wrong_evaluation(process_of(situation), situation.data());
}

}  // namespace

Exam exam_of_multi_gpu() {
  return {{three, two, thirteen, one, five},
          {{1, "AsManyIteratorsAsDevices", find_wrong_number},
           {1, "BatchesFitTheModel", find_in_batches},
           {1, "SharesDivideTheTrainingSet", find_in_shares},
           {2, "MainDeviceExists", find_missing_main_device},
           {3, "ModelIsSetUpOnTheMainDevice", find_model_elsewhere},
           {4, "MainDeviceHasItsName", find_in_main_entry},
           {5, "EveryDeviceIsInTheMapOnce", find_in_other_devices},
           {6, "EveryDeviceTrains", find_idle_devices},
           {7, "EvaluatedOnTheMainDevice", find_evaluated_elsewhere},
           {0, "TrainsToTheEnd", find_early_end},
           {6, "WeightsAreTheGraders", find_in_weights},
           {7, "EvaluationIsTheGraders", find_in_evaluation},
           {0, "EpochsGoThroughAllImages", find_uneven_epochs},
           {0, "EvidenceIsOfOneTraining", find_forgery}}};
}

}  // namespace odori::grader
