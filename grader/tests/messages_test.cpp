// SPDX-License-Identifier: Apache-2.0
// Every message exists in both languages, with the same placeholders, and fits a screen.
#include "messages/messages.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "authoring/texts.h"
#include "blanks/blanks.h"
#include "blanks/task.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

std::set<std::string> placeholders_in(const std::string& text) {
  static const std::regex placeholder(R"(\{[a-z_0-9]+\})");
  return {std::sregex_token_iterator(text.begin(), text.end(), placeholder), std::sregex_token_iterator()};
}

/// Those of grader/messages/ and of each exercise.
std::vector<fs::path> english_files() {
  std::vector<fs::path> folders{fs::path(ODORI_FOLDER) / "grader" / "messages"}, files;
  for (const Task& task : all_tasks()) folders.push_back(fs::path(ODORI_FOLDER) / "grader" / "exercises" / task.folder);
  for (const fs::path& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".md") && !name.ends_with(".ja.md")) files.push_back(entry.path());
    }
  return files;
}

TEST(Messages, AreThereInBothLanguagesWithTheSamePlaceholders) {
  std::set<std::string> keys;
  for (const fs::path& name : english_files()) {
    EXPECT_EQ(differences_of_languages(name), std::vector<std::string>());
    for (const auto& [key, text] : read_sections(name))
      EXPECT_TRUE(keys.insert(key).second) << key << " stands in another file as well as in " << name;
  }
  EXPECT_GT(keys.size(), 40u);
}

std::string code_of(const fs::path& folder) {
  std::string code;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h") code += read_file(entry.path());
  return code;
}

/// Each message of an exercise is that of one of its checks.
TEST(Messages, OfExercisesBelongToTheirChecks) {
  const fs::path grader = fs::path(ODORI_FOLDER) / "grader";
  // What the library refuses has names that are keys.
  const std::string shared =
      code_of(grader / "checks") + read_file(fs::path(ODORI_FOLDER) / "lib" / "observe" / "refusal.h");
  std::string all = shared;
  for (const Task& task : all_tasks()) {
    const std::string code = code_of(grader / "exercises" / task.folder);
    all += code;
    const auto messages = read_sections(grader / "exercises" / task.folder / "messages.md");
    EXPECT_FALSE(messages.empty()) << task.name;
    for (const auto& [key, text] : messages) EXPECT_NE((shared + code).find('"' + key + '"'), std::string::npos) << key;
  }
  for (const auto& [key, text] : read_sections(grader / "messages" / "training.md"))
    EXPECT_NE(all.find('"' + key + '"'), std::string::npos) << key;
}

TEST(Messages, AndHintsOfExercisesAreWhatTheAuthoringToolAsksFor) {
  for (const Task& task : all_tasks()) EXPECT_EQ(faults_of_texts(ODORI_FOLDER, task), std::vector<std::string>());
}

/// Keys in the code, in quotes behind a finding, are sections.
TEST(Messages, ThatTheCodeAsksForExist) {
  const Messages messages(ODORI_FOLDER, "en");
  const std::regex key(
      R"re((?:Finding|EnvironmentFault\(|EnvironmentFault\(Finding|unreadable\(|or_else\()\{?"([a-z_0-9]+)")re");
  int found = 0;
  for (const char* folder : {"blanks", "runner", "checks", "learner"})
    for (const auto& entry : fs::directory_iterator(fs::path(ODORI_FOLDER) / "grader" / folder)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string code = read_file(entry.path());
      for (std::sregex_iterator match(code.begin(), code.end(), key), end; match != end; ++match, ++found)
        EXPECT_NE(messages.text((*match)[1].str()), (*match)[1].str()) << entry.path();
    }
  EXPECT_GT(found, 25);
}

TEST(Messages, FillInPlaceholders) {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) unsetenv(name);
  const Messages messages(ODORI_FOLDER, "en");
  EXPECT_EQ(messages.text("hint_command", {{"task", "multi_gpu"}, {"blank", "3"}}), "A hint: ./odori hint multi_gpu 3");
  EXPECT_EQ(messages.text("no_such_key", {{"a", "b"}}), "no_such_key a=b");
}

TEST(Table, HasColumnsAsWideAsTheirWidestCell) {
  EXPECT_EQ(padded("空欄", 6), "空欄  ");
  EXPECT_EQ(padded("blank", 2), "blank");
  EXPECT_EQ(table_lines({{"空欄", "x", ""}, {"1", "long", "end"}, {"2"}}),
            (std::vector<std::string>{"空欄  x", "1     long  end", "2"}));
}

