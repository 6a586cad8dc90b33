// SPDX-License-Identifier: Apache-2.0
// The page that ends an exercise with several programs next to each other, step by step.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checks/judge_answer.h"
#include "messages/messages.h"

namespace odori::grader {

/// A piece of code, and whether the baseline lacks it.
struct CodePart {
  std::string text;
  bool added = false;
};

/// Splits code into parts that hold the words of the baseline, in the same order, and parts that hold other words.
/// Space and punctuation between two added words of a line are added as well.
std::vector<CodePart> compare_code(std::string_view code, std::string_view baseline);

/// Returns the page that grader/exercises/NN_NAME/side_by_side.json describes (grader/exercises/README.md), in the
/// language of the messages; nothing if the exercise has none. Blanks are shown with the learner's own answers, never
/// with the kit's: those of the judged exercise are `answers`, and those of others are read from exercises/. Throws
/// Error if the file can't be used, or names code that the kit's programs don't have.
std::optional<std::string> side_by_side_page(const Question& question, const Answers& answers,
                                             const Messages& messages);

}  // namespace odori::grader
