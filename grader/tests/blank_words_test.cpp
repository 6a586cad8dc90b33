// What a blank may hold, and the ways round it.
#include "exercise/blank_words.h"

#include <gtest/gtest.h>

#include "exercise/cutter.h"
#include "exercise/task.h"
#include "instructor/corpus.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

const fs::path kit = ODORI_FOLDER;

const std::set<std::string>& kits_words(const Task& task) {
  static std::map<std::string, std::set<std::string>> words;
  const fs::path solution = kit / "solutions" / task.program;
  if (!words.contains(task.name)) words[task.name] = words_of_kit(kit, cut(read_file(solution), solution.string()));
  return words.at(task.name);
}

BlankWords look(const std::string& text) {
  static const std::set<std::string> kits = kits_words(task_named("multi_gpu"));
  const std::vector<std::string> lines = split_lines(text);
  Blank blank;
  blank.text = lines;
  return look_at_words(lines, kits, {blank});
}

/// "forbidden_word system"; empty: nothing is forbidden.
std::string forbidden(const std::string& text) {
  const auto finding = look(text).forbidden;
  if (!finding) return {};
  return finding->key + (finding->values.empty() ? "" : ' ' + finding->values.begin()->second);
}

using Words = std::vector<std::string>;

TEST(BlankWords, AnswersAreFine) {
  for (const char* text : {
           "const int main_device_id = 0;",
           "std::vector<SerialIterator> train_iters;\nfor (int i = 0; i < args.n_gpus; ++i)\n"
           "  train_iters.emplace_back(train[i], args.batchsize, IteratorOptions{.seed = args.seed});",
           "auto f = [&, n = 3](const auto& [name, device]) -> bool { return device == n && !name.empty(); };",
           "int a = 5 % 3;  // a system() in a comment, and \\n in it\nstd::string s = \"exit(1); #define\";",
           "const char* r = R\"(\" fork() \")\";",
           "std::map<std::string, int> devices{{\"main\", 0}};\n[[maybe_unused]] const bool ok = "
           "devices.contains(\"main\");",
           "std::vector<::odori::DatasetPtr> sets; int x = 1'000'000;",
       }) {
    EXPECT_EQ(forbidden(text), "") << text;
    EXPECT_EQ(look(text).unusual, Words{}) << text;
  }
}

TEST(BlankWords, AllRightAnswersOfTheCorpusAreFine) {
  int n = 0;
  for (const CorpusEntry& entry : read_corpus(kit / "grader" / "corpus")) {
    const Task& task = task_named(entry.task);
    std::vector<Blank> blanks;
    for (const auto& [number, text] : entry.texts) {
      blanks.emplace_back().number = number;
      blanks.back().text = text;
    }
    for (const Blank& blank : blanks) {
      if (blank.number == task.n_blanks() || !entry.expected.at(blank.number).passes()) continue;
      const BlankWords words = look_at_words(blank.text, kits_words(task), blanks);
      EXPECT_FALSE(words.forbidden) << entry.title();
      EXPECT_EQ(words.unusual, Words{}) << entry.title();
      ++n;
    }
  }
  EXPECT_GT(n, 60);
}

TEST(BlankWords, UnusualNamesWantALook) {
  EXPECT_EQ(look("std::this_thread::sleep_for(pause);").unusual, (Words{"pause", "sleep_for", "this_thread"}));
  EXPECT_EQ(look("auto p = reinterpret_cast<long>(&model);").unusual, Words{"reinterpret_cast"});
  EXPECT_EQ(look("auto p = (long*)&model;").unusual, Words{"*)"});
  EXPECT_EQ(look("int n = 1; n += m;").unusual, Words{"m"});
}

TEST(BlankWords, NamesOfOtherBlanksAreKnown) {
  Blank first, second;
  first.text = {"const int my_choice = 0;"};
  second.text = {"pool.use(my_choice);"};
  const auto kits = kits_words(task_named("multi_gpu"));
  EXPECT_EQ(look_at_words(second.text, kits, {second}).unusual, Words{"my_choice"});
  EXPECT_EQ(look_at_words(second.text, kits, {first, second}).unusual, Words{});
}

