// SPDX-License-Identifier: Apache-2.0
// One answer, marked by a child that may do anything: the batch goes on, and the record says what happened.
#include <gtest/gtest.h>

#include <fstream>

#include "blanks/task.h"
#include "classroom/marking/marking.h"
#include "runner/run.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

class MarkingTest : public testing::Test {
 protected:
  /// What becomes of an answer if this shell script stands in for the grader; `$json` is where its verdicts should go.
  TaskRecord marked_by(const std::string& script) {
    const fs::path program = scratch_.path() / "grader.sh";
    std::ofstream(program) << "#!/bin/bash\nwhile [ $# -gt 1 ]; do [ $1 = --json ] && json=$2; shift; done\n"
                           << script << '\n';
    fs::permissions(program, fs::perms::owner_all);
    return marker(program).mark(answer());
  }
  Marker marker(const fs::path& program) const {
    return Marker({.program = program,
                   .kit = ODORI_FOLDER,
                   .build = ODORI_BUILD_FOLDER,
                   .scratch = scratch_.path() / "children",
                   .locks = scratch_.path(),
                   .sandbox = false});
  }
  static Answer answer() {
    return {.record = {.student = "aoki", .task = "multi_gpu", .content = "c"}, .folder = {}, .seed = 7};
  }
  /// "key", or the state.
  static std::string told(const TaskRecord& record) {
    return record.reason ? record.reason->key : name_of(record.state);
  }
  static std::string value(const TaskRecord& record, const char* name) {
    const auto found = record.reason->values.find(name);
    return found == record.reason->values.end() ? "" : found->second;
  }

  const ScratchFolder scratch_;
};

TEST_F(MarkingTest, AChildThatDiesIsToldWithItsLastWords) {
  const TaskRecord record = marked_by("echo almost there; kill -SEGV $$");
  EXPECT_EQ(record.state, RecordState::ungraded);
  EXPECT_EQ(record.attempts, 3);
  EXPECT_EQ(told(record), "child_died");
  EXPECT_EQ(value(record, "code"), "139");
  EXPECT_EQ(value(record, "detail"), "almost there");
}

TEST_F(MarkingTest, VerdictsThatAreNoneAreNotBelieved) {
  for (const char* json : {"no JSON", "[]", "{}", "{\"seed\": 7, \"verdicts\": 3, \"left_out\": []}",
                           "{\"seed\": 7, \"verdicts\": [], \"left_out\": [], \"flags\": 1}",
                           "{\"seed\": -1, \"verdicts\": [null], \"left_out\": [{}], \"timeline\": []}"}) {
    const TaskRecord record = marked_by("echo last words; echo '" + std::string(json) + "' > $json");
    EXPECT_EQ(told(record), "child_unclear") << json;
    EXPECT_EQ(value(record, "said"), "last words");
  }
  EXPECT_EQ(told(marked_by("head -c 9000000 /dev/zero > $json")), "child_died") << "too large";
}

TEST_F(MarkingTest, AFaultWhileTheSpeedupIsMeasuredCostsTheSpeedupAlone) {
  TaskRecord before = answer().record;
  before.state = RecordState::marked;
  before.check = CheckRecord{
      .verdicts = {{1, Verdict::pass, {}, 3, 3}, {0, Verdict::not_checked, Finding{"speedup_not_asked", {}}, 0, 20}}};
  const TaskRecord after = marker("/nowhere/grader").time(answer(), before, {});
  EXPECT_EQ(after.state, RecordState::marked);
  EXPECT_EQ(after.check->verdicts[0].points, 3);
  ASSERT_NE(ungraded_speedup(after), nullptr);
  EXPECT_EQ(ungraded_speedup(after)->of, 20);
  EXPECT_FALSE(after.timed) << "it is tried again";
}

}  // namespace
}  // namespace odori::grader
