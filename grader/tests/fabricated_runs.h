// SPDX-License-Identifier: Apache-2.0
// Runs and programs that never were, and an exam for them.
#pragma once

#include <csignal>
#include <cstring>
#include <stdexcept>

#include "checks/judge.h"
#include "errors/error.h"

namespace odori::grader {

inline const RunPlan two{.devices = 2}, three{.devices = 3};

/// Runs of one program: how they end, and the main device with two devices and with three.
class FabricatedRuns : public Runs {
 public:
  explicit FabricatedRuns(Ending ending = Ending::finished, int device = 0, std::optional<int> on_three = {})
      : on_two_(evidence(ending, device)), on_three_(evidence(ending, on_three.value_or(device))) {}
  /// Ranks that call different things.
  static FabricatedRuns apart(int device) {
    FabricatedRuns runs(Ending::crashed, device);
    for (Evidence* evidence : {&runs.on_two_, &runs.on_three_}) {
      evidence->ranks.resize(2);
      evidence->ranks[0].collectives = {"update()"};
      evidence->ranks[1].collectives = {"evaluate()"};
    }
    return runs;
  }
  const Evidence& of(const RunPlan& plan) override {
    ++asked;
    return plan == two ? on_two_ : on_three_;
  }
  const RunData& data() const override { return data_; }
  void prepare(const std::vector<RunPlan>& plans) override {
    prepared += static_cast<int>(plans.size());
    if (asked == 0) prepared_before_asked = prepared;
  }
  int asked = 0, prepared = 0, prepared_before_asked = 0;

 private:
  static Evidence evidence(Ending ending, int device) {
    return {.ending = ending, .detail = "detail", .ranks = {{.device = device}}};
  }
  Evidence on_two_, on_three_;
  RunData data_;
};

/// Right when all three checks ask, then wrong once, then right again, ...
class ChangingRuns : public FabricatedRuns {
 public:
  const Evidence& of(const RunPlan& plan) override { return (asked_++ % 4 < 3 ? right_ : wrong_).of(plan); }

 private:
  int asked_ = 0;
  FabricatedRuns right_, wrong_{Ending::finished, 1};
};

/// A rank divides by 0 on device 1, which a check has words for as well.
class DividingRuns : public FabricatedRuns {
 public:
  const Evidence& of(const RunPlan&) override { return evidence_; }

 private:
  const Evidence evidence_{.ending = Ending::crashed, .detail = strsignal(SIGFPE), .ranks = {{.device = 1}}};
};

/// Device 0 is right.
inline std::optional<Finding> device_is_zero(const Situation& situation) {
  const int device = *situation.evidence().ranks.at(0).device;
  return device == 0 ? std::nullopt
                     : std::optional(Finding{"wrong_device", {{"seen", std::to_string(device)}, {"against", "2"}}});
}
inline std::optional<Finding> device_is_not_nine(const Situation& situation) {
  return *situation.evidence().ranks.at(0).device == 9 ? std::optional(Finding{"nine", {}}) : std::nullopt;
}

inline const Exam exam{{two, three},
                       {{1, "First", device_is_zero}, {2, "Second", device_is_not_nine}, {0, "All", device_is_zero}}};

/// Blank 1 asks for device 9. The others choose device 1 everywhere: blank 2 as the main one, blanks 3 and 4 where the
/// model and the evaluator are. The kit's blank 2 chooses device 0, and its others follow.
struct OwnDevice : public FabricatedRuns {
  explicit OwnDevice(const std::set<int>& blanks, int evaluator = 1) {
    const int main = blanks.contains(2) ? 1 : 0;
    evidence_ = {.ending = Ending::finished,
                 .ranks = {{.device = blanks.contains(1) ? 9 : 0,
                            .model_device = blanks.contains(3) ? 1 : main,
                            .evaluator_device = blanks.contains(4) ? evaluator : main,
                            .scatter_roots = {main}}}};
  }
  const Evidence& of(const RunPlan&) override { return evidence_; }

 private:
  Evidence evidence_;
};

inline std::optional<Finding> if_not(bool right, const char* key) {
  return right ? std::nullopt : std::optional(Finding{key, {}});
}

inline const Exam own_device{{two, three},
                             {{1, "Nine", device_is_not_nine},
                              {3, "Model",
                               [](const Situation& situation) {
                                 const RankSeen& rank = situation.evidence().ranks.at(0);
                                 return if_not(rank.model_device == rank.scatter_roots.at(0), "model_elsewhere");
                               }},
                              {4, "Evaluator", [](const Situation& situation) {
                                 const RankSeen& rank = situation.evidence().ranks.at(0);
                                 return if_not(rank.evaluator_device == rank.scatter_roots.at(0),
                                               "evaluated_elsewhere");
                               }}}};

using Blanks = std::set<int>;
using OfSet = std::function<Runs*(const Blanks&)>;

/// Programs that are never built.
struct FabricatedPrograms : public AnswerPrograms {
  FabricatedPrograms(Runs* all, std::map<int, Runs*> of_blanks, std::map<int, Blanks> of_several = {},
                     OfSet others = {})
      : whole(all), variants(std::move(of_blanks)), holds(std::move(of_several)), of_set(std::move(others)) {
    for (const auto& [blank, runs] : variants) filled.insert(blank), holds.try_emplace(blank, Blanks{blank});
  }
  BlankBuild alone(int blank) override { return {holds.at(blank), {}, 0}; }
  Blanks together() override { return whole ? filled : Blanks(); }
  void prepare(const std::vector<Blanks>& sets) override { prepared.insert(sets.begin(), sets.end()); }
  void drop_prepared() override { prepared.clear(); }
  Runs* runs_of(const Blanks& blanks) override {
    if (blanks == filled && first && filled.size() > 1) return first = false, whole;
    for (const auto& [blank, runs] : variants)
      if (holds.at(blank) == blanks) return runs;
    built.push_back(blanks);
    return of_set ? of_set(blanks) : nullptr;
  }

  Runs* whole;                    // of all blanks; null: they do not compile together
  std::map<int, Runs*> variants;  // of each blank alone
  std::map<int, Blanks> holds;    // whose texts a variant holds
  OfSet of_set;                   // of other programs
  Blanks filled;
  bool first = true;               // the whole was not asked for yet
  std::vector<Blanks> built = {};  // other programs that were asked for
  std::set<Blanks> prepared = {};  // and were not dropped since
};

}  // namespace odori::grader
