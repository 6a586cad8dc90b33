// SPDX-License-Identifier: Apache-2.0
#include "checks/judge.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "checks/findings.h"

namespace odori::grader {
namespace {

class Judging {
 public:
  Judging(const std::set<int>& filled, const std::set<int>& judged_alone, AnswerPrograms& programs, const Exam& exam,
          const std::function<void(int, const Outcome&)>& tell)
      : filled_(filled), judged_alone_(judged_alone), programs_(programs), exam_(exam), tell_(tell) {}

  Runs* judge_all() {
    // Most wrong answers fail in the first test case: until it has passed, the variants are built while the whole runs.
    prepare_variants();
    Runs* whole = filled_.size() > 1 ? programs_.runs_of(filled_) : nullptr;
    Blanks alone = filled_;  // blanks that also have to pass with the kit's answers
    if (whole && passes(*whole)) {
      std::erase_if(alone, [this](int blank) { return !judged_alone_.contains(blank); });
      // One that compiles beside the learner's others only (it names its variable otherwise, say) is right with them.
      std::erase_if(alone, [this](int blank) { return !programs_.alone(blank).compiles(); });
      for (const int blank : filled_)
        if (!alone.contains(blank)) tell(blank, {});
      for (const int blank : build_alone(alone)) judge_alone(blank, 0);
    } else {
      if (whole) whole->cancel();
      prepare_variants();
      const Blanks together = programs_.together();
      if (together != filled_) whole = together.empty() ? nullptr : programs_.runs_of(together);
      judge_together(build_alone(filled_), whole);
      whole = nullptr;
    }
    if (n_wrong_ > 0) return nullptr;
    return whole ? whole : programs_.runs_of(filled_);
  }

 private:
  using Blanks = std::set<int>;
  using Failures = std::map<int, Failure>;  // by blank

  /// Failures that nobody is to blame for, since they don't come again: a machine that stood still, say.
  static constexpr int most_unconfirmed = 3;
  /// Sets of blanks that are tried for one that is right together.
  static constexpr std::size_t most_sets = 8;

  void prepare_variants() {
    for (const int blank : filled_) programs_.prepare({{blank}});
  }
  bool passes(Runs& whole) {
    whole.prepare(exam_.situations);
    if (find_failure(whole, exam_, 0, 0, 1)) return false;
    programs_.drop_prepared();
    return !find_failure(whole, exam_, 0, 1, exam_.situations.size());
  }

  /// Tells of those that do not compile, and returns the others.
  Blanks build_alone(const Blanks& blanks) {
    Blanks compiled;
    for (const int blank : blanks) {
      BlankBuild build = programs_.alone(blank);
      if (build.failure) {
        tell(blank, {Verdict::compile, std::move(build.failure)});
      } else if (build.needs != 0) {
        tell(blank, {Verdict::not_checked, Finding{"needs_other_blank", {{"other", std::to_string(build.needs)}}}});
      } else {
        holds_[blank] = std::move(build.blanks);
        compiled.insert(blank);
      }
    }
    return compiled;
  }

  /// Of the program of a blank alone.
  Runs& runs_of(int blank) {
    Runs*& runs = variants_[blank];
    if (!runs) runs = programs_.runs_of(holds_.at(blank));
    return *runs;
  }

  void tell(int blank, const Outcome& outcome) {
    n_wrong_ += outcome.verdict == Verdict::pass ? 0 : 1;
    tell_(blank, outcome);
  }
  /// With what the compiler's own checks say of a crash by a pointer.
  void tell_failure(int blank, Failure failure) {
    auto& finding = failure.outcome.finding;
    if (finding && finding->key == "crash_pointer")
      if (const auto why = programs_.find_null_pointer(holds_.at(blank), exam_.situations[failure.situation]))
        if (finding->values.try_emplace("note", why->key).second)
          finding->values.insert(why->values.begin(), why->values.end());
    tell(blank, failure.outcome);
  }

