#include "checks/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <set>

#include "checks/hang.h"
#include "core/error.h"

namespace odori::grader {
namespace {

/// Remembers how the runs ended that a check looks at.
class WatchedRuns : public Runs {
 public:
  explicit WatchedRuns(Runs& runs) : runs_(runs) {}
  const Evidence& of(const RunPlan& plan) override {
    const Evidence& evidence = runs_.of(plan);
    if (evidence.ending != Ending::finished && !bad_) bad_ = &evidence;
    return evidence;
  }
  const RunData& data() const override { return runs_.data(); }
  /// The first one that didn't come to its end; none if all did.
  const Evidence* bad() const { return bad_; }

 private:
  Runs& runs_;
  const Evidence* bad_ = nullptr;
};

/// What came of a check, and whether another one may still have a better word for it: of a run that ended badly, the
/// first check that knows why tells it.
struct Tried {
  Outcome outcome;
  bool settled = true;
};

/// What a run that ended badly says when no check has a better word for it.
Outcome outcome_of(const Evidence& bad, std::optional<Finding> finding) {
  if (bad.broke && bad.ending != Ending::environment) return {Verdict::crash, bad.broke};
  const auto or_else = [&](const char* key) { return finding ? *finding : Finding{key, {{"detail", bad.detail}}}; };
  switch (bad.ending) {
    case Ending::environment:
      return {Verdict::environment, Finding{bad.detail, {}}};
    case Ending::hung: {
      Finding hang = find_hang(bad);
      if (!finding) return {Verdict::hang, std::move(hang)};
      finding->values.merge(hang.values);  // the screen tells who waited for whom as well
      return {Verdict::hang, std::move(finding)};
    }
    case Ending::crashed:
      // What MPI does with different calls is up to MPI: the call was wrong, however it ended.
      if (const auto apart = find_calls_apart(bad)) return {Verdict::wrong, finding ? finding : apart};
      return {Verdict::crash, or_else("crash")};
    case Ending::failed:
      if (finding) return {Verdict::wrong, finding};
      return {Verdict::crash, or_else("stopped_by_library")};
    default:
      return {Verdict::wrong, or_else("unfilled_inside")};
  }
}

Tried try_check(const Check& check, Runs& runs) {
  WatchedRuns watched(runs);
  std::optional<Finding> finding;
  try {
    finding = check.find(watched);
  } catch (const EnvironmentFault& fault) {
    return {{Verdict::environment, fault.finding()}};
  } catch (const Error& error) {
    if (error.code() == exit_code::interrupted) throw;
    if (!watched.bad()) return {{Verdict::environment, Finding{"grader_failed", {{"reason", error.what()}}}}};
  }
  if (!watched.bad()) return finding ? Tried{{Verdict::wrong, finding}} : Tried{{}, false};
  const Evidence& bad = *watched.bad();
  return {outcome_of(bad, finding), finding || bad.broke || bad.ending == Ending::environment};
}

/// What the tests of one round share. Their suites are "ROUND_whole" and "ROUND_blank_N"; each test is a check.
class Judging {
 public:
  Judging(const Judged& judged, const std::vector<Check>& checks, const std::function<void(int, const Outcome&)>& tell)
      : judged_(judged), checks_(checks), tell_(tell) {
    if (judged_.whole) prepare(*judged_.whole, {});
  }

  void check_whole(const Check& check) {
    if (whole_.verdict != Verdict::pass && !whole_is_open_) return;
    Tried next = try_check(check, *judged_.whole);
    note(next.outcome);
    if (next.outcome.verdict == Verdict::pass || (whole_is_open_ && !next.settled)) return;
    whole_ = std::move(next.outcome);
    blamed_ = check.blank;
    // Runs that the library stops are short, and another check may know why it did.
    whole_is_open_ = !next.settled && whole_.finding->key == "stopped_by_library";
    if (!whole_is_open_) judged_.whole->cancel();
  }
  /// Once the whole is known.
  void begin_variants() {
    if (judged_.whole && whole_.verdict == Verdict::pass) return;
    for (const auto& [blank, runs] : judged_.variants)
      if (whole_.verdict != Verdict::environment) prepare(*runs, blank);
  }
  void check_variant(const Check& check) {
    auto& [outcome, settled] = tried_.try_emplace(check.blank, Tried{{}, false}).first->second;
    const bool decided = (judged_.whole && whole_.verdict == Verdict::pass) || whole_.verdict == Verdict::environment;
    if (decided) outcome = whole_, settled = true;
    if (!settled) {
      Tried next = try_check(check, *judged_.variants.at(check.blank));
      settled = next.settled;
      if (settled || outcome.verdict == Verdict::pass) outcome = std::move(next.outcome);
    }
    note(outcome);
  }
  void end_blank(int blank) {
    judged_.variants.at(blank)->cancel();
    const Outcome& outcome = tried_[blank].outcome;
    all_pass_ &= outcome.verdict == Verdict::pass;
    if (blank != blamed_ || outcome.verdict != Verdict::pass) tell_(blank, outcome);
  }
  /// Blanks can each be right beside the kit's answers and not go together: then the one is wrong for which the whole
  /// failed. Where another is wrong by itself, that is why.
  void end() {
    if (blamed_ && tried_[blamed_].outcome.verdict == Verdict::pass) tell_(blamed_, all_pass_ ? whole_ : Outcome{});
  }

