// SPDX-License-Identifier: Apache-2.0
#include "blanks/planted_fault.h"

#include <algorithm>

#include "blanks/blank_identifiers.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

constexpr std::string_view mark_ends = "END FAULT";

/// What a FAULT line stands for: its text, with the indentation of the comment.
std::string faulty_line(const std::string& line, std::string_view comment) {
  std::string_view text = comment.substr(fault_begins.size());
  if (text.starts_with(' ')) text.remove_prefix(1);
  return text.empty() ? "" : line.substr(0, line.find_first_not_of(' ')) + std::string(text);
}

}  // namespace

bool is_fault_mark(std::string_view comment) { return comment.starts_with(fault_begins) || comment == mark_ends; }

std::optional<PlantedFault> planted_fault_of(const Blank& blank, const std::string& path) {
  PlantedFault fault;
  enum { outside, in_fault, in_repair } place = outside;
  bool found = false;
  const auto where = [&](std::size_t i) {
    return fmt::format("{}:{}: blank {}", path, blank.text_line + static_cast<int>(i), blank.number);
  };
  for (std::size_t i = 0; i < blank.text.size(); ++i) {
    const std::string& line = blank.text[i];
    const std::string_view comment = comment_of(line, Language::cpp).value_or("");
    if (comment.starts_with(fault_begins)) {
      require(place != in_repair, "{} has a FAULT line after a repair. Close that one first, by \"// END FAULT\".",
              where(i));
      place = in_fault;
      found = true;
      if (std::string faulty = faulty_line(line, comment); !faulty.empty()) fault.given.push_back(std::move(faulty));
    } else if (comment == mark_ends) {
      require(place != outside, "{} has an END FAULT without a line \"// FAULT: ...\" before it.", where(i));
      place = outside;
    } else if (place != outside) {
      place = in_repair;
    } else {
      fault.given.push_back(line);
    }
    fault.is_repair.push_back(place == in_repair);
  }
  if (!found) return {};
  require(place == outside, "{} has a FAULT line without an \"// END FAULT\" after its repair.", where(0));
  require(!fault.given.empty(), "{} gives the learner an empty program.", where(0));
  Blank given = blank;
  given.text = fault.given;
  require(!is_same_code(blank.text, fault.given), "{} has a faulty text that is its repair.", where(0));
  const auto forbidden = look_at_identifiers(given).forbidden;
  require(!forbidden, "{} has a faulty text that is refused in answers ({}).", where(0),
          forbidden ? forbidden->key : "");
  return fault;
}

}  // namespace odori::grader
