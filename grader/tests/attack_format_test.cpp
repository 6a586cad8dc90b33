// Each wall has an attack that needs it down, and all names are known.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "blanks/blank_identifiers.h"
#include "classroom/self_test/attack.h"

namespace odori::grader {
namespace {

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> all = read_attacks(ODORI_FOLDER "/grader/attacks");
  return all;
}

TEST(Attacks, ProveEachWall) {
  std::map<std::string, int> proofs;
  for (const Attack& attack : attacks())
    if (!attack.slow)
      for (const std::string& wall : attack.walls) ++proofs[wall];
  for (const char* wall : {"sandbox", "evidence", "recomputation", "words", "blanks", "intake", "reports", "scripts"})
    EXPECT_GE(proofs[wall], 1) << wall;
}

TEST(Attacks, CanBeSeenToSucceed) {
  for (const Attack& attack : attacks())
    EXPECT_TRUE(attack.wins_by_passing() || !attack.leaves.empty() || !attack.shows.empty() || attack.walls.empty())
        << attack.title();
}

TEST(Attacks, LeaveNamesThatAProcessMayHave) {
  std::set<std::string> names;
  for (const Attack& attack : attacks()) {
    EXPECT_LE(attack.leaves.size(), 15u) << attack.title();
    EXPECT_TRUE(attack.leaves.empty() || names.insert(attack.leaves).second) << attack.title();
  }
}

}  // namespace
}  // namespace odori::grader
