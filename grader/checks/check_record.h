// SPDX-License-Identifier: Apache-2.0
// What a check found out about one task, and its form as JSON: `check --json` writes it, and a class's records hold it.
//
//   {"seed": 1, "verdicts": [{"blank": 1, "verdict": "WRONG", "points": 0, "of": 20, "key": "...", "values": {...}}
//   ...],
//    "speedup": {...} or null, "counts": {...} or null, "timeline": "FILE" or "",
//    "left_out": [{"file": "...", "line": 3, "removed": false, "text": "..."} ...],
//    "answers": [{"blank": 1, "text": "..."} ...]}
// Further fields are allowed.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blanks/finding.h"
#include "checks/verdict.h"

namespace odori::grader {

/// A line outside the blanks that isn't the kit's, and was left out.
struct LeftOut {
  std::string file;  // its name, without folders
  int line = 0;
  bool removed = false;  // the kit's line is missing
  std::string text;
  bool operator==(const LeftOut&) const = default;
};

/// What ./odori check says of one task.
struct CheckRecord {
  using Values = std::map<std::string, std::string>;

  std::uint64_t seed = 0;
  std::vector<BlankVerdict> verdicts;     // by blank; the speedup, number 0, comes last
  std::optional<Values> speedup, counts;  // what was measured, and counted
  std::string timeline;                   // the page; of a record RESULTS/students/STUDENT/<this>; empty: none
  std::vector<LeftOut> left_out;
  std::map<int, std::string> answers;  // by blank: what the learner wrote into it; none of an unfilled one
  bool operator==(const CheckRecord&) const = default;
  /// The verdict on a blank; null if there is none.
  const BlankVerdict* on(int blank) const;
};

nlohmann::ordered_json json_of(const Finding& finding);
nlohmann::ordered_json json_of(const std::vector<Finding>& findings);
nlohmann::ordered_json json_of(const CheckRecord& check);

// Readers are strict: they throw Error, with a sentence that says what is missing or of the wrong kind. All findings
// are made fit to keep.

/// `name`: what it is, in that sentence: "The reason".
Finding finding_of(const nlohmann::ordered_json& json, const std::string& name);
std::vector<Finding> findings_of(const nlohmann::ordered_json& json, const std::string& name);
CheckRecord check_of(const nlohmann::ordered_json& json);

/// What `odori_grader check --json` wrote.
struct CheckOutput {
  CheckRecord check;
  std::vector<Finding> flags;  // why an instructor should have a look
};
CheckOutput check_output_from_json(std::string_view text);

}  // namespace odori::grader
