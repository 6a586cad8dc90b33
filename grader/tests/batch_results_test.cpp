// RESULTS: what is kept of a class, by one batch at a time, whatever ends it; and what is marked again.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <thread>

#include "blanks/blanks.h"
#include "classroom/marking/batch.h"
#include "classroom/marking/durable_file.h"
#include "classroom/marking/refusal.h"
#include "classroom/marking/regrade.h"
#include "classroom/marking/results.h"
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

/// Blank 1 of three points, and the speedup of one.
TaskRecord record(Verdict verdict, const std::string& student = "aoki") {
  const double points = verdict == Verdict::pass ? 3 : 0;
  return {.student = student,
          .task = "multi_gpu",
          .content = "c",
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
  // As if it had been killed.
  std::string left = (fs::temp_directory_path() / "odori_batch_XXXXXX").string();
  ASSERT_NE(mkdtemp(left.data()), nullptr);
  {
    const Results results(folder_, "kit");
    salt = results.salt();
    results.records().write(record(Verdict::pass), Records::Old::replaced);
  }
  const fs::path half = folder_ / "students/aoki" / ("multi_node.json" + std::string(unfinished_suffix));
  std::ofstream(half) << "{";
  fs::create_directories(fs::path(left) / "7");
  std::ofstream(folder_ / "scratch") << left;
  const Results results(folder_, "another kit");
  EXPECT_EQ(results.salt(), salt);
  EXPECT_EQ(results.kit(), "kit");
  EXPECT_NE(results.scratch(), left);
  EXPECT_FALSE(fs::exists(half));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(results.records().read("aoki", "multi_gpu"), record(Verdict::pass));
  EXPECT_FALSE(results.records().read("aoki", "multi_node"));
}

TEST_F(ResultsTest, OtherPeoplesFoldersAreLeftAlone) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "thesis.tex") << "x";
  EXPECT_EQ(refusal(), "results_not_empty");
  EXPECT_TRUE(fs::exists(folder_ / "thesis.tex"));
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

TEST_F(ResultsTest, ARecordThatIsChangedGoesToTheHistoryOnce) {
  const Results results(folder_, "kit");
  const Records records = results.records();
  records.write(record(Verdict::wrong), Records::Old::kept);
  EXPECT_FALSE(fs::exists(folder_ / "history"));
  records.write(record(Verdict::pass), Records::Old::kept);
  EXPECT_EQ(read_file(folder_ / "history/aoki/multi_gpu.1.json"), to_json(record(Verdict::wrong)));
  // Killed between the history and the record, it comes here again.
  write_durably(folder_ / "history/aoki/multi_gpu.2.json", to_json(record(Verdict::pass)));
  records.write(record(Verdict::wrong), Records::Old::kept);
  EXPECT_FALSE(fs::exists(folder_ / "history/aoki/multi_gpu.3.json"));
  records.write(with_speedup(record(Verdict::pass)), Records::Old::replaced);
  EXPECT_FALSE(fs::exists(folder_ / "history/aoki/multi_gpu.3.json"));
}

TEST_F(ResultsTest, ADamagedRecordIsNone) {
  const Results results(folder_, "kit");
  write_durably(results.students() / "aoki/multi_gpu.json", to_json(record(Verdict::pass)).substr(0, 100));
  EXPECT_FALSE(results.records().read("aoki", "multi_gpu"));
  write_durably(results.students() / "baba/multi_gpu.json", to_json(record(Verdict::pass)));
  EXPECT_FALSE(results.records().read("baba", "multi_gpu")) << "it is aoki's";
}

TEST_F(ResultsTest, AFullDiskIsToldAndLeavesTheOldFile) {
  write_durably(folder_ / "file", "old");
  fs::create_directories(folder_ / fmt::format("file.{}{}", ::getpid(), unfinished_suffix));
  EXPECT_THROW(write_durably(folder_ / "file", "new"), Refusal);
  EXPECT_EQ(read_file(folder_ / "file"), "old");
  EXPECT_THROW(write_durably("/dev/full/file", "x"), Refusal);
}

