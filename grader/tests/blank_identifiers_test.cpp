// What a blank may hold, and the ways round it.
#include "exercise/blank_identifiers.h"

#include <gtest/gtest.h>

#include "exercise/cutter.h"
#include "exercise/task.h"
#include "instructor/corpus.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

const fs::path kit = ODORI_FOLDER;

const KitIdentifiers& kits_identifiers(const Task& task) {
  static std::map<std::string, KitIdentifiers> identifiers;
  const fs::path path = kit / task.program.solution;
  if (!identifiers.contains(task.name)) {
    const std::string solution = read_file(path);
    identifiers[task.name] = identifiers_of_kit(kit, cut(solution, path.string()), solution);
  }
  return identifiers.at(task.name);
}

/// In the first blank of task 1.
BlankIdentifiers look(const std::string& text) {
  Blank blank;
  blank.number = blank.text_line = 1;
  blank.text = split_lines(text);
  return look_at_identifiers(blank, kits_identifiers(task_named("multi_gpu")), {blank});
}

/// "forbidden_word system"; empty: nothing is forbidden.
std::string forbidden(const std::string& text) {
  const auto finding = look(text).forbidden;
  if (!finding) return {};
  std::string all = finding->key;
  for (const auto& [name, value] : finding->values)
    if (name != "line") all += ' ' + value;
  return all;
}

using Words = std::vector<std::string>;

TEST(BlankIdentifiers, AnswersAreFine) {
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
           "int close = 1, read = close; const bool select = read > 1; auto& [open, write] = devices;",
           "struct Mine { int send; }; Mine mine{.send = 3}; mine.send += 1; (&mine)->send = 0;",
           "const auto raise = [](int poll) -> int { return poll + 1; }; int time = raise(1), index = time, access = "
           "0;",
           "fmt::print(\"{} {} {}\", __func__, __FILE__, __LINE__); auto f = std::bind(g, 3);",
           "unsigned __int128 product = 1;",
           "const auto all = []<class... Kinds>(Kinds&&... rest) { return (std::trunc(rest) + ...); };",
           "int counts<:2:> = <%1, 2%>; bool b = not counts<:0:> and 0x1F'FFull > 1'0.5e+3;",
           "const char* text = R\"sql(\n  #include \" // \\ system( )sql\";  // goes on \\\n  here: system()\nint n = "
           "1;",
           "std::string 名前 = \"表示\"s;  // \u8868\u793A\n/* \u3000 */ int \u756A\u53F7 = 0;",
       }) {
    EXPECT_EQ(forbidden(text), "") << text;
    EXPECT_EQ(look(text).unusual, Words{}) << text;
  }
}

TEST(BlankIdentifiers, AllRightAnswersOfTheCorpusAreFine) {
  int n = 0;
  for (const CorpusEntry& entry : read_corpus(kit)) {
    const Task& task = task_named(entry.task);
    std::vector<Blank> blanks;
    for (const auto& [number, text] : entry.texts) {
      blanks.emplace_back().number = number;
      blanks.back().text = text;
    }
    for (const Blank& blank : blanks) {
      if (blank.number == task.n_blanks() || !entry.expected.at(blank.number).passes()) continue;
      const BlankIdentifiers words = look_at_identifiers(blank, kits_identifiers(task), blanks, task.identifiers);
      EXPECT_FALSE(words.forbidden) << entry.title();
      for (const std::string& word : words.unusual)
        EXPECT_NE(word.find(" : "), std::string::npos) << entry.title() << ": " << word;
      ++n;
    }
  }
  EXPECT_GT(n, 60);
}

TEST(BlankIdentifiers, UnusualNamesWantALook) {
  EXPECT_EQ(look("std::this_thread::sleep_for(pause);").unusual, (Words{"pause", "sleep_for", "this_thread"}));
  EXPECT_EQ(look("auto p = reinterpret_cast<long>(&model);").unusual, Words{"reinterpret_cast"});
  EXPECT_EQ(look("auto p = (long*)&model;").unusual, Words{"*)"});
  EXPECT_EQ(look("int n = 1; n += of_nowhere;").unusual, Words{"of_nowhere"});
}

TEST(BlankIdentifiers, WhatCanTellTheChecksFromATrainingWantsALook) {
  EXPECT_EQ(look("const int id = args.model == \"vgg\" ? 1 : args.n_gpus - 1;").unusual, Words{"args.model"});
  EXPECT_EQ(look("struct Mine final : public odori::Hook { int asked; };").unusual, Words{"struct Mine final : Hook"});
  EXPECT_EQ(look("class Mine : Hook {};").unusual, Words{"class Mine : Hook"});
  EXPECT_EQ(look("auto now = std::chrono::steady_clock::now();").unusual, (Words{"chrono", "steady_clock"}));
  for (const char* text :
       {"struct Mine { int n; };", "struct Mine : std::vector<int> {};", "enum class Mine : int { a };"})
    EXPECT_EQ(look(text).unusual, Words{}) << text;
}

