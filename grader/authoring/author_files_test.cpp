// SPDX-License-Identifier: Apache-2.0
// What authors write next to an exercise's code is read with care: equivalent.md, hints and messages.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "authoring/equivalent.h"
#include "authoring/texts.h"
#include "errors/error.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

class AuthorFiles : public testing::Test {
 protected:
  fs::path write(const fs::path& name, const std::string& text) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  const fs::path& folder() const { return folder_.path(); }

 private:
  const TemporaryFolder folder_{fs::temp_directory_path() / "odori_author"};
};

using Equivalents = AuthorFiles;
using Texts = AuthorFiles;

TEST_F(Equivalents, AreReadAsTheyArePrinted) {
  const LineChange one{{"return a / n;"}, {"return a * n;"}}, two{{"wait();", "stop();"}, {"stop();"}};
  const auto path = write("equivalent.md", "# Title\n\n## n is 1\n\n" + as_diff(one) + "\nMore.\n\n" + as_diff(two));
  EXPECT_EQ(read_equivalents(path), (std::map<LineChange, std::string>{{one, "n is 1"}, {two, "n is 1"}}));
  EXPECT_TRUE(read_equivalents(folder() / "missing.md").empty());
}

TEST_F(Equivalents, NeedAReasonAndAForm) {
  const std::string diff = as_diff({{"a"}, {"b"}});
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      read_equivalents(write("equivalent.md", text));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("# Title\n" + diff).find("equivalent.md:2: this change has no reason"), std::string::npos);
  EXPECT_NE(refusal("## Why\n" + diff + diff).find("listed above already"), std::string::npos);
  EXPECT_NE(refusal("## Why\n```diff\na\n```\n").find("equivalent.md:3: a line of a change"), std::string::npos);
  EXPECT_NE(refusal("## Why\n```diff\n- a\n").find("not closed"), std::string::npos);
}

TEST_F(Texts, DifferInLanguageAndInNothingElse) {
  const auto faults = [&](const std::string& english, const std::string& japanese) {
    write("messages.ja.md", japanese);
    std::string all;
    for (std::string fault : differences_of_languages(write("messages.md", english)))
      all += fault.substr(fault.rfind('/') + 1);
    return all;
  };
  EXPECT_EQ(faults("## a\nIt is {n}.\n", "## a\n{n} です。\n"), "");
  EXPECT_EQ(faults("## a\nIt is {n}.\n", "## a\n{m} です。\n"),
            "messages.ja.md: a has other {placeholders} than the English text.");
  EXPECT_EQ(faults("## a\n    it();\n", "## a\n    it();\n"), "");
  EXPECT_EQ(faults("## a\nIt.\n", "## a\nIt.\n"), "messages.ja.md: a has the English text.");
  EXPECT_EQ(faults("## a\nIt.\n", "## b\nそれ。\n"), "messages.ja.md: a is missing.messages.md: b is missing.");
  EXPECT_EQ(faults("## a\nIt.\n", "## a\n"), "messages.ja.md: a is empty.");
}