TEST(BlankWords, WhatReachesBeyondTheProgramIsForbidden) {
  for (const char* word : {"system",
                           "popen",
                           "fork",
                           "execl",
                           "execvpe",
                           "posix_spawnp",
                           "_exit",
                           "quick_exit",
                           "raise",
                           "kill",
                           "signal",
                           "getenv",
                           "setenv",
                           "environ",
                           "fopen",
                           "ofstream",
                           "open",
                           "write",
                           "mmap",
                           "dlsym",
                           "socket",
                           "pthread_create",
                           "syscall",
                           "ptrace",
                           "evidence",
                           "set_failure_listener",
                           "asm",
                           "extern",
                           "__asm__",
                           "__attribute__",
                           "__builtin_trap",
                           "_Pragma",
                           "_Exit"})
    EXPECT_EQ(forbidden(std::string("auto x = ") + word + "(1);"), std::string("forbidden_word ") + word);
  EXPECT_EQ(forbidden("f([[gnu::constructor]] int a);"), "forbidden_word [[gnu]]");
  EXPECT_EQ(forbidden("[ [using gnu: alias(\"x\")]] int a;"), "forbidden_word [[using]]");
}

TEST(BlankWords, WhatReachesBeyondTheBlankIsForbidden) {
  EXPECT_EQ(forbidden("#define int long"), "forbidden_directive");
  EXPECT_EQ(forbidden("int a;\n /* x */ # include \"x\""), "forbidden_directive");
  EXPECT_EQ(forbidden("%:include <vector>"), "forbidden_sign %:");
  EXPECT_EQ(forbidden("return 0; }\nint other() {"), "forbidden_bracket }");
  EXPECT_EQ(forbidden("int a<:3:>;"), "forbidden_sign <:");
  EXPECT_EQ(forbidden("<% %>"), "forbidden_sign <%");
}

TEST(BlankWords, WaysRoundAreClosed) {
  EXPECT_EQ(forbidden("sys\\\ntem(\"id\");"), "forbidden_sign \\");
  EXPECT_EQ(forbidden("sys\\ \t\ntem(\"id\");"), "forbidden_sign \\");  // compilers look past the blanks
  EXPECT_EQ(forbidden("// a comment \\\nint a;"), "forbidden_sign \\");
  EXPECT_EQ(forbidden("sys\\u0074em(\"id\");"), "forbidden_sign \\");
  EXPECT_EQ(forbidden("std:: /* x */ system /* y */ (\"id\");"), "forbidden_word system");
  EXPECT_EQ(forbidden("auto f = &::std::system;"), "forbidden_word system");
  // What looks like a quote to a careless eye hides nothing.
  EXPECT_EQ(forbidden("int a = 0x1'f; system(\"'\");"), "forbidden_word system");
  EXPECT_EQ(forbidden("auto a = '\"'; system(\"id\"); auto b = '\"';"), "forbidden_word system");
  EXPECT_EQ(forbidden("auto a = R\"x(\" )y\")x\"; system(\"id\");"), "forbidden_word system");
  EXPECT_EQ(forbidden("auto a = FOR\"(\"; system(\"id\"); auto b = \")\";"), "forbidden_word system");
  EXPECT_EQ(forbidden("auto a = u8R\"(\")\"; system(\"id\");"), "forbidden_word system");
  EXPECT_EQ(forbidden("auto a = \"\\\\\"; system(\"id\");"), "forbidden_word system");
  EXPECT_EQ(forbidden("// R\"(\nsystem(\"id\"); // )\""), "forbidden_word system");
  EXPECT_EQ(forbidden("/* // */ system(\"id\");"), "forbidden_word system");
  EXPECT_EQ(forbidden("assert(1'a'\"'); system(\"id\"); //\"'"), "forbidden_word system");
}

}  // namespace
}  // namespace odori::grader
