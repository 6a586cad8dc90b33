// SPDX-License-Identifier: Apache-2.0
// Which texts a blank may hold, and which ways around the rules are closed.
#include "blanks/blank_identifiers.h"

#include <gtest/gtest.h>

#include "blanks/planted_fault.h"
#include "blanks/task.h"
#include "classroom/self_test/answer_files.h"

namespace odori::grader {
namespace {

const std::filesystem::path kit = ODORI_FOLDER;

BlankIdentifiers look(const std::string& text, int first_line = 1) {
  Blank blank;
  blank.text_line = first_line;
  blank.text = split_lines(text);
  return look_at_identifiers(blank);
}

/// "forbidden_word dlsym"; empty: nothing is forbidden.
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
           "int a = 5 % 3;  // a dlsym() in a comment, and \\n in it\nstd::string s = \"asm(1); #define\";",
           "const char* r = R\"(\" mmap() \")\";",
           "std::map<std::string, int> devices{{\"main\", 0}};\n[[maybe_unused]] const bool ok = "
           "devices.contains(\"main\");",
           "std::vector<::odori::DatasetPtr> sets; int x = 1'000'000;",
           "struct Mine { int sum; }; Mine mine{.sum = 3}; mine.sum += 1; (&mine)->sum = 0;",
           "const auto raised = [](int n) -> int { return n + 1; }; int time = raised(1), index = time, access = 0;",
           "comm.send(chunk, next); struct Trainer { int n; }; auto report_throughput = 1;",
           "fmt::print(\"{} {} {}\", __func__, __FILE__, __LINE__); auto f = std::bind(g, 3);",
           "unsigned __int128 product = 1;",
           "const auto all = []<class... Kinds>(Kinds&&... rest) { return (std::trunc(rest) + ...); };",
           "int counts<:2:> = <%1, 2%>; bool b = not counts<:0:> and 0x1F'FFull > 1'0.5e+3;",
           "const char* text = R\"sql(\n  #include \" // \\ dlsym( )sql\";  // goes on \\\n  here: dlsym()\nint n = "
           "1;",
           "std::string 名前 = \"表示\"s;  // \u8868\u793A\n/* \u3000 */ int \u756A\u53F7 = 0;",
       }) {
    EXPECT_EQ(forbidden(text), "") << text;
    EXPECT_EQ(look(text).unusual, Words{}) << text;
  }
}

TEST(BlankIdentifiers, NoRightAnswerOfTheCorpusIsRefused) {
  int n = 0;
  for (const AnswerEntry& entry : read_corpus(kit))
    for (const auto& [number, text] : entry.blanks) {
      if (number == task_named(entry.task).n_blanks() || !entry.expected.at(number).passes()) continue;
      EXPECT_EQ(forbidden(join_lines(text)), "") << entry.title();
      ++n;
    }
  EXPECT_GT(n, 60);
}

TEST(BlankIdentifiers, NoAnswerOfTheKitHasAListedName) {
  for (const Task& task : all_tasks()) {
    const std::string path = kit / task.program.solution;
    for (Blank& blank : parse_blanks(split_lines(read_file(path)), path)) {
      if (const auto fault = planted_fault_of(blank, path)) blank.given = fault->given;
      EXPECT_EQ(look_at_identifiers(blank).unusual, Words{}) << path << " " << blank.number;
    }
  }
}

TEST(BlankIdentifiers, ListedNamesAreShownWhereverTheyStand) {
  EXPECT_EQ(look("std::this_thread::sleep_for(std::chrono::seconds(1));").unusual, (Words{"chrono", "sleep_for"}));
  EXPECT_EQ(look("auto p = reinterpret_cast<long>(&model);").unusual, Words{"reinterpret_cast"});
  EXPECT_EQ(look("int close = 1, read = close; mine.open = read;").unusual, (Words{"close", "open", "read"}));
  EXPECT_EQ(look("::system(\"id\"); std::ofstream file;").unusual, (Words{"ofstream", "system"}));
  EXPECT_EQ(look("const int id = args.model == \"vgg\" ? args.seed : args.n_gpus;").unusual, Words{"args.model"});
  EXPECT_EQ(look("// fopen\nconst char* text = \"system\";").unusual, Words{});
  Blank blank;
  blank.text = {"std::ifstream file(name);", "std::ofstream copy(args.model + args.out);"};
  blank.given = {"std::ifstream file(args.out);  // ofstream"};
  EXPECT_EQ(look_at_identifiers(blank).unusual, (Words{"args.model", "ofstream"})) << "the others were given";
  blank.text.push_back("const bool judged = args.out.empty();");
  EXPECT_EQ(look_at_identifiers(blank).unusual, (Words{"args.model", "args.out", "ofstream"})) << "twice now";
}

TEST(BlankIdentifiers, ListedNamesAreNotRefused) {
  for (const std::string& name : listed_names()) EXPECT_EQ(forbidden("auto x = " + name + "(1);"), "");
}

