// SPDX-License-Identifier: Apache-2.0
// RESULTS: what is kept of a class, by one batch at a time, whatever ends it; and what is marked again.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <thread>

#include "blanks/blanks.h"
#include "classroom/marking/batch.h"
#include "classroom/marking/regrade.h"
#include "classroom/marking/results.h"
#include "classroom/refusal.h"
#include "errors/error.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

class ResultsTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_.parent_path()); }
  std::string refusal() const {
    try {
      const Results results(folder_, "kit");
    } catch (const Refusal& refusal) {
      return refusal.finding().key;
    }
    return "taken";
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "odori_results_test" / "results";
};

Terms terms(const std::string& task) { return {.weights = {{task, 1}}, .speedup = 0, .deadline = {}, .late = {}}; }

/// Blank 1 of three points, and the speedup of one.
TaskRecord record(Verdict verdict, const std::string& student = "aoki", const std::string& content = "c") {
  const double points = verdict == Verdict::pass ? 3 : 0;
  return {.student = student,
          .task = "multi_gpu",
          .content = content,
          .state = RecordState::marked,
          .check = CheckRecord{.verdicts = {{1, verdict, {}, points, 3},
                                            {0, Verdict::not_checked, Finding{"speedup_not_asked", {}}, 0, 1}}}};
}

TaskRecord with_speedup(TaskRecord record) {
  record.check->verdicts[1] = {0, Verdict::pass, {}, 1, 1};
  record.timed = true;
  return record;
}

TEST_F(ResultsTest, OneBatchAtATime) {
  {
    const Results first(folder_, "kit");
    EXPECT_EQ(refusal(), "results_in_use");
    EXPECT_NE(read_file(folder_ / "lock").find(std::to_string(getpid())), std::string::npos);
  }
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(ResultsTest, ANextBatchKeepsSaltAndRecordsAndRemovesWhatIsHalfWritten) {
  std::string salt;
  {
    const Results results(folder_, "kit", terms("multi_gpu"));
    salt = results.salt();
    results.records().write(record(Verdict::pass));
  }
  const fs::path half = folder_ / "students/aoki" / ("multi_node.json" + std::string(unfinished_suffix));
  std::ofstream(half) << "{";
  const Results results(folder_, "another kit", terms("multi_node"));
  EXPECT_EQ(results.salt(), salt);
  EXPECT_EQ(results.kit(), "kit");
  EXPECT_EQ(results.terms(), terms("multi_gpu"));
  EXPECT_FALSE(fs::exists(half));
  EXPECT_EQ(results.records().read("aoki", "multi_gpu"), record(Verdict::pass));
  EXPECT_FALSE(results.records().read("aoki", "multi_node"));
}

TEST_F(ResultsTest, OtherPeoplesFoldersAreLeftAlone) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "thesis.tex") << "x";
  EXPECT_EQ(refusal(), "results_not_empty");
  EXPECT_TRUE(fs::exists(folder_ / "thesis.tex"));
}

