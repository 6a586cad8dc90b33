// SPDX-License-Identifier: Apache-2.0
// Each wall has an attack that needs it down, and all names are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "blanks/blank_identifiers.h"
#include "classroom/self_test/answer_files.h"

namespace odori::grader {
namespace {

const std::vector<AnswerEntry>& attacks() {
  static const std::vector<AnswerEntry> all = read_attacks(ODORI_FOLDER);
  return all;
}

TEST(Attacks, ProveEachWall) {
  std::map<std::string, int> proofs{{"sandbox", 0}, {"evidence", 0}, {"recomputation", 0}, {"words", 0},
                                    {"blanks", 0},  {"intake", 0},   {"reports", 0},       {"scripts", 0}};
  for (const AnswerEntry& attack : attacks()) {
    std::istringstream walls(attack.fact("wall"));
    for (std::string wall; std::getline(walls >> std::ws, wall, ',');) {
      EXPECT_TRUE(proofs.contains(wall)) << attack.title() << ": " << wall;
      proofs[wall] += attack.facts.contains("slow") ? 0 : 1;
    }
  }
  for (const auto& [wall, n] : proofs) EXPECT_GE(n, 1) << wall;
}

TEST(Attacks, CanBeSeenToSucceed) {
  for (const AnswerEntry& attack : attacks()) {
    const bool all_pass = std::ranges::all_of(attack.expected, [](const auto& each) { return each.second.passes(); });
    const bool leaves_a_sign = attack.facts.contains("leaves") || attack.facts.contains("shows");
    EXPECT_TRUE(!all_pass || leaves_a_sign || !attack.facts.contains("wall")) << attack.title();
  }
}

TEST(Attacks, LeaveNamesThatAProcessMayHave) {
  std::set<std::string> names;
  for (const AnswerEntry& attack : attacks()) {
    const std::string leaves = attack.fact("leaves");
    EXPECT_LE(leaves.size(), 15u) << attack.title();
    EXPECT_TRUE(leaves.empty() || names.insert(leaves).second) << attack.title();
  }
}

}  // namespace
}  // namespace odori::grader