  /// Of the whole, and of what is left of it when blanks that are wrong have been taken out.
  void judge_together(Blanks blanks, Runs* program) {
    std::size_t first = 0;  // what was right with the learner's other blanks needs no second look
    int unconfirmed = 0;
    while (program) {
      const auto failure = find_failure(*program, exam_, 0, first, exam_.situations.size());
      if (!failure) return tell_all(blanks, {});
      if (failure->outcome.verdict == Verdict::environment) return tell_all(blanks, failure->outcome);
      first = failure->situation;
      program->cancel();
      Failures wrong = find_wrong_alone(blanks, first);
      Runs* rest = wrong.empty() ? nullptr : spare_right_together(blanks, wrong, *program, *failure);
      if (wrong.empty()) {
        wrong = find_disagreeing({blanks.begin(), blanks.end()}, first, program);
        if (!wrong.empty()) wrong = find_wrong_later(blanks, std::move(wrong), first + 1);
      }
      if (wrong.empty() && ++unconfirmed < most_unconfirmed) continue;
      if (wrong.empty()) return tell_all(blanks, {Verdict::environment, Finding{"not_the_same_again", {}}});
      for (auto& [blank, its] : wrong) {
        blanks.erase(blank);
        note_other(blank, its.outcome.finding, wrong);
        tell_failure(blank, its);
      }
      judge_dependents(blanks, wrong, first);
      if (blanks.size() < 2) break;
      program = rest ? rest : programs_.runs_of(blanks);
    }
    for (const int blank : blanks) judge_alone(blank, first);
  }

  /// A message may compare with another blank ("against"), where the kit's answer stood if the learner's is wrong too.
  static void note_other(int blank, std::optional<Finding>& finding, const Failures& wrong) {
    if (!finding) return;
    const auto against = finding->values.find("against");
    const int other = against == finding->values.end() ? blank : std::stoi(against->second);
    if (other != blank && wrong.contains(other)) finding->values.try_emplace("note", "beside_the_kits");
  }

  void tell_all(const Blanks& blanks, const Outcome& outcome) {
    for (const int blank : blanks) tell(blank, outcome);
  }

  /// How a blank fails alone, from this situation on.
  std::optional<Failure> find_failure_alone(int blank, std::size_t first) {
    Runs& runs = runs_of(blank);
    auto failure = find_failure(runs, exam_, blank, first, exam_.situations.size());
    runs.cancel();
    return failure;
  }
  void judge_alone(int blank, std::size_t first) {
    if (auto failure = find_failure_alone(blank, first))
      tell_failure(blank, std::move(*failure));
    else
      tell(blank, {});
  }

  /// Those that fail alone in this situation. One that uses names of another one that fails can't be judged.
  Failures find_wrong_alone(const Blanks& blanks, std::size_t situation) {
    for (const int blank : blanks) runs_of(blank).prepare({exam_.situations[situation]});
    Failures wrong;
    for (const int blank : blanks) {
      auto failure = find_failure(runs_of(blank), exam_, blank, situation, situation + 1);
      if (!failure) continue;
      if (const int other = used_among(blank, wrong)) failure->outcome = needs(other);
      wrong[blank] = std::move(*failure);
    }
    return wrong;
  }

  /// What is wrong with the kit's answers may be right with the learner's own. Of those that fail alone, the ones whose
  /// checks find nothing in the whole are tried with all that may be right, the largest set first; a set that is right
  /// is taken out of `wrong`. If only one fails alone, and not in the whole, one of the others is wrong there. Returns
  /// the program of the blanks that are left; none if no set is right.
  Runs* spare_right_together(const Blanks& blanks, Failures& wrong, Runs& whole, const Failure& of_whole) {
    const RunPlan& plan = exam_.situations[of_whole.situation];
    Blanks doubtful, certain;
    for (const auto& [blank, failure] : wrong) {
      const Failure seen = try_check(*failure.check, whole, plan);
      (seen.settled || seen.outcome.verdict == failure.outcome.verdict ? certain : doubtful).insert(blank);
    }
    if (doubtful.empty()) return nullptr;
    Blanks suspects = doubtful;
    if (wrong.size() == 1) {
      suspects = blanks;
      suspects.erase(*doubtful.begin());
    }
    const std::vector<Blanks> sets = sets_without(blanks, certain, suspects, doubtful);
    programs_.prepare(sets);
    for (const Blanks& set : sets) {
      Runs* const program = programs_.runs_of(set);
      if (!program || find_failure(*program, exam_, 0, of_whole.situation, of_whole.situation + 1)) continue;
      std::erase_if(wrong, [&set](const auto& entry) { return set.contains(entry.first); });
      for (const int blank : suspects)
        if (!set.contains(blank) && used_among(blank, wrong) == 0) wrong.try_emplace(blank, of_whole);
      return program;
    }
    return nullptr;
  }

