// SPDX-License-Identifier: Apache-2.0
// What the checks of several tasks have in common.
#include "checks/findings.h"

#include "fabricated.h"

namespace odori::grader::test {
namespace {

const RunPlan plan{.nodes = {0, 0, 1}, .epochs = 0, .flags = {"--length", "7"}};

/// The finding of such a check where the ranks have shown this.
std::string finding_of(Found (*find)(const Situation&), const Fabricated::Change& change) {
  Fabricated runs(change);
  const Found found = find({runs, plan});
  if (!found) return "right";
  std::string text = found->key;
  for (const auto& [name, value] : found->values) text += ' ' + value;
  return text;
}

TEST(Findings, OfAProgramThatTrainsNothingAskForValuesOfEachRank) {
  const auto shows_on = [](std::set<std::size_t> ranks, Ending ending = Ending::finished) {
    return [=](Evidence& evidence, const RunPlan&) {
      evidence.ending = ending;
      for (const std::size_t rank : ranks) evidence.ranks.at(rank).values = {{1, 2}};
    };
  };
  EXPECT_EQ(finding_of(find_no_values, shows_on({0, 1, 2})), "right");
  EXPECT_EQ(finding_of(find_no_values, shows_on({1})), "no_values 0, 2");
  EXPECT_EQ(finding_of(find_no_values, shows_on({1}, Ending::hung)), "right");  // of that, others tell
  EXPECT_EQ(finding_of(find_forgery, shows_on({0, 1, 2})), "right");
}

TEST(Findings, OfEpochsAreWhatTheyLeaveOut) {
  const auto trains_on = [](const std::vector<Images>& iterators, const std::vector<Images>& updates) {
    return finding_of(find_uneven_epochs, [&](Evidence& evidence, const RunPlan&) {
      RankSeen& seen = evidence.ranks.at(1);
      seen.train_iterators = iterators_over(iterators);
      for (const Images& images : updates) seen.steps.push_back({{0, images, {}}});
    });
  };
  EXPECT_EQ(trains_on({{0, 1}, {2}}, {{2, 0}, {1, 2}, {0, 1}}), "right");
  EXPECT_EQ(trains_on({{0, 1, 2}}, {{2, 0}, {1, 2}, {0, 1}}), "right");
  EXPECT_EQ(trains_on({{0, 1, 2}}, {{2, 0}, {1, 0}, {2, 0}, {1, 2}}), "epochs_uneven 1 3 3");
  EXPECT_EQ(trains_on({{0, 1, 1}}, {{1, 0, 1}, {1, 1, 0}, {1}}), "right");  // an image that comes twice in an epoch
  EXPECT_EQ(trains_on({{0, 1}}, {{0, 0, 7}}), "right");  // of other images, others tell
  EXPECT_EQ(trains_on({}, {{}, {}}), "right");
  EXPECT_EQ(trains_on({}, {}), "right");
}

TEST(Findings, OfAFailureAreTheLibrarysSentence) {
  const auto fails = [](Evidence& evidence, const RunPlan&) {
    evidence.ending = Ending::failed;
    evidence.ranks.at(2).error = "send: there is no rank 9.";
  };
  for (const auto find : {find_failure, find_no_values, find_early_end})
    EXPECT_EQ(finding_of(find, fails), "stopped_by_library send: there is no rank 9.");
}

}  // namespace
}  // namespace odori::grader::test