TEST_F(Texts, OfAnExerciseAreCompleteAndAllDifferent) {
  Task task;
  task.folder = "90_toy";
  task.blanks = {{"one", "一"}};
  const auto write_hints = [&](const char* file, const std::string& word, const std::string& last) {
    write(fs::path("solutions/90_toy") / file,
          "## 1.1\n" + word + " 1.\n\n## 1.2\n" + word + " 2.\n\n## " + last + "\n" + word + " 3.\n");
  };
  write_hints("hints.md", "Step", "1.3");
  write_hints("hints.ja.md", "手順", "1.3");
  write("grader/exercises/90_toy/messages.md", "## toy_a\nIt.\n");
  write("grader/exercises/90_toy/messages.ja.md", "## toy_a\nそれ。\n");
  fs::create_directories(folder() / "grader/messages");
  write("grader/exercises/90_toy/checks.cpp", "return found(\"toy_a\");");
  EXPECT_EQ(faults_of_texts(folder(), task), std::vector<std::string>());

  const auto faults = [&] {
    std::set<std::string> sentences;
    for (const std::string& fault : faults_of_texts(folder(), task))
      sentences.insert(fault.substr(fault.rfind('/') + 1));
    return sentences;
  };
  using Sentences = std::set<std::string>;
  write("grader/exercises/90_toy/checks.cpp", "return found(\"toy_b\");");
  EXPECT_EQ(faults(), Sentences{"checks.cpp: there is no message toy_b."});
  write("grader/exercises/90_toy/checks.cpp", "");
  write_hints("hints.ja.md", "手順", "2.1");
  EXPECT_EQ(faults(), (Sentences{"hints.ja.md: 1.3 is missing.", "hints.md: 2.1 is missing.",
                                 "hints.ja.md: there is no hint 1.3.", "hints.ja.md: 2.1 is no hint of a blank."}));
  write("solutions/90_toy/hints.ja.md", "## 1.1\n手順。\n## 1.2\n手順。\n## 1.3\n手順３。\n");
  EXPECT_EQ(faults(), Sentences{"hints.ja.md: 1.2 has the same text as 1.1."});
}

TEST_F(Texts, HaveOneMessageForAKeyInTheKit) {
  Task task;
  task.folder = "90_toy";
  const fs::path exercises = "grader/exercises";
  for (const char* file : {"messages.md", "messages.ja.md"}) {
    const std::string language = file;
    write(exercises / "80_old" / file, "## shared\n" + language + "\n");
    write(exercises / "90_toy" / file, "## shared\n" + language + " too.\n");
  }
  write("solutions/90_toy/hints.md", "");
  write("solutions/90_toy/hints.ja.md", "");
  fs::create_directories(folder() / "grader/messages");
  const auto faults = faults_of_texts(folder(), task);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].find("grader/exercises/80_old/messages.md has a message shared too"), std::string::npos);
}

TEST_F(Texts, AreThereForAFindingWithAllOfItsValues) {
  Task task;
  task.folder = "90_toy";
  fs::create_directories(folder() / "grader/messages");
  write("grader/exercises/90_toy/messages.md", "## toy_a\nIt is {n}, {n|image|images} of {ranks#|rank|ranks} {0}.\n");
  const auto fault = [&](const Finding& finding) { return fault_of_message(folder(), task, finding); };
  EXPECT_EQ(fault({"toy_a", {{"n", "1"}, {"ranks", "0, 1"}}}), "");
  EXPECT_EQ(
      fault({"toy_a", {{"n", "1"}, {"rank", "0"}}}),
      "grader/exercises/90_toy/messages.md: toy_a has a placeholder {ranks}, and a check that reports it gives no "
      "such value.");
  EXPECT_EQ(fault({"toy_b", {}}),
            "grader/exercises/90_toy/messages.md: a check reports toy_b, and there is no such message.");
}

using Descriptions = AuthorFiles;

TEST_F(Descriptions, ThatAreNoJsonAreRefusedWithThePlace) {
  Task task;
  task.folder = "90_toy";
  write("solutions/90_toy/exercise.json", "{\n  \"launch\": \"mpi\"\n  \"blanks\": []\n}\n");
  try {
    points_of(task, folder());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("exercise.json should be JSON. In line 3, column 10: "), std::string::npos)
        << error.what();
  }
}

TEST(Kit, EquivalentMutantsAreStillMade) {
  const fs::path kit = ODORI_FOLDER;
  std::size_t n = 0;
  for (const Task& task : all_tasks()) {
    const auto equivalents = read_equivalents(kit / "solutions" / task.folder / "equivalent.md");
    n += equivalents.size();
    EXPECT_EQ(outdated(equivalents, answers_of(kit, task), task), std::vector<std::string>());
  }
  EXPECT_GT(n, 0u);
  const Task& task = all_tasks().front();
  const auto sentences = outdated({{{{"a"}, {"b"}}, "Why"}}, answers_of(kit, task), task);
  EXPECT_EQ(sentences.size(), 1u);
}

}  // namespace
}  // namespace odori::grader
