// SPDX-License-Identifier: Apache-2.0
// Mutants of an answer: the same text with one small mistake each. A check that accepts one of them has a hole.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "blanks/blanks.h"

namespace odori::grader {

enum class MutantKind {
  swapped_operator,
  changed_constant,
  swapped_arguments,
  deleted,
  swapped_statements,
  sibling,
  given
};

/// Returns the kind in one word: "operator", "constant", "arguments", "deletion", "order", "sibling", "given".
const char* name_of(MutantKind kind);

struct Mutant {
  MutantKind kind = MutantKind::swapped_operator;
  std::vector<std::string> text;  // the blank's lines
  std::string description;        // in one line: "line 2: `<` becomes `<=`"
};

/// The lines that a mutant changes, without indentation.
struct LineChange {
  std::vector<std::string> before, after;
  auto operator<=>(const LineChange&) const = default;
};

/// Returns all mutants of one blank's answer, each once, in the order of the places that they change. In C++:
///   - another operator in place of an arithmetic, comparison, logical or compound assignment operator; no `!`, no sign
///   - a whole number plus or minus one, also in a literal such as 2.0
///   - two neighbouring arguments swapped; a designated initialiser (.name = value) removed
///   - the first argument in place of a call
///   - a statement removed, two neighbouring ones swapped; no declarations, for what uses them would not compile
///   - a word in place of its sibling: true and false, min and max, and `siblings`, groups of interchangeable words
/// In a job script only whole numbers change. Expects the layout of clang-format: binary operators are between
/// spaces, template brackets are not.
std::vector<Mutant> mutants_of(const std::vector<std::string>& answer, Language language,
                               const std::vector<std::set<std::string>>& siblings = {});

/// Returns the mutants of a solution's blank: those of its text. Of a program with a planted fault, the program as it
/// is given, and of the mutants those that change a line of the repair.
std::vector<Mutant> mutants_of(const Blank& answer, Language language,
                               const std::vector<std::set<std::string>>& siblings = {});

/// Returns at most `n` of the mutants, in their order. `seed` chooses them; the kinds take turns.
std::vector<Mutant> chosen(const std::vector<Mutant>& mutants, std::size_t n, std::uint64_t seed);

/// Returns the lines from the first to the last that differ.
LineChange change_of(const std::vector<std::string>& answer, const Mutant& mutant);

}  // namespace odori::grader