TEST(BlankIdentifiers, RefusedNamesAreRefusedWhereverTheyStand) {
  for (const char* const word : {"asm",
                                 "dlopen",
                                 "dlmopen",
                                 "dlsym",
                                 "dlvsym",
                                 "dladdr",
                                 "dl_iterate_phdr",
                                 "mprotect",
                                 "mmap",
                                 "mmap64",
                                 "munmap",
                                 "mremap",
                                 "pkey_mprotect",
                                 "process_vm_readv",
                                 "process_vm_writev",
                                 "ptrace",
                                 "syscall",
                                 "getenv",
                                 "secure_getenv",
                                 "setenv",
                                 "putenv",
                                 "unsetenv",
                                 "clearenv",
                                 "environ",
                                 "observe",
                                 "facts",
                                 "evidence",
                                 "ODORI_EVIDENCE",
                                 "ODORI_TEST_CASES",
                                 "context_",
                                 "set_failure_listener",
                                 "set_job_end",
                                 "end_job",
                                 "catch_interrupts",
                                 "predict_for_check"}) {
    const std::string name = word;
    for (const std::string& text : {"auto x = " + name + "(1);", "int " + name + " = 0;", "mine." + name + " = 1;",
                                    "::" + name + "();", "std:: /* x */ " + name + " /* y */ ();"})
      EXPECT_EQ(forbidden(text), "forbidden_word " + name) << text;
  }
  for (const char* word : {"__asm__", "__asm", "__attribute__", "__builtin_trap", "_Pragma", "_Exit"})
    EXPECT_EQ(forbidden(std::string("auto x = ") + word + "(1);"), std::string("forbidden_reserved ") + word);
  EXPECT_EQ(forbidden("f([[gnu::constructor]] int a);"), "forbidden_attribute gnu");
  EXPECT_EQ(forbidden("[ [using gnu: alias(\"x\")]] int a;"), "forbidden_attribute using");
}

TEST(BlankIdentifiers, FindingsSayTheLineOfTheFile) {
  const auto found = [](const char* text) { return look(text, 40).forbidden; };
  EXPECT_EQ(found("int a;\ndlsym(\"\");"), (Finding{"forbidden_word", {{"word", "dlsym"}, {"line", "41"}}}));
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
  for (const char* text : {"int a = 1;\nif (a > 0)", "for (const int b : {1, 2})  // each", "while (f(a))",
                           "switch (a)", "if constexpr (sizeof(a) > 1)", "if (a) b(); else", "do", "else if (a)"}) {
    EXPECT_TRUE(forbidden(text).starts_with("statement_missing ")) << text;
    EXPECT_TRUE(is_slip(*look(text).forbidden)) << text;
  }
  for (const char* text :
       {"if (a) { b(); }", "if (a) b();", "for (;;) break;", "f(a)", "int b = (a)", "x[(1)]", "if (a) ;",
        "auto f = [](int c) { if (c) return; };", "do { b(); } while (a);", "do { b(); } while (a)", "int d[(2)];"})
    EXPECT_EQ(forbidden(text), "") << text;
  EXPECT_EQ(look("int a;\nif (a)").forbidden, (Finding{"statement_missing", {{"word", "if"}, {"line", "2"}}}));
}

TEST(BlankIdentifiers, WaysAroundAreClosed) {
  EXPECT_EQ(forbidden("dl\\\nsym(\"id\");"), "forbidden_sign \\");
  EXPECT_EQ(forbidden("dl\\\v\nsym(\"id\");"), "forbidden_sign \\");
  EXPECT_EQ(forbidden("dl\\ \t\nsym(\"id\");"), "forbidden_sign \\");  // compilers look past the blanks
  EXPECT_EQ(forbidden("dl\\u0073ym(\"id\");"), "forbidden_sign \\");
  EXPECT_EQ(forbidden("std:: /* x */ dlsym /* y */ (\"id\");"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("auto f = &::std::dlsym;"), "forbidden_word dlsym");
  // What looks like a quote to a careless eye hides nothing.
  EXPECT_EQ(forbidden("int a = 0x1'f; dlsym(\"'\");"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("auto a = '\"'; dlsym(\"id\"); auto b = '\"';"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("auto a = R\"x(\" )y\")x\"; dlsym(\"id\");"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("auto a = FOR\"(\"; dlsym(\"id\"); auto b = \")\";"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("auto a = u8R\"(\")\"; dlsym(\"id\");"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("auto a = \"\\\\\"; dlsym(\"id\");"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("// R\"(\ndlsym(\"id\"); // )\""), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("/* // */ dlsym(\"id\");"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("assert(1'a'\"'); dlsym(\"id\"); //\"'"), "quote_not_closed '");
  EXPECT_EQ(forbidden("auto a = \"\"R\"(\"; dlsym(\"id\"); auto b = \")\"R\"\";"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("// \\\v\n/*\ndlsym(\"id\"); // */"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("/* *\\\n/ dlsym(\"id\"); // */"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("int a = 1''2; dlsym(\"'\");"), "quote_not_closed '");
  EXPECT_EQ(forbidden("int a = 1'e+dlsym(\"id\");"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("auto a = '\"'\"\"; dlsym(\"id\"); //\"'"), "forbidden_word dlsym");
  EXPECT_EQ(forbidden("a<<:dlsym(\"id\"):>"), "forbidden_word dlsym");
}

}  // namespace
}  // namespace odori::grader