TEST_F(ResultsTest, AFolderMayHoldSettingsBeforeItHoldsMarks) {
  fs::create_directories(folder_);
  for (const char* file : {"course.json", "overrides.csv", "classroom_roster.csv"})
    std::ofstream(folder_ / file) << "{}";
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(ResultsTest, WhoAStudentIsAndWhenAnAnswerCameIsKept) {
  const Results results(folder_, "kit");
  TaskRecord late = record(Verdict::pass);
  late.submitted = 1'796'000'000;
  late.files = {{"a.cpp", "x/a (1).cpp", 1'796'000'000, {{"x/a.cpp", 0, false}}}};
  results.records().write(late);
  const std::vector<Person> people{{.name = "青木", .email = "a@example.org", .moodle = "4001", .section = "B"}};
  results.records().write_people("aoki", people);
  const auto students = results.records().all();
  ASSERT_EQ(students.size(), 1u);
  EXPECT_EQ(students[0].people, people);
  EXPECT_EQ(students[0].tasks.at("multi_gpu"), late);
  results.records().forget("aoki");
  EXPECT_TRUE(results.records().all().empty());
  EXPECT_EQ(read_file(folder_ / "history/aoki/multi_gpu.1.json"), to_json(late));
}

TEST_F(ResultsTest, AFileInTheWayIsAWrongArgument) {
  fs::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "x";
  for (const fs::path& out : {folder_, folder_ / "below"}) {
    try {
      const Results results(out, "kit");
      FAIL() << out;
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.code(), exit_code::usage) << out;
    }
  }
}

TEST_F(ResultsTest, ADamagedBatchFileIsTold) {
  { const Results results(folder_, "kit"); }
  std::ofstream(folder_ / "batch.json") << "{\"salt\": 1";
  EXPECT_EQ(refusal(), "results_damaged");
}

TEST_F(ResultsTest, ARecordOfAnotherContentGoesToTheHistoryOnce) {
  const Results results(folder_, "kit");
  const Records records = results.records();
  const auto old = record(Verdict::wrong, "aoki", "old"), fresh = record(Verdict::pass, "aoki", "fresh");
  records.write(old);
  EXPECT_FALSE(fs::exists(folder_ / "history"));
  records.write(fresh);
  EXPECT_EQ(read_file(folder_ / "history/aoki/multi_gpu.1.json"), to_json(old));
  // Killed between the history and the record, it comes here again.
  replace_file(folder_ / "history/aoki/multi_gpu.2.json", to_json(fresh));
  records.write(old);
  EXPECT_FALSE(fs::exists(folder_ / "history/aoki/multi_gpu.3.json"));
  records.write(with_speedup(old));
  EXPECT_FALSE(fs::exists(folder_ / "history/aoki/multi_gpu.3.json"));
}

TEST_F(ResultsTest, ADamagedRecordIsNone) {
  const Results results(folder_, "kit");
  replace_file(results.students() / "aoki/multi_gpu.json", to_json(record(Verdict::pass)).substr(0, 100));
  EXPECT_FALSE(results.records().read("aoki", "multi_gpu"));
  replace_file(results.students() / "baba/multi_gpu.json", to_json(record(Verdict::pass)));
  EXPECT_FALSE(results.records().read("baba", "multi_gpu")) << "it is aoki's";
}

TEST_F(ResultsTest, AFullDiskIsToldAndLeavesTheOldFile) {
  replace_file(folder_ / "file", "old");
  fs::create_directories(folder_ / fmt::format("file.{}{}", ::getpid(), unfinished_suffix));
  EXPECT_THROW(replace_file(folder_ / "file", "new"), WriteError);
  EXPECT_EQ(read_file(folder_ / "file"), "old");
  EXPECT_THROW(replace_file("/dev/full/file", "x"), WriteError);
}

TEST_F(ResultsTest, RegradeShowsAndThenTakesOver) {
  Results results(folder_, "kit");
  const TaskRecord wrong = record(Verdict::wrong, "aoki"), right = record(Verdict::pass, "aoki", "of the new kit");
  const TaskRecord other = record(Verdict::pass, "baba");
  results.records().write(wrong);
  results.records().write(other);
  const TaskRecord timed = with_speedup(record(Verdict::pass, "chiba"));
  results.records().write(timed);
  Regrade regrade(results);
  regrade.begin();
  TaskRecord ungraded = other;
  ungraded.state = RecordState::ungraded;
  ungraded.reason = Finding{"child_died", {}};
  ungraded.check.reset();
  TaskRecord untimed = with_speedup(record(Verdict::pass, "chiba", "of the new kit"));  // this machine failed
  untimed.check->verdicts[1] = {0, Verdict::environment, Finding{"no_compiler", {}}, 0, 1};
  untimed.timed = false;
  for (const TaskRecord& fresh : {right, ungraded, untimed}) regrade.records().write(fresh);
  EXPECT_FALSE(regrade.is_complete());
  EXPECT_THROW(regrade.apply(), Refusal);
  regrade.complete("new kit", terms("multi_gpu"));

  const auto students = regrade.students();
  ASSERT_EQ(students.size(), 3u);
  EXPECT_EQ(students[0].before.tasks.at("multi_gpu"), wrong);
  EXPECT_EQ(students[0].after.tasks.at("multi_gpu"), right);
  EXPECT_EQ(students[1].after, students[1].before) << "it can't be marked now";
  EXPECT_EQ(students[2].after, students[2].before) << "its speedup can't be measured now";
  EXPECT_EQ(results.records().read("aoki", "multi_gpu"), wrong) << "nothing is changed yet";

  const std::string salt = results.salt();
  regrade.apply();
  EXPECT_EQ(results.records().read("aoki", "multi_gpu"), right);
  EXPECT_EQ(results.records().read("baba", "multi_gpu"), other);
  EXPECT_EQ(results.records().read("chiba", "multi_gpu"), timed);
  EXPECT_TRUE(fs::exists(folder_ / "history/aoki/multi_gpu.1.json"));
  EXPECT_FALSE(fs::exists(folder_ / "history/baba"));
  EXPECT_EQ(results.kit(), "new kit");
  EXPECT_EQ(results.terms(), terms("multi_gpu"));
  EXPECT_EQ(results.salt(), salt);
  EXPECT_FALSE(regrade.is_complete());
}

TEST(WorkThrough, EverythingOnceAndNoMoreAtOnceThanAllowed) {
  std::atomic<int> now = 0, most = 0;
  std::vector<std::atomic<int>> seen(50);
  work_through(
      seen.size(), 3,
      [&](std::size_t i) {
        most = std::max<int>(most, ++now);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --now;
        ++seen[i];
      },
      [] {}, [] { FAIL(); });
  for (const auto& n : seen) EXPECT_EQ(n, 1);
  EXPECT_EQ(most, 3);
}

TEST(WorkThrough, WhatFailsEndsTheOthersAndIsThrown) {
  std::atomic<bool> stopped = false;
  std::atomic<int> begun = 0, finished = 0;
  const auto work = [&](std::size_t i) {
    ++begun;
    if (i == 1) fail("broken");
    while (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++finished;
  };
  EXPECT_THROW(work_through(
                   100, 2, work, [] {}, [&] { stopped = true; }),
               Error);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(finished, 1) << "what is begun comes to its end";
  stopped = false;
  EXPECT_THROW(work_through(
                   100, 2,
                   [&](std::size_t) {
                     while (!stopped) std::this_thread::yield();
                   },
                   [] { fail("no space"); }, [&] { stopped = true; }),
               Error);
}

TEST(Lock, LiesWhereOthersCannotTakeIt) {
  const fs::path folder = fs::path(testing::TempDir()) / "odori_lock_folder_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "home");
  fs::create_directories(folder / "open/.cache/odori");
  fs::permissions(folder / "open/.cache/odori", fs::perms::all);
  for (const char* variable : {"XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}) unsetenv(variable);
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  setenv("HOME", (folder / "home").c_str(), 1);
  EXPECT_EQ(folder_of_locks(), folder / "home/.cache/odori");
  const Lock lock = this_machine_for(Lock::Kind::shared, folder_of_locks());
  for (const auto& file : fs::directory_iterator(folder_of_locks()))
    EXPECT_EQ(file.status().permissions(), fs::perms::owner_read | fs::perms::owner_write) << file.path();
  setenv("HOME", (folder / "open").c_str(), 1);
  EXPECT_THROW(folder_of_locks(), Refusal) << "anybody could hold locks there";
  fs::remove_all(folder / "open/.cache/odori");
  fs::create_directory_symlink(folder / "home", folder / "open/.cache/odori");
  EXPECT_THROW(folder_of_locks(), Refusal) << "it is a link";
  setenv("HOME", home.c_str(), 1);
}

TEST(Lock, WhoWaitsForATimingIsNotPassedByThoseWhoMark) {
  const fs::path folder = fs::path(testing::TempDir()) / "odori_lock_test";
  fs::create_directories(folder);
  auto marking = std::make_unique<Lock>(this_machine_for(Lock::Kind::shared, folder));
  Lock beside = this_machine_for(Lock::Kind::shared, folder);
  std::atomic<bool> timing = false, later = false;
  std::atomic<int> n_told = 0;
  std::jthread timer([&] {
    const Lock lock = this_machine_for(Lock::Kind::exclusive, folder, [&](const std::string& holder) {
      EXPECT_EQ(holder, this_process());
      ++n_told;
    });
    EXPECT_FALSE(later);
    timing = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::jthread marker([&] {
    const Lock lock = this_machine_for(Lock::Kind::shared, folder);
    later = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(timing);
  EXPECT_GT(n_told, 0);
  EXPECT_FALSE(later) << "the timing waited first";
  marking.reset();
  beside = {};
  timer.join();
  marker.join();
  EXPECT_TRUE(later);
}

}  // namespace
}  // namespace odori::grader