TEST(BlankIdentifiers, NamesOfOtherBlanksAreKnown) {
  Blank first, second;
  first.text = {"const int my_choice = 0;"};
  second.text = {"pool.use(my_choice);"};
  const KitIdentifiers& kits = kits_identifiers(task_named("multi_gpu"));
  EXPECT_EQ(look_at_identifiers(second, kits, {second}).unusual, Words{"my_choice"});
  EXPECT_EQ(look_at_identifiers(second, kits, {first, second}).unusual, Words{});
}

TEST(BlankIdentifiers, WhatReachesBeyondTheProgramIsForbidden) {
  for (const char* word : {"system",
                           "popen",
                           "fork",
                           "execl",
                           "execvpe",
                           "posix_spawnp",
                           "_exit",
                           "quick_exit",
                           "getenv",
                           "setenv",
                           "environ",
                           "fopen",
                           "ofstream",
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
                           "observe",
                           "facts",
                           "predict_for_check",
                           "context_"})
    EXPECT_EQ(forbidden(std::string("auto x = ") + word + "(1);"), std::string("forbidden_word ") + word);
  for (const char* word : {"__asm__", "__attribute__", "__builtin_trap", "_Pragma", "_Exit"})
    EXPECT_EQ(forbidden(std::string("auto x = ") + word + "(1);"), std::string("forbidden_reserved ") + word);
  EXPECT_EQ(forbidden("f([[gnu::constructor]] int a);"), "forbidden_attribute gnu");
  EXPECT_EQ(forbidden("[ [using gnu: alias(\"x\")]] int a;"), "forbidden_attribute using");
}

TEST(BlankIdentifiers, FunctionsOfTheSystemAreForbiddenAndVariablesOfTheirNamesAreNot) {
  for (const char* word : {"close", "read", "write", "open", "connect", "send", "raise", "select", "exit", "kill"}) {
    const std::string name = word, refused = "forbidden_function " + name;
    EXPECT_EQ(forbidden("auto x = " + name + "(1);"), refused);
    EXPECT_EQ(forbidden("auto x = &" + name + ";"), refused);
    EXPECT_EQ(forbidden("int " + name + " = 0; ::" + name + "(1);"), refused);
    EXPECT_EQ(forbidden("int " + name + " = 0; std::" + name + "(1);"), refused);
    EXPECT_EQ(forbidden("int " + name + " = 0; " + name + " += 1;"), "");
  }
}

TEST(BlankIdentifiers, WhatAnExerciseAllowsIsTheProgramsOwnAndNotTheSystems) {
  Blank blank;
  const auto found = [&blank](const std::string& text) {
    blank.text = split_lines(text);
    const BlankIdentifiers words = look_at_identifiers(blank, {}, {blank}, {"send", "midpoint"});
    return (words.forbidden ? words.forbidden->key : "") + fmt::format("{}", words.unusual.size());
  };
  EXPECT_EQ(found("send(1); return std::midpoint(2, 3);"), "0");
  EXPECT_EQ(found("::send(1);"), "forbidden_function0");
  EXPECT_EQ(found("std::send(1);"), "forbidden_function0");
  EXPECT_EQ(found("recv(1);"), "forbidden_function1");
  EXPECT_EQ(found("return bit_cast(2);"), "1");
}

TEST(BlankIdentifiers, FindingsSayTheLineOfTheFile) {
  Blank blank;
  blank.text_line = 40;
  const auto found = [&blank](const std::string& text) {
    blank.text = split_lines(text);
    return look_at_identifiers(blank, {}, {blank}).forbidden;
  };
  EXPECT_EQ(found("int a;\nsystem(\"\");"), (Finding{"forbidden_word", {{"word", "system"}, {"line", "41"}}}));
  EXPECT_EQ(found("int a;\n\n \"b"), (Finding{"quote_not_closed", {{"sign", "\""}, {"line", "42"}}}));
  EXPECT_EQ(found("/* a\nb */ # c"), (Finding{"forbidden_directive", {{"line", "41"}}}));
}

TEST(BlankIdentifiers, WhatReachesBeyondTheBlankIsForbidden) {
  EXPECT_EQ(forbidden("#define int long"), "forbidden_directive");
  EXPECT_EQ(forbidden("int a;\n /* x */ # include \"x\""), "forbidden_directive");
  EXPECT_EQ(forbidden("%:include <vector>"), "forbidden_directive");
  EXPECT_EQ(forbidden("return 0; }\nint other() {"), "forbidden_bracket }");
  EXPECT_EQ(forbidden("%> int other() <%"), "forbidden_bracket }");
}

