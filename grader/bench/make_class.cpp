// SPDX-License-Identifier: Apache-2.0
// A class as a teacher meets it, made from the corpus: answers that are right, in many ways, and wrong, in the ways of
// learners; unfilled, half done, that don't compile, hang or crash; files in all kinds of places, and missing ones.
//
//   odori_make_class STUDENTS FOLDER     writes FOLDER/class/STUDENT/... and, with the verdicts that are known,
//                                        FOLDER/expected.json: {"STUDENT": {"TASK": {"BLANK": ["WRONG"]}}}
//
// The same numbers give the same class.
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "blanks/blanks.h"
#include "blanks/cutter.h"
#include "blanks/task.h"
#include "classroom/self_test/answer_files.h"
#include "errors/error.h"
#include "files/json.h"
#include "flags/command_line.h"
#include "program/program.h"

using namespace odori;
using namespace odori::grader;
namespace fs = std::filesystem;

namespace {

const fs::path kit = ODORI_FOLDER;

using Texts = std::map<int, std::vector<std::string>>;

struct Made {
  std::map<int, Expected> expected;
  Texts texts;
  bool with_program = true, with_script = true;
};

/// The kit's own answers.
Made right(const Task& task) {
  Made made;
  for (const ExerciseFile& file : task.files())
    for (const Blank& blank : parse_blanks(split_lines(read_file(kit / file.solution)), file.solution)) {
      made.texts[blank.number] = blank.text;
      made.expected[blank.number] = {.verdicts = {Verdict::pass}};
    }
  return made;
}

class Class {
 public:
  explicit Class(unsigned seed) : random_(seed), corpus_(read_corpus(kit)) {}

  /// How many of a hundred do what is a guess from courses of this kind.
  Made answer(const Task& task) {
    const int what = below(100);
    Made made = right(task);
    if (what < 30) return with(made, task, {Verdict::pass});
    if (what < 55) return with(made, task, {Verdict::wrong});
    if (what < 65) return with(with(made, task, {Verdict::pass}), task, {Verdict::compile});
    if (what < 68) return with(made, task, {Verdict::hang});
    if (what < 73) return with(made, task, {Verdict::crash});
    if (what < 88) return half_done(made);
    if (what < 94) return nothing_done(made);
    made.with_program = what >= 97;
    made.with_script = what >= 99;
    return made;
  }

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

 private:
  /// One of the corpus' answers to one blank, in the place of what is there.
  Made with(Made made, const Task& task, const std::vector<Verdict>& verdicts) {
    std::vector<const AnswerEntry*> fit;
    for (const AnswerEntry& entry : corpus_)
      if (entry.task == task.name && entry.blanks.size() == 1 && entry.expected.begin()->second.verdicts == verdicts)
        fit.push_back(&entry);
    if (fit.empty()) return made;
    const AnswerEntry& chosen = *fit[static_cast<std::size_t>(below(static_cast<int>(fit.size())))];
    const int blank = chosen.blanks.begin()->first;
    made.texts[blank] = chosen.blanks.begin()->second;
    // Beside an answer that isn't right, what the others get is up to the grader's care: it is right of its own.
    made.expected[blank] = chosen.expected.at(blank);
    return made;
  }

  Made half_done(Made made) {
    const int kept = 1 + below(static_cast<int>(made.texts.size()) - 1);
    std::erase_if(made.texts, [&](const auto& text) { return text.first > kept; });
    for (auto& [blank, expected] : made.expected)
      if (blank > kept) expected = {};
    return made;
  }

  Made nothing_done(Made made) {
    made.texts.clear();
    for (auto& [blank, expected] : made.expected) expected = {};
    return made;
  }

  std::mt19937 random_;
  std::vector<AnswerEntry> corpus_;
};

/// As the kit has them, all in one folder, or somewhere below.
fs::path place_of(const Task& task, const ExerciseFile& file, int layout) {
  if (layout == 0) return file.exercise;
  const fs::path name = file.exercise.filename();
  return layout == 1 ? name : fs::path("hands on") / task.name / name;
}

std::string name_of_student(int number) {
  static const std::vector<std::string> families{"aoki", "青木", "baba", "Ito Hanako", "佐藤 健", "suzuki_t", "O'Neil"};
  return fmt::format("{:03} {}", number, families[static_cast<std::size_t>(number) % families.size()]);
}

}  // namespace

int main(int argc, char** argv) try {
  int students = 0;
  fs::path folder;
  CommandLine line("Makes a class of submissions from the corpus.", argv[0], argc, argv);
  line.add_option("students", students, "How many").required().check(line.whole_number(1, 10000));
  line.add_option("folder", folder, "Where to write it").required();
  line.parse();

  Class all(20261121);
  nlohmann::ordered_json known;
  for (int number = 1; number <= students; ++number) {
    const std::string name = name_of_student(number);
    const int layout = all.below(3);
    for (const Task& task : all_tasks()) {
      const Made made = all.answer(task);
      for (const ExerciseFile& file : task.files()) {
        const bool is_program = file.solution == task.program.solution;
        if (!(is_program ? made.with_program : made.with_script)) continue;
        const fs::path path = folder / "class" / name / place_of(task, file, layout);
        fs::create_directories(path.parent_path());
        std::ofstream(path) << filled_exercise(kit / file.solution, made.texts);
      }
      fs::create_directories(folder / "class" / name);
      if (!made.with_program || !made.with_script) continue;
      for (const auto& [blank, expected] : made.expected)
        for (const Verdict verdict : expected.verdicts)
          known[name][task.name][std::to_string(blank)].push_back(name_of(verdict));
    }
  }
  std::ofstream(folder / "expected.json") << json_text(known, 2) << '\n';
  return 0;
} catch (...) {
  return report_failure();
}
