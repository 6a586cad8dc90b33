// SPDX-License-Identifier: Apache-2.0
// A learner's answer to one exercise: what its files alone show, and all verdicts on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blanks/blank_identifiers.h"
#include "blanks/submission.h"
#include "blanks/task.h"
#include "checks/checks.h"
#include "runner/sandbox.h"

namespace odori::grader {

struct Question {
  const Task& task;
  std::filesystem::path kit, build;       // the kit's folder, and the one that it is built in
  std::filesystem::path program, script;  // the learner's files
  std::uint64_t seed = 0;                 // of the data that the checks train on
  std::filesystem::path out = {};         // the folder for pages
  const Sandbox* sandbox = nullptr;       // around a submission that isn't the user's own
  bool apart = false;                     // it is somebody else's answer: what it builds is kept in TMPDIR alone
};

struct Answers {
  Submission program, script;
  std::map<int, double> points_of;
  std::map<int, BlankIdentifiers> identifiers = {};  // of each blank that holds an answer
  std::string around = {};                           // the kit's program, into which the learner's blanks are put
};

/// Reads the learner's files. Throws EnvironmentFault if they, or the kit's, can't be read.
Answers read_answers(const Question& question);

/// What the files alone tell, with nothing built and nothing run: blanks that are left empty or can't be read, and the
/// job script's select line. Blanks that it says nothing about may be right or wrong.
std::vector<BlankVerdict> verdicts_of_files(const Question& question, const Answers& answers);

/// An answer, all of which is right.
struct RightAnswer {
  std::filesystem::path whole;  // the program that the speedup is measured with
  // Figures for the learner; none in a class.
  std::optional<ShownFigure> shown, simulated;
};

/// Judges every blank, and reports each one in order as soon as it and those before it are decided. Returns the
/// answer if all of it is right. Throws Error on Ctrl-C. The speedup isn't judged here.
std::optional<RightAnswer> judge_answer(const Question& question, const Answers& answers, const Exam& exam,
                                        const std::function<void(const BlankVerdict&)>& tell);

}  // namespace odori::grader
