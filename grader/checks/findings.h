// What the checks of both tasks have in common.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checks/checks.h"
#include "checks/training.h"

namespace odori::grader {

/// Nothing: this is right, or not this check's business (it needs a fact that the run didn't get as far as to show).
using Found = std::optional<Finding>;

/// A placeholder's value.
struct Value {
  template <typename Number>
  Value(Number number) : text(fmt::format("{}", number)) {}
  Value(std::string text) : text(std::move(text)) {}
  std::string text;
};
Found found(const char* key, std::initializer_list<std::pair<const char*, Value>> values = {});

/// "0, 2, 3"
std::string list(const std::vector<int>& numbers);

/// Training pictures that are positions in the test set. Both sets count from 0, so that the weights decide.
bool is_test_set(const RunData& data, const std::vector<Pictures>& parts, const Updates& updates);

/// What is known of the mistake behind wrong weights.
Found explain(const WrongWeights& wrong, const RunData& data);

/// The library's sentence, if it stopped the run, or the different calls for which it did; or a run that ended well
/// without having trained and evaluated in every epoch on every rank.
Found find_early_end(const Evidence& evidence, const RunData& data);
/// Evidence that wasn't written by one training of the whole program.
Found find_forgery(const Evidence& evidence);
/// Either of these: of a run that no other check looks at.
Found find_untrained(const Evidence& evidence, const RunData& data);
/// An evaluation that isn't what the last weights give on the whole test set.
Found find_wrong_evaluation(const RankSeen& rank, const RunData& data);

}  // namespace odori::grader
