#include "checks/judge.h"

#include <algorithm>

#include "checks/findings.h"

namespace odori::grader {
namespace {

class Judging {
 public:
  Judging(const Judged& judged, const Exam& exam, const std::function<void(int, const Outcome&)>& tell)
      : judged_(judged), exam_(exam), tell_(tell) {}

  void judge_all() {
    if (judged_.whole) return judge_together();
    for (const auto& [blank, runs] : judged_.variants) judge_alone(blank, 0);
  }

 private:
  using Blanks = std::set<int>;
  using Failures = std::map<int, Failure>;  // by blank

  /// Failures that nobody is to blame for, since they don't come again: a machine that stood still, say.
  static constexpr int most_unconfirmed = 3;
  /// Sets of blanks that are tried for one that is right together.
  static constexpr std::size_t most_sets = 8;

  /// Of the whole, and of what is left of it when blanks that are wrong have been taken out.
  void judge_together() {
    Blanks blanks;
    for (const auto& [blank, runs] : judged_.variants) blanks.insert(blank);
    Runs* program = judged_.whole;
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
        tell_(blank, its.outcome);
      }
      judge_dependents(blanks, wrong, first);
      if (blanks.size() < 2) break;
      const auto built = rest ? std::vector{rest} : judged_.build({blanks});
      program = built.empty() ? nullptr : built.front();
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
    for (const int blank : blanks) tell_(blank, outcome);
  }

  void judge_alone(int blank, std::size_t first) {
    Runs& runs = *judged_.variants.at(blank);
    const auto failure = find_failure(runs, exam_, blank, first, exam_.situations.size());
    runs.cancel();
    tell_(blank, failure ? failure->outcome : Outcome{});
  }

  /// Those that fail alone in this situation. One that uses names of another one that fails can't be judged.
  Failures find_wrong_alone(const Blanks& blanks, std::size_t situation) {
    for (const int blank : blanks) judged_.variants.at(blank)->prepare({exam_.situations[situation]});
    Failures wrong;
    for (const int blank : blanks) {
      auto failure = find_failure(*judged_.variants.at(blank), exam_, blank, situation, situation + 1);
      if (!failure) continue;
      if (const int other = used_among(blank, wrong)) failure->outcome = needs(other);
      wrong[blank] = std::move(*failure);
    }
    return wrong;
  }

  /// What is wrong beside the kit's answers may be right beside the learner's own. So of those that fail alone, the
  /// ones whose checks find nothing in the whole are tried with all that may be right, the largest set first; those of
  /// a set that is right are taken out of `wrong`. If only one fails alone, and not in the whole, what is wrong there
  /// is one of the others. Returns the program of the blanks that are left; none if no set is right.
  Runs* spare_right_together(const Blanks& blanks, Failures& wrong, Runs& whole, const Failure& of_whole) {
    const RunPlan& plan = exam_.situations[of_whole.situation];
    Blanks doubtful, certain;
    for (const auto& [blank, failure] : wrong) {
      const Tried seen = try_check(*failure.check, whole, plan);
      (seen.settled || seen.outcome.verdict == failure.outcome.verdict ? certain : doubtful).insert(blank);
    }
    if (doubtful.empty()) return nullptr;
    Blanks suspects = doubtful;
    if (wrong.size() == 1) {
      suspects = blanks;
      suspects.erase(*doubtful.begin());
    }
    const std::vector<Blanks> sets = sets_without(blanks, certain, suspects, doubtful);
    const std::vector<Runs*> programs = sets.empty() ? std::vector<Runs*>() : judged_.build(sets);
    for (Runs* program : programs) program->prepare({plan});
    Runs* right = nullptr;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      if (right || find_failure(*programs[i], exam_, 0, of_whole.situation, of_whole.situation + 1)) {
        programs[i]->cancel();
        continue;
      }
      right = programs[i];
      std::erase_if(wrong, [&set = sets[i]](const auto& entry) { return set.contains(entry.first); });
      for (const int blank : suspects)
        if (!sets[i].contains(blank) && used_among(blank, wrong) == 0) wrong.try_emplace(blank, of_whole);
    }
    return right;
  }

