// The cheating submissions, as grader/attacks/README.md has them.
#pragma once

#include "instructor/answer_files.h"

namespace odori::grader {

/// How it would be seen that an attack got through: the table "How success shows".
struct Witness {
  std::string kind, text;  // "said", "@token@"
  int number = 0;          // of a blank, of processes, megabytes or seconds
};

struct Attack : AnswerEntry {
  std::string task;
  std::vector<std::string> outside, instead;  // of the program
  std::vector<std::string> handed_in;         // what the student's folder holds; empty: a program and a script
  std::vector<std::string> held_by;           // defences, in the order in which it meets them
  std::vector<std::string> flags;             // keys
  std::string student;                        // a name of the student's choice; empty: any
  Witness witness;
  bool slow = false;

  std::string id() const;  // "reading_12": for files and processes of its own
};

/// All of them, in the order of the files. Throws Error with file:line for what the format doesn't have.
std::vector<Attack> read_attacks(const std::filesystem::path& folder);

}  // namespace odori::grader
