// SPDX-License-Identifier: Apache-2.0
#include "authoring/equivalent.h"

#include <fmt/format.h>

#include "errors/error.h"

namespace odori::grader {

std::map<LineChange, std::string> read_equivalents(const std::filesystem::path& path) {
  std::map<LineChange, std::string> reasons;
  if (!exists(path)) return reasons;
  std::string reason;
  LineChange change;
  bool inside = false;
  int n = 0;
  for (const std::string& line : split_lines(read_file(path))) {
    const std::string where = fmt::format("{}:{}", path.string(), ++n);
    if (line == "```diff") {
      require(!reason.empty(), "{}: this change has no reason. Write it above, as a heading: ## Why it is right.",
              where);
      inside = true;
      change = {};
    } else if (line == "```" && inside) {
      require(reasons.emplace(change, reason).second, "{}: this change is listed above already.", where);
      inside = false;
    } else if (inside) {
      require(line.starts_with("- ") || line.starts_with("+ "),
              "{}: a line of a change begins with \"- \" (the answer's) or \"+ \" (the mutant's).", where);
      (line.starts_with("- ") ? change.before : change.after).emplace_back(trim(line.substr(2)));
    } else if (line.starts_with("## ")) {
      reason = trim(line.substr(3));
    }
  }
  require(!inside, "{}: the last change is not closed by ```.", path.string());
  return reasons;
}

std::string as_diff(const LineChange& change) {
  std::string text = "```diff\n";
  for (const std::string& line : change.before) text += "- " + line + '\n';
  for (const std::string& line : change.after) text += "+ " + line + '\n';
  return text + "```\n";
}

}  // namespace odori::grader
