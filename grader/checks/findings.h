// SPDX-License-Identifier: Apache-2.0
// What the checks of several exercises have in common.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checks/checks.h"
#include "checks/training.h"
#include "data/dataset.h"

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

/// How often a rank made this collective call, such as "optimizer->setup()".
int calls(const RankSeen& rank, const char* collective);

/// The ranks of which something is true.
template <typename Condition>
std::vector<int> ranks_with(const Evidence& evidence, Condition condition) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < evidence.ranks.size(); ++rank)
    if (condition(evidence.ranks[rank])) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

/// A number that was measured, with as few digits as tell it from the expected one; "0" if it is next to nothing.
std::string measured(double seen, double expected);

/// Is that the number which a program showed? Shown are 24 bits.
bool same(double seen, double expected, double tolerance = 1e-6);

/// What there is to say about parts of a set of `size` images; each count is of different images.
struct Division {
  std::size_t covered = 0;                // images that are in some part
  std::size_t shared = 0;                 // images that are in more than one part
  std::size_t repeated = 0;               // images that are in one part more than once
  std::size_t outside = 0;                // positions that the set doesn't have
  std::size_t smallest = 0, largest = 0;  // of the parts, repetitions included
  bool all_the_same = false;              // two parts or more, and each holds the same images
  bool in_order = false;  // neighbours in the set, or images n apart, share a part far more often than by chance
};

Division divide(const std::vector<Images>& parts, std::size_t size);

/// Do images of one class lie in the same part, far more often than by chance? All have to be images of the set.
bool follows_classes(const std::vector<Images>& parts, const Dataset& set);

/// Training images that are positions in the test set. Both sets count from 0, so that the weights decide.
bool is_test_set(const Situation& situation, const std::vector<Images>& parts, const Updates& updates);

/// Weights that aren't the grader's, and what is known of the mistake that caused them. `other`: a situation with
/// another learning rate; `updates_of` its updates: if the rate is the same there, it is written down.
Found find_in_updates(const Situation& situation, const RunPlan& other, Updates (*updates_of)(const Evidence&));

/// Did the library stop this rank by that refusal (observe/refusal.h)?
bool was_refused(const RankSeen& rank, const char* refusal);
/// The message for this refusal, under `key`, or under the refusal's own name.
Found find_refused(const Evidence& evidence, const char* refusal, const char* key = nullptr);

/// The library's sentence, if it stopped the run, or the different calls for which it did.
Found find_failure(const Situation& situation);
/// That, or a run that ended well without having trained and evaluated in every epoch on every rank.
Found find_early_end(const Situation& situation);
/// Of a program that trains nothing: that, or a run that ended well without having shown values on every rank.
Found find_no_values(const Situation& situation);
/// A run that ended well, and whose evidence wasn't written by one training of the whole program, or by a program that
/// trains nothing.
Found find_forgery(const Situation& situation);
/// A rank whose epochs don't go through all images of its iterators, each once.
Found find_uneven_epochs(const Situation& situation);
/// A report that isn't what the weights of that time give on the whole test set, in whichever epoch.
Found find_wrong_evaluation(const RankSeen& rank, const RunData& data);

/// From the collective calls that each rank entered: those that entered most wait for those that entered fewest.
/// Keys: hang_collective (the others never came), hang_two_collectives (the others wait in another call), hang (nobody
/// waits for another rank: an endless loop). Where one waits in a message: hang_messages.
Finding find_hang(const Evidence& evidence);

/// Ranks whose n-th collective calls differ. MPI then gives one call the messages of another, and the program dies, is
/// stopped, or waits for ever. Key: ranks_called_apart; nothing if some have only come further than others.
Found find_calls_apart(const Evidence& evidence);

}  // namespace odori::grader
