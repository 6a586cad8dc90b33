// SPDX-License-Identifier: Apache-2.0
#include "learner/side_by_side.h"

#include <gtest/gtest.h>

#include <fstream>

#include "blanks/cutter.h"
#include "errors/text.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

/// The code with the added parts in brackets.
std::string marked(std::string_view code, std::string_view baseline) {
  std::string text;
  for (const CodePart& part : compare_code(code, baseline)) text += part.added ? '[' + part.text + ']' : part.text;
  return text;
}

TEST(CompareCode, MarksTheWordsThatTheBaselineLacks) {
  EXPECT_EQ(marked("use(hvd.local_rank());", "use(0);"), "use([hvd.local_rank]());");
  EXPECT_EQ(marked("hvd.Distributed(create(name, rate))", "create(name, args.rate)"),
            "[hvd.Distributed](create(name, rate))");
  EXPECT_EQ(marked("a = 1;\nb = 2;", "b = 2;"), "[a = 1];\nb = 2;");
  EXPECT_EQ(marked("b a", "a b"), "[b] a");
  EXPECT_EQ(marked("x + y;", ""), "[x + y];");
  EXPECT_EQ(marked("x + y;", "x + y;"), "x + y;");
  EXPECT_EQ(marked("", "x"), "");
  EXPECT_EQ(marked("};", "x"), "};");
}

/// A kit whose exercises are the learner's own, and empty at first.
class SideBySide : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory_symlink(fs::path(ODORI_FOLDER) / "grader", kit() / "grader");
    fs::create_directory_symlink(fs::path(ODORI_FOLDER) / "solutions", kit() / "solutions");
    for (const char* name : {"multi_node", "horovod"}) write(task_named(name), {});
  }

  fs::path kit() const { return folder_.path(); }

  void write(const Task& task, const std::map<int, std::vector<std::string>>& blanks) const {
    replace_file(kit() / task.program.exercise, filled_exercise(kit() / task.program.solution, blanks));
  }

  std::string page(const std::string& language = "en") const {
    const Task& task = task_named("horovod");
    const Question question{
        .task = task, .kit = kit(), .build = {}, .program = kit() / task.program.exercise, .script = {}};
    return side_by_side_page(question, read_answers(question), Messages(ODORI_FOLDER, language)).value();
  }

 private:
  const TemporaryFolder folder_{fs::temp_directory_path() / "side_by_side_test"};
};

bool has(const std::string& page, const std::string& text) { return page.find(text) != page.npos; }

TEST_F(SideBySide, HasNoAnswerOfTheKits) {
  const std::string text = page();
  for (const char* note : {"blank 1 of this task", "blank 6 of this task", "blank 7 of this task"})
    EXPECT_TRUE(has(text, note)) << note;
  for (const char* answer :
       {"intra_rank", "scatter_dataset", "create_multi_node_optimizer", "split_dataset", "allreduce"})
    EXPECT_FALSE(has(text, answer)) << answer;
}

TEST_F(SideBySide, HasTheLearnersAnswersAndMarksThem) {
  write(task_named("multi_node"), {{1, {"  const int device = comm->intra_rank() % 64;"}}});
  write(task_named("horovod"), {{3, {"    if (rate < 9)", "", "      rate *= hvd.size();  // linear"}}});
  const std::string text = page();
  EXPECT_TRUE(has(text, "comm-&gt;intra_rank() % 64</mark>;")) << text;
  EXPECT_TRUE(has(text,
                  "<mark>float rate</mark> = args.learnrate;\n<mark>if (rate &lt; 9</mark>)\n\n  <mark>rate *= "
                  "hvd.size();  // linear</mark></pre>"))
      << text;
}

TEST_F(SideBySide, IsWrittenInTheLearnersLanguage) {
  EXPECT_TRUE(has(page("ja"), "ja\">"));
  EXPECT_TRUE(has(page("ja"), "このタスクの空欄 3 を埋めると"));
  EXPECT_FALSE(has(page("ja"), "of this task"));
}

TEST_F(SideBySide, QuotesHorovodsSample) {
  const std::string text = page();
  EXPECT_TRUE(has(text, "<mark>hvd.init</mark>()"));
  EXPECT_TRUE(has(text, "epochs = <mark>int(math.ceil</mark>(12.0 / <mark>hvd.size</mark>()))"));
  EXPECT_TRUE(has(text, "opt = keras.optimizers.Adadelta(1.0 * <mark>hvd.size</mark>())"));
}

}  // namespace
}  // namespace odori::grader
