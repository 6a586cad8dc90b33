// Cheating submissions, in the form of grader/attacks/README.md.
#pragma once

#include "classroom/self_test/answer_files.h"

namespace odori::grader {

struct Attack : AnswerEntry {
  std::string task;
  std::vector<std::string> walls;      // without these it succeeds
  std::vector<std::string> outside;    // text in front of the program's main
  std::vector<std::string> handed_in;  // what the student's folder holds; empty: a program and a script
  std::vector<std::string> flags;      // keys of flags that the instructor must see
  std::string student;                 // a name of the student's choice; empty: any
  std::string leaves;                  // success leaves this: a file in /var/tmp or /dev/shm, or a process
  std::string shows;                   // success shows this in the class's page or table
  bool slow = false;

  std::string id() const;  // "sandbox_12"
  /// True if every blank with a text is right. An attack that is to get another verdict has succeeded then.
  bool passes(const std::vector<BlankVerdict>& verdicts) const;
  /// True if the verdicts are to be others than PASS, so that passing is the success.
  bool wins_by_passing() const;
};

/// All of them, in the order of the files. Throws Error with file:line for what the format does not have.
std::vector<Attack> read_attacks(const std::filesystem::path& folder);

}  // namespace odori::grader
