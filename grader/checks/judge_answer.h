// All verdicts on a learner's answer to one exercise.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "checks/answer.h"
#include "checks/checks.h"

namespace odori::grader {

/// An answer, all of which is right.
struct RightAnswer {
  std::filesystem::path whole;       // the program that the speedup is measured with
  std::optional<ShownFigure> shown;  // to its author
};

/// Judges every blank, and reports each one in order as soon as it and those before it are decided. Returns the
/// answer if all of it is right. Throws Error on Ctrl-C. The speedup isn't judged here.
std::optional<RightAnswer> judge_answer(const Question& question, const Answers& answers, const Exam& exam,
                                        const std::function<void(const BlankVerdict&)>& tell);

}  // namespace odori::grader