TEST(Messages, HoldTextsOfAnyLength) {
  const Messages messages(ODORI_FOLDER, "ja");
  const std::string digits(300'000, '1');
  EXPECT_NE(messages.text("compile_error", {{"message", "./odori check multi_gpu " + digits}}).find(digits.substr(3)),
            std::string::npos);
}

TEST(Messages, AgreeInNumber) {
  const Messages messages(ODORI_FOLDER, "en");
  EXPECT_EQ(messages.text("more_changes", {{"n", "1"}}), "and 1 more line.");
  EXPECT_EQ(messages.text("more_changes", {{"n", "2"}}), "and 2 more lines.");
  const auto waiting = [&](const char* waiting, const char* missing) {
    return messages.text("hang_collective", {{"waiting", waiting}, {"missing", missing}, {"call", "barrier()"}});
  };
  EXPECT_NE(waiting("3", "0, 1, 2").find("rank 3 waited in barrier() for ranks 0, 1, 2,"), std::string::npos);
  EXPECT_NE(waiting("0, 1", "2").find("ranks 0, 1 waited in barrier() for rank 2,"), std::string::npos);
}

/// What is chosen by its number stands beside that number in all languages.
TEST(Messages, ChooseWordsByPlaceholdersThatTheyHave) {
  const std::regex choice(R"(\{([a-z_0-9]+)#?\|[^{}|]*\|[^{}|]*\})"), begun(R"(\{[a-z_0-9]+#?\|)");
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ODORI_FOLDER) / "grader" / "messages"))
    for (const auto& [key, text] : read_sections(entry.path())) {
      const auto count = [&](const std::regex& form) {
        return std::distance(std::sregex_iterator(text.begin(), text.end(), form), std::sregex_iterator());
      };
      EXPECT_EQ(count(choice), count(begun)) << key;
      for (std::sregex_iterator match(text.begin(), text.end(), choice), end; match != end; ++match, ++seen)
        EXPECT_TRUE(placeholders_in(text).contains('{' + (*match)[1].str() + '}')) << key << ": " << match->str();
    }
  EXPECT_GT(seen, 10);
}

/// A learner who chose the language by a flag gets it again from a command that is suggested.
TEST(Messages, KeepTheLanguageInCommandsWhereTheEnvironmentHasAnother) {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) unsetenv(name);
  const Messages japanese(ODORI_FOLDER, "ja");
  const std::map<std::string, std::string> values{{"task", "multi_gpu"}, {"blank", "3"}};
  EXPECT_NE(japanese.text("hint_command", values).find("./odori hint multi_gpu 3 --lang ja"), std::string::npos);
  EXPECT_NE(japanese.text("status_next", values).find("./odori check multi_gpu --lang ja"), std::string::npos);
  EXPECT_EQ(japanese.text("not_built", {{"folder", "build"}}).find("--lang"), std::string::npos);
  setenv("LANG", "ja_JP.UTF-8", 1);
  EXPECT_EQ(Messages(ODORI_FOLDER, "ja").text("hint_command", values).find("--lang"), std::string::npos);
  EXPECT_NE(Messages(ODORI_FOLDER, "en").text("hint_command", values).find("--lang en"), std::string::npos);
  unsetenv("LANG");
}

TEST(Messages, AreInTheLanguageOfTheEnvironment) {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) unsetenv(name);
  EXPECT_EQ(language(), "en");
  setenv("LANG", "ja_JP.UTF-8", 1);
  EXPECT_EQ(language(), "ja");
  setenv("LC_MESSAGES", "de_DE.UTF-8", 1);
  EXPECT_EQ(language(), "en");
  setenv("LC_ALL", "", 1);
  EXPECT_EQ(language(), "en");
  ask_language("ja");
  EXPECT_EQ(language(), "ja") << "--lang counts before the environment";
  EXPECT_EQ(language_of_environment(), "en");
  ask_language("");
}

using Lines = std::vector<std::string>;

TEST(Wrap, BreaksBetweenWordsAndJoinsAParagraphsLines) {
  EXPECT_EQ(wrap("one two\nthree four", 10, 2), (Lines{"  one two", "  three", "  four"}));
  EXPECT_EQ(wrap("one\n\ntwo", 20, 0), (Lines{"one", "two"}));
  EXPECT_EQ(wrap("a-very-long-word", 4, 0), (Lines{"a-very-long-word"}));
}

TEST(Wrap, KeepsCodeAsItIs) {
  EXPECT_EQ(wrap("line 3:\n\n    int  a =  b;\n         ^\n", 10, 2),
            (Lines{"  line 3:", "      int  a =  b;", "           ^"}));
}

TEST(Wrap, CountsJapaneseCharactersTwiceAndBreaksBetweenThem) {
  EXPECT_EQ(width_of("空欄 3"), 6);
  EXPECT_EQ(wrap("空欄の中に\n答えを書く", 12, 0), (Lines{"空欄の中に答", "えを書く"}));
  EXPECT_EQ(wrap("空欄の中です。次", 12, 0), (Lines{"空欄の中で", "す。次"}));
  EXPECT_EQ(wrap("関数 scatter_dataset を呼ぶ", 16, 0), (Lines{"関数", "scatter_dataset", "を呼ぶ"}));
}

TEST(Width, IsThatOfTheUnicodeDatabaseAndTextsAreCutBetweenCharacters) {
  EXPECT_EQ(width_of("aé踊！😀"), 8);
  EXPECT_EQ(cut_to("踊る", 3), "踊");
  EXPECT_EQ(cut_to("踊る", 4, "..."), "踊る");
  EXPECT_EQ(cut_to("踊る踊", 5, "..."), "踊...");
  EXPECT_EQ(cut_to("ab\xE3\x81", 2), "ab");
  EXPECT_EQ(cut_to("abcd", 1, "..."), "...");
}

}  // namespace
}  // namespace odori::grader