  std::exception_ptr interruption;

 private:
  /// Starts the runs that a blank's checks look at, or all checks'.
  void prepare(Runs& runs, std::optional<int> blank) {
    for (const Check& check : checks_)
      if (judged_.variants.contains(check.blank) && (!blank || check.blank == *blank)) runs.prepare(check.plans);
  }
  static void note(const Outcome& outcome) {
    if (outcome.verdict != Verdict::pass) ADD_FAILURE() << name_of(outcome.verdict) << ' ' << outcome.finding->key;
  }

  const Judged& judged_;
  const std::vector<Check>& checks_;
  const std::function<void(int, const Outcome&)>& tell_;
  Outcome whole_;
  bool whole_is_open_ = false;  // it fails, and another check may have a better word for it
  int blamed_ = 0;              // the blank of the check that the whole fails; 0: none
  bool all_pass_ = true;
  std::map<int, Tried> tried_;
};

class CheckTest : public testing::Test {
 public:
  explicit CheckTest(Judging& judging, std::function<void()> body) : judging_(judging), body_(std::move(body)) {}
  void TestBody() override {
    try {
      if (!judging_.interruption) body_();
    } catch (...) {
      judging_.interruption = std::current_exception();
    }
  }

 private:
  Judging& judging_;
  std::function<void()> body_;
};

void add_test(const std::string& suite, const Check& check, Judging& judging, std::function<void()> body) {
  testing::RegisterTest(suite.c_str(), check.name, nullptr, nullptr, __FILE__, __LINE__,
                        [&judging, body = std::move(body)] { return new CheckTest(judging, body); });
}

/// Passes on when a suite has come to its end.
class SuiteEnds : public testing::EmptyTestEventListener {
 public:
  explicit SuiteEnds(std::function<void(const std::string&)> told) : told_(std::move(told)) {}
  void OnTestSuiteEnd(const testing::TestSuite& suite) override { told_(suite.name()); }

 private:
  std::function<void(const std::string&)> told_;
};

/// Runs the tests of one round, and prints nothing.
void run_tests(const std::string& filter, testing::TestEventListener& listener) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  static testing::TestEventListener* const printer = listeners.default_result_printer();
  listeners.Release(printer);
  listeners.Append(&listener);
  testing::GTEST_FLAG(filter) = filter;
  testing::GTEST_FLAG(shuffle) = false;
  testing::GTEST_FLAG(repeat) = 1;
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();  // the outcomes say it in more words
  listeners.Release(&listener);
  listeners.Append(printer);
}

}  // namespace

void judge(const Judged& judged, const std::vector<Check>& checks,
           const std::function<void(int, const Outcome&)>& tell) {
  static int rounds = 0;
  const std::string round = fmt::format("round{}", ++rounds), whole = round + "_whole";
  if (rounds == 1) testing::InitGoogleTest();
  Judging judging(judged, checks, tell);
  std::map<std::string, int> blanks;
  if (judged.whole) {
    for (const Check& check : checks)
      if (judged.variants.contains(check.blank)) add_test(whole, check, judging, [&] { judging.check_whole(check); });
  } else {
    judging.begin_variants();
  }
  for (const auto& [blank, runs] : judged.variants) {
    const std::string suite = fmt::format("{}_blank_{}", round, blank);
    blanks[suite] = blank;
    for (const Check& check : checks)
      if (check.blank == blank) add_test(suite, check, judging, [&] { judging.check_variant(check); });
  }
  SuiteEnds ends([&](const std::string& suite) {
    if (judging.interruption) return;
    if (suite == whole) judging.begin_variants();
    if (blanks.contains(suite)) judging.end_blank(blanks.at(suite));
  });
  run_tests(round + "_*", ends);
  if (judging.interruption) std::rethrow_exception(judging.interruption);
  judging.end();
}

}  // namespace odori::grader
