// SPDX-License-Identifier: Apache-2.0
// The marked regions of an exercise, of its solution and of a learner's copy: what the cutter empties and what the
// grader takes out.
//
//   // BLANK 3: a question,                 # BLANK 8: in a job script; a directive (#PBS) ends the question
//   //          that may go on here         #PBS -l select=...
//   const int device = 0;                   # END BLANK
//   // END BLANK
//
// A blank may hold a whole program with a fault instead: see planted_fault.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "errors/text.h"
#include "files/file.h"

namespace odori::grader {

/// Comments begin with "//" in C++ and with "# " in a job script.
enum class Language { cpp, shell };

/// By the file's name: job scripts end in .sh.
Language language_of(std::string_view path);

/// What a line says that is a comment alone, without its mark; nothing if it is anything else. "#PBS -l ..." and
/// "#!/bin/bash" are for the scheduler and the shell, and no comments.
std::optional<std::string_view> comment_of(std::string_view line, Language language);

/// What a blank's first line says.
struct BlankMark {
  int number = 0;
  std::string_view question;  // the beginning of it
};
/// Of the comment "BLANK 3: question"; nothing if it is another one.
std::optional<BlankMark> blank_mark_of(std::string_view comment);

/// One marked region. Lines are counted from 1.
struct Blank {
  int number = 0;
  std::string question;           // in one line
  int first_line = 0;             // of "BLANK n:"
  int text_line = 0;              // of the first line after the question
  int last_line = 0;              // of "END BLANK"
  std::vector<std::string> text;  // the lines between question and end mark
  /// Of a learner's blank: the program with a planted fault that the exercise has there; empty if it has PUT_YOUR_CODE.
  std::vector<std::string> given = {};
};

/// How the comments begin that hold a planted fault (planted_fault.h). One of them ends a blank's question.
inline constexpr std::string_view fault_begins = "FAULT:";

/// The blanks of a file, in order; none is an answer too. `path` is for messages and for the language. Throws Error
/// with path:line for a blank that isn't closed, lies in another one, has no question, or whose number doesn't follow
/// the one before.
std::vector<Blank> parse_blanks(const std::vector<std::string>& lines, const std::string& path);

/// Does its text still hold PUT_YOUR_CODE, outside comments and quotes?
bool is_unfilled(const Blank& blank, Language language);
/// True if both have the same tokens: spaces and comments make no difference.
bool is_same_code(const std::vector<std::string>& lines, const std::vector<std::string>& others);
/// True if it holds the program that was given, with its planted fault.
bool is_as_given(const Blank& blank);
/// True if it holds PUT_YOUR_CODE, no code at all (comments alone), or the program that was given.
bool is_left_empty(const Blank& blank, Language language);
/// Throws Error with path:line if one of the blanks holds no PUT_YOUR_CODE.
void require_unfilled(const std::vector<Blank>& blanks, const std::string& path);

/// The file with another text in one of its blanks. Line numbers of the blanks after it change: fill from last to
/// first, or parse again.
std::vector<std::string> with_text(std::vector<std::string> lines, const Blank& blank,
                                   const std::vector<std::string>& text);

}  // namespace odori::grader
