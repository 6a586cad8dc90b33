// A learner's answer to one exercise, as its files alone show it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blanks/blank_identifiers.h"
#include "blanks/submission.h"
#include "blanks/task.h"
#include "checks/try_program.h"
#include "checks/verdict.h"
#include "runner/sandbox.h"

namespace odori::grader {

struct Question {
  const Task& task;
  std::filesystem::path kit, build;       // the kit's folder, and the one that it is built in
  std::filesystem::path program, script;  // the learner's files
  std::uint64_t seed = 0;                 // of the data that the checks train on
  std::filesystem::path out = {};         // the folder for pages
  const Sandbox* sandbox = nullptr;       // round all of a submission's that isn't the user's own
  bool apart = false;                     // it is somebody else's answer: what it builds is kept in TMPDIR alone
};

struct Answers {
  Submission program, script;
  std::map<int, double> points_of;
  std::map<int, BlankIdentifiers> identifiers = {};  // of each blank that holds an answer
  std::string around = {};                           // the program that its blanks are taken into: the kit's
};

/// Reads the learner's files. Throws EnvironmentFault if they, or the kit's, can't be read.
Answers read_answers(const Question& question);

/// What the text of a program's blank alone tells; nothing if it has to be built.
std::optional<Outcome> outcome_of_text(const Answers& answers, int blank);
/// Of the job script's blank.
Outcome outcome_of_script(const Question& question, const Submission& script);

/// What the files alone tell, with nothing built and nothing run: blanks that are left empty or can't be read, and the
/// job script's select line. Blanks that it says nothing about may be right or wrong.
std::vector<BlankVerdict> verdicts_of_files(const Question& question, const Answers& answers);

}  // namespace odori::grader