  /// All blanks but `certain` and some of `suspects`, fewer of those first and the last ones first; with one of
  /// `wanted` at least.
  std::vector<Blanks> sets_without(const Blanks& blanks, const Blanks& certain, const Blanks& suspects,
                                   const Blanks& wanted) const {
    std::vector<Blanks> sets;
    for (std::size_t n = certain.empty() ? 1 : 0; n <= suspects.size(); ++n) {
      std::vector<char> out(suspects.size());
      std::fill(out.end() - static_cast<std::ptrdiff_t>(n), out.end(), 1);
      do {
        Blanks all_out = certain, set;
        auto is_out = out.begin();
        for (const int blank : suspects)
          if (*is_out++) all_out.insert(blank);
        for (const int blank : blanks)
          if (!all_out.contains(blank) && used_among(blank, all_out) == 0) set.insert(blank);
        const bool holds_wanted =
            std::any_of(wanted.begin(), wanted.end(), [&](int blank) { return set.contains(blank); });
        if (set.size() > 1 && holds_wanted && sets.size() < most_sets) sets.push_back(std::move(set));
      } while (std::next_permutation(out.begin(), out.end()));
    }
    return sets;
  }

  /// Blanks that are left and use names of a wrong one are right only if they are so beside it.
  void judge_dependents(Blanks& blanks, const Failures& wrong, std::size_t first) {
    for (const int blank : Blanks(blanks)) {
      const int other = used_among(blank, wrong);
      if (other == 0) continue;
      blanks.erase(blank);
      Runs& runs = *judged_.variants.at(blank);
      const bool fails = find_failure(runs, exam_, blank, first, exam_.situations.size()).has_value();
      runs.cancel();
      tell_(blank, fails ? needs(other) : Outcome{});
    }
  }

  /// A blank of these whose names this one uses; 0 if there is none.
  int used_among(int blank, const auto& wrong) const {
    const auto held = judged_.holds.find(blank);
    if (held == judged_.holds.end()) return 0;
    const auto used = std::find_if(held->second.begin(), held->second.end(),
                                   [&](int other) { return other != blank && wrong.contains(other); });
    return used == held->second.end() ? 0 : *used;
  }
  static Outcome needs(int other) {
    return {Verdict::not_checked, Finding{"needs_right_blank", {{"other", std::to_string(other)}}}};
  }

  /// Of blanks that are right alone and failed together, the first that fails with those before it. None if all of them
  /// are right together this time: then `program` becomes the one that is.
  Failures find_disagreeing(const std::vector<int>& blanks, std::size_t situation, Runs*& program) {
    std::vector<Blanks> first_blanks;
    for (std::size_t n = 2; n <= blanks.size(); ++n)
      first_blanks.emplace_back(blanks.begin(), blanks.begin() + static_cast<std::ptrdiff_t>(n));
    const std::vector<Runs*> programs = judged_.build(first_blanks);
    for (std::size_t i = 0; i < programs.size(); ++i) {
      auto failure = find_failure(*programs[i], exam_, blanks[i + 1], situation, situation + 1);
      if (!failure) continue;
      auto& finding = failure->outcome.finding;
      if (finding && finding->values.try_emplace("note", "not_beside").second) {
        finding->values["n_others"] = std::to_string(i + 1);
        finding->values["others"] = list({blanks.begin(), blanks.begin() + static_cast<std::ptrdiff_t>(i) + 1});
      }
      return {{blanks[i + 1], *failure}};
    }
    program = programs.empty() ? nullptr : programs.back();
    return {};
  }

  /// The blank that disagrees with those before it; or those of them that fail alone in a later situation, so that it
  /// isn't blamed for not following them.
  Failures find_wrong_later(const Blanks& blanks, Failures disagreeing, std::size_t first) {
    const int last = disagreeing.begin()->first;
    Failures wrong;
    for (const int blank : blanks) {
      if (blank >= last || first == exam_.situations.size()) break;
      Runs& runs = *judged_.variants.at(blank);
      auto failure = find_failure(runs, exam_, blank, first, exam_.situations.size());
      runs.cancel();
      if (failure && failure->outcome.verdict != Verdict::environment && used_among(blank, wrong) == 0)
        wrong[blank] = std::move(*failure);
    }
    return wrong.empty() ? disagreeing : wrong;
  }

  const Judged& judged_;
  const Exam& exam_;
  const std::function<void(int, const Outcome&)>& tell_;
};

}  // namespace

void judge(const Judged& judged, const Exam& exam, const std::function<void(int, const Outcome&)>& tell) {
  Judging(judged, exam, tell).judge_all();
}

}  // namespace odori::grader