TEST_F(ResultsTest, RegradeShowsAndThenTakesOver) {
  Results results(folder_, "kit");
  results.records().write(record(Verdict::wrong, "aoki"), Records::Old::kept);
  results.records().write(with_speedup(record(Verdict::pass, "baba")), Records::Old::kept);
  results.records().write(record(Verdict::pass, "chiba"), Records::Old::kept);
  Regrade regrade(results);
  regrade.begin();
  TaskRecord ungraded = record(Verdict::pass, "chiba");
  ungraded.state = RecordState::ungraded;
  ungraded.reason = Finding{"child_died", {}};
  ungraded.check.reset();
  for (const TaskRecord& fresh : {record(Verdict::pass, "aoki"), record(Verdict::pass, "baba"), ungraded})
    regrade.records().write(fresh, Records::Old::replaced);
  EXPECT_FALSE(regrade.is_complete());
  EXPECT_THROW(regrade.apply(), Refusal);
  regrade.complete("new kit", {}, true);

  const auto changes = regrade.changes();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].student, "aoki");
  EXPECT_EQ(changes[0].blank, 1);
  EXPECT_EQ(changes[0].before->verdict, Verdict::wrong);
  EXPECT_EQ(changes[0].after->points, 3);
  const auto students = regrade.students();
  ASSERT_EQ(students.size(), 3u);
  EXPECT_EQ(students[0].before.tasks.at("multi_gpu"), record(Verdict::wrong, "aoki"));
  EXPECT_EQ(students[0].after.tasks.at("multi_gpu"), record(Verdict::pass, "aoki"));
  EXPECT_EQ(students[1].after.tasks.at("multi_gpu"), with_speedup(record(Verdict::pass, "baba")));
  EXPECT_EQ(students[2].after, students[2].before) << "it can't be marked now";
  EXPECT_EQ(results.records().read("aoki", "multi_gpu"), record(Verdict::wrong, "aoki")) << "nothing is changed yet";

  regrade.apply();
  EXPECT_EQ(results.records().read("aoki", "multi_gpu"), record(Verdict::pass, "aoki"));
  EXPECT_EQ(results.records().read("baba", "multi_gpu"), with_speedup(record(Verdict::pass, "baba")));
  EXPECT_EQ(results.records().read("chiba", "multi_gpu"), record(Verdict::pass, "chiba"));
  EXPECT_TRUE(fs::exists(folder_ / "history/aoki/multi_gpu.1.json"));
  EXPECT_FALSE(fs::exists(folder_ / "history/baba"));
  EXPECT_EQ(results.kit(), "new kit");
  EXPECT_FALSE(regrade.is_complete());
}

TEST_F(ResultsTest, TermsAreKeptAndTakenFromOlderRecords) {
  const Terms asked{.timings = false, .tasks = {"multi_gpu"}};
  { const Results results(folder_, "kit", asked); }
  EXPECT_EQ(Results(folder_, "kit", {.timings = true, .tasks = {"multi_node"}}).terms(), asked);
  // Written before terms were: a class of two tasks without timings.
  fs::remove_all(folder_);
  fs::copy(fs::path(ODORI_FOLDER) / "grader/tests/recorded", folder_, fs::copy_options::recursive);
  std::ofstream(folder_ / "lock").flush();
  {
    const Results results(folder_, "another kit", asked);
    const std::vector<StudentRecord> students = results.records().all();
    ASSERT_EQ(students.size(), 3u);
    for (const StudentRecord& student : students) EXPECT_EQ(student.tasks.size(), 2u) << student.name;
    EXPECT_EQ(students[0].tasks.at("multi_gpu").state, RecordState::marked);
    EXPECT_EQ(students[2].tasks.at("multi_gpu").state, RecordState::absent);
    EXPECT_EQ(results.terms(), (Terms{.timings = false, .tasks = {"multi_gpu", "multi_node"}}));
    results.records().write(with_speedup(record(Verdict::pass)), Records::Old::replaced);
  }
  EXPECT_TRUE(Results(folder_, "kit").terms().timings);
}

TEST_F(ResultsTest, NothingIsLeftOfABatchThatCouldNotBegin) {
  Results(folder_, "kit").forget();
  EXPECT_FALSE(fs::exists(folder_));
  { const Results results(folder_, "kit"); }
  Results(folder_, "kit").forget();
  EXPECT_TRUE(fs::exists(folder_ / "batch.json")) << "it had begun before";
}

TEST_F(ResultsTest, ItsScratchFolderHasANameThatNobodyKnowsBefore) {
  fs::path first;
  {
    const Results results(folder_, "kit");
    first = results.scratch();
    EXPECT_EQ(fs::status(first).permissions(), fs::perms::owner_all);
  }
  EXPECT_NE(Results(folder_, "kit").scratch(), first);
}

TEST(WorkThrough, EverythingOnceAndNoMoreAtOnceThanAllowed) {
  std::atomic<int> now = 0, most = 0;
  std::vector<int> seen(50);
  work_through(
      seen.size(), 3,
      [&](std::size_t i) {
        most = std::max<int>(most, ++now);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --now;
        return TaskRecord{.student = std::to_string(i)};
      },
      [&](const TaskRecord& record) { ++seen[std::stoul(record.student)]; }, [] {}, [] { FAIL(); });
  EXPECT_EQ(seen, std::vector<int>(50, 1));
  EXPECT_EQ(most, 3);
}

TEST(WorkThrough, WhatFailsEndsTheOthersAndIsThrown) {
  std::atomic<bool> stopped = false;
  std::atomic<int> begun = 0;
  const auto work = [&](std::size_t i) -> TaskRecord {
    ++begun;
    if (i == 1) fail("broken");
    while (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return {};
  };
  int taken = 0;
  EXPECT_THROW(work_through(
                   100, 2, work, [&](const TaskRecord&) { ++taken; }, [] {}, [&] { stopped = true; }),
               Error);
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(taken, 1) << "what is finished is kept";
  stopped = false;
  EXPECT_THROW(work_through(
                   100, 2, [](std::size_t) { return TaskRecord(); }, [](const TaskRecord&) { fail("no space"); }, [] {},
                   [&] { stopped = true; }),
               Error);
  EXPECT_TRUE(stopped);
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
  std::jthread timer([&] {
    const Lock lock = this_machine_for(Lock::Kind::exclusive, folder);
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
  EXPECT_FALSE(later) << "the timing waited first";
  marking.reset();
  beside = {};
  timer.join();
  marker.join();
  EXPECT_TRUE(later);
}

}  // namespace
}  // namespace odori::grader
