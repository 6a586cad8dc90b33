// SPDX-License-Identifier: Apache-2.0
// The short word list: what a blank's text may not hold, and which names an instructor should see.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "blanks/blanks.h"
#include "blanks/finding.h"

namespace odori::grader {

struct BlankIdentifiers {
  std::optional<Finding> forbidden;  // why it is not built: "forbidden_word", "forbidden_sign", ...
  /// listed_names(), and flags of the program that no answer needs ("args.model"): those that are used more often than
  /// in the program that was given.
  std::vector<std::string> unusual;
};

/// Looks at the tokens of a blank's text; it parses no declarations. Refuses what would bring the other defences down:
/// directives, brackets that the blank has not opened, attributes, reserved names, a text that is not tokens
/// throughout, and in any place the names of assembler, of functions that load code or map memory, of the
/// environment, of the observer and of the grader's own calls. Also a statement word without its statement at the end,
/// which would take the kit's next line. Everything else is held by the sandbox, by the evidence, or by recomputed
/// results.
BlankIdentifiers look_at_identifiers(const Blank& blank);

/// Allowed, and shown to the instructor in any place: names of files, processes, sockets, signals, clocks, and
/// keywords that answers rarely need.
const std::set<std::string>& listed_names();

/// True if the compiler would report this error as well.
bool is_slip(const Finding& forbidden);

}  // namespace odori::grader