  /// All blanks but `certain` and some of `suspects`, fewer of those first and the last ones first; with one of
  /// `wanted` at least.
  std::vector<Blanks> sets_without(const Blanks& blanks, const Blanks& certain, const Blanks& suspects,
                                   const Blanks& wanted) const {
    std::vector<unsigned> choices(std::size_t{1} << suspects.size());  // a bit for each suspect, the last one's lowest
    std::iota(choices.begin(), choices.end(), 0u);
    std::ranges::stable_sort(choices, {}, [](unsigned choice) { return std::popcount(choice); });
    std::vector<Blanks> sets;
    for (const unsigned choice : choices) {
      Blanks out = certain, set;
      auto bit = static_cast<unsigned>(choices.size());
      for (const int blank : suspects)
        if (choice & (bit /= 2)) out.insert(blank);
      if (out.empty()) continue;
      for (const int blank : blanks)
        if (!out.contains(blank) && used_among(blank, out) == 0) set.insert(blank);
      const bool holds_wanted = std::ranges::any_of(wanted, [&](int blank) { return set.contains(blank); });
      if (set.size() > 1 && holds_wanted && sets.size() < most_sets) sets.push_back(std::move(set));
    }
    return sets;
  }

  /// Blanks that are left and use names of a wrong one are right only if they are so beside it.
  void judge_dependents(Blanks& blanks, const Failures& wrong, std::size_t first) {
    for (const int blank : Blanks(blanks)) {
      const int other = used_among(blank, wrong);
      if (other == 0) continue;
      blanks.erase(blank);
      tell(blank, find_failure_alone(blank, first) ? needs(other) : Outcome{});
    }
  }

  /// A blank of these whose names this one uses; 0 if there is none.
  int used_among(int blank, const auto& wrong) const {
    const Blanks& held = holds_.at(blank);
    const auto used = std::ranges::find_if(held, [&](int other) { return other != blank && wrong.contains(other); });
    return used == held.end() ? 0 : *used;
  }
  static Outcome needs(int other) {
    return {Verdict::not_checked, Finding{"needs_right_blank", {{"other", std::to_string(other)}}}};
  }

  /// Of blanks that are right alone and failed together, the first that fails with those before it. None if all of them
  /// are right together this time: then `program` becomes the one that is.
  Failures find_disagreeing(const std::vector<int>& blanks, std::size_t situation, Runs*& program) {
    std::vector<Blanks> sets;
    for (std::size_t n = 2; n <= blanks.size(); ++n)
      sets.emplace_back(blanks.begin(), blanks.begin() + static_cast<std::ptrdiff_t>(n));
    programs_.prepare(sets);
    for (const Blanks& set : sets) {
      Runs* const runs = programs_.runs_of(set);
      if (!runs) continue;
      const int last = *set.rbegin();
      auto failure = find_failure(*runs, exam_, last, situation, situation + 1);
      program = runs;
      if (!failure) continue;
      auto& finding = failure->outcome.finding;
      if (finding && finding->values.try_emplace("note", "not_beside").second) {
        finding->values["n_others"] = std::to_string(set.size() - 1);
        finding->values["others"] = list({set.begin(), std::prev(set.end())});
      }
      return {{last, *failure}};
    }
    return {};
  }

  /// The blank that disagrees with those before it; or those of them that fail alone in a later situation, so that it
  /// isn't blamed for not following them.
  Failures find_wrong_later(const Blanks& blanks, Failures disagreeing, std::size_t first) {
    const int last = disagreeing.begin()->first;
    Failures wrong;
    for (const int blank : blanks) {
      if (blank >= last || first == exam_.situations.size()) break;
      auto failure = find_failure_alone(blank, first);
      if (failure && failure->outcome.verdict != Verdict::environment && used_among(blank, wrong) == 0)
        wrong[blank] = std::move(*failure);
    }
    return wrong.empty() ? disagreeing : wrong;
  }

  const Blanks &filled_, &judged_alone_;
  AnswerPrograms& programs_;
  const Exam& exam_;
  const std::function<void(int, const Outcome&)>& tell_;
  std::map<int, Blanks> holds_;    // the blanks that the program of a blank alone takes from the learner
  std::map<int, Runs*> variants_;  // its runs
  int n_wrong_ = 0;                // blanks that are not right
};

}  // namespace

Runs* judge(const std::set<int>& filled, const std::set<int>& judged_alone, AnswerPrograms& programs, const Exam& exam,
            const std::function<void(int, const Outcome&)>& tell) {
  return Judging(filled, judged_alone, programs, exam, tell).judge_all();
}

}  // namespace odori::grader
