// The attacks are enough, each defence has one to prove it, and all names are known.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "instructor/attack.h"
#include "loosened_sandbox.h"

namespace odori::grader {
namespace {

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> all = read_attacks(ODORI_FOLDER "/grader/attacks");
  return all;
}

// Defences that are none of a sandbox's: those of the checks, and those of how the grader is built (undefended.h).
const std::set<std::string> others{"identifiers", "submission", "evidence", "parsed", "unpacked", "sanitized"};

TEST(Attacks, AreAtLeastForty) { EXPECT_GE(attacks().size(), 40u); }

TEST(Attacks, AreHeldByDefencesThatThereAre) {
  for (const Attack& attack : attacks())
    for (const std::string& defence : attack.held_by)
      EXPECT_TRUE(others.contains(defence) || LoosenedSandbox::defences().contains(defence))
          << attack.title() << ": " << defence;
}

TEST(Attacks, ProveEachDefenceInARunThatMayNotTakeLong) {
  std::map<std::string, int> proofs;
  for (const Attack& attack : attacks())
    if (!attack.slow)
      for (const std::string& defence : attack.held_by) ++proofs[defence];
  for (const char* defence :
       {"network", "processes", "memory", "disk", "output", "descriptors", "files", "escape", "environment", "syscalls",
        "identifiers", "submission", "evidence", "parsed", "unpacked", "sanitized"})
    EXPECT_GE(proofs[defence], 1) << defence;
}

TEST(Attacks, HaveIdsOfTheirOwnThatAProcessMayHaveAsItsName) {
  std::set<std::string> ids;
  for (const Attack& attack : attacks()) {
    EXPECT_LE(attack.id().size(), 15u) << attack.title();
    EXPECT_TRUE(ids.insert(attack.id()).second) << attack.title();
  }
}

}  // namespace
}  // namespace odori::grader