TEST(BlankIdentifiers, WhatWouldTakeTheNextLineIsASlip) {
  for (const char* text :
       {"int a = 1;\nif (a > 0)", "for (const int b : {1, 2})  // each", "while (f(a))", "if (a) { b(); } while (c)",
        "switch (a) case 1:", "switch (a) default:", "switch (a)", "if constexpr (sizeof(a) > 1)", "if (a) b(); else",
        "do", "if (a) [[unlikely]]", "if (a)\nhere :", "if (a) if (b) [[likely]] there:", "else if (a)"}) {
    EXPECT_TRUE(forbidden(text).starts_with("statement_missing ")) << text;
    EXPECT_TRUE(is_slip(*look(text).forbidden)) << text;
  }
  for (const char* text :
       {"if (a) { b(); }", "if (a) b();", "for (;;) break;", "f(a)", "int b = (a)", "x[(1)]", "if (a) ;",
        "auto f = [](int c) { if (c) return; };", "do { b(); } while (a);", "do { b(); } while (a)", "int d[(2)];"})
    EXPECT_EQ(forbidden(text), "") << text;
  EXPECT_EQ(look("int a;\nif (a)").forbidden, (Finding{"statement_missing", {{"word", "if"}, {"line", "2"}}}));
}

TEST(BlankIdentifiers, NamesThatTheLinesBelowTakeFromTheLibraryAreTheirs) {
  for (const char* text :
       {"struct Trainer { int n; };", "class Trainer final {};", "using Trainer = int;", "typedef int Trainer;",
        "enum Trainer { a };", "auto report_throughput = [](int) {};", "int a = 1, report_throughput = 2;",
        "auto [Trainer, b] = pair;", "const auto& [a, Trainer] = pair;", "namespace Trainer = std;",
        "if (a) { b(); }\nauto report_throughput = 1;", "void report_throughput(int);", "int* report_throughput = p;",
        "std::vector<int> report_throughput;"})
    EXPECT_TRUE(forbidden(text).starts_with("forbidden_name ")) << text;
  for (const char* text :
       {"using namespace std;", "using std::vector;", "using enum Kind;", "{ struct Trainer { int n; }; }",
        "auto f = [](int report_throughput) { return report_throughput; };", "struct Mine { int Trainer; };",
        "struct Mine : public Trainer { int n; };", "for (int report_throughput = 0;;) break;",
        "const bool a = b and report_throughput(c, 1);", "if (a) b(); else report_throughput(c, 1);",
        "struct Trainer mine(a);", "std::map<int, Trainer, std::less<>> all;", "return report_throughput(c, 1);",
        "auto f = []<typename Trainer>(Trainer& a) { return a; };",
        "auto f = [](int a) -> const Trainer { return a; };", "auto load_cifar = 1;", "int report = 1, failure = 2;",
        "auto report_failure = 3;"})
    EXPECT_EQ(forbidden(text), "") << text;
  EXPECT_EQ(look("int a;\n\nint Trainer = 1;").forbidden,
            (Finding{"forbidden_name", {{"word", "Trainer"}, {"line", "3"}}}));
}

TEST(BlankIdentifiers, WaysRoundAreClosed) {
  EXPECT_EQ(forbidden("sys\\\ntem(\"id\");"), "forbidden_sign \\");
  EXPECT_EQ(forbidden("sys\\\v\ntem(\"id\");"), "forbidden_sign \\");
  EXPECT_EQ(forbidden("sys\\ \t\ntem(\"id\");"), "forbidden_sign \\");  // compilers look past the blanks
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
  EXPECT_EQ(forbidden("assert(1'a'\"'); system(\"id\"); //\"'"), "quote_not_closed '");
  EXPECT_EQ(forbidden("auto a = \"\"R\"(\"; system(\"id\"); auto b = \")\"R\"\";"), "forbidden_word system");
  EXPECT_EQ(forbidden("// \\\v\n/*\nsystem(\"id\"); // */"), "forbidden_word system");
  EXPECT_EQ(forbidden("/* *\\\n/ system(\"id\"); // */"), "forbidden_word system");
  EXPECT_EQ(forbidden("int a = 1''2; system(\"'\");"), "quote_not_closed '");
  EXPECT_EQ(forbidden("int a = 1'e+system(\"id\");"), "forbidden_word system");
  EXPECT_EQ(forbidden("auto a = '\"'\"\"; system(\"id\"); //\"'"), "forbidden_word system");
  EXPECT_EQ(forbidden("a<<:system(\"id\"):>"), "forbidden_word system");
}

}  // namespace
}  // namespace odori::grader
