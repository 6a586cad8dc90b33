// ./odori grade --self-test: does the grader hold on this machine?
#pragma once

#include <filesystem>
#include <string>

namespace odori::grader {

struct SelfTest {
  std::filesystem::path kit, build;  // as the flags of ./odori grade have them
  std::string language;              // en or ja; empty: by LANG
  int jobs = 0;                      // answers at once; 0: as many as cores
  bool all = false;                  // all answers of the corpus, and attacks that take long
};

/// Marks one class of right, wrong and cheating answers, and prints a line for each: what it had to get, and what it
/// got. Returns 0 if the grader holds, 1 if it doesn't, 20 if this machine has no sandbox. Throws Error on Ctrl-C.
int self_test(const SelfTest& flags);

}  // namespace odori::grader
