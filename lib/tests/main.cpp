// SPDX-License-Identifier: Apache-2.0
// The main of the other test programs: what they write into testing::TempDir() lies in a folder that no other test has,
// and goes with them. Weak: a test may have a main of its own.
#include <gtest/gtest.h>

#include <cstdlib>

#include "files/file.h"

__attribute__((weak)) int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const odori::TemporaryFolder folder(testing::TempDir() + "odori_test_");
  setenv("TEST_TMPDIR", folder.path().c_str(), 1);
  return RUN_ALL_TESTS();
}
