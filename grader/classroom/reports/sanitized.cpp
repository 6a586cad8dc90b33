// SPDX-License-Identifier: Apache-2.0
#include "classroom/reports/sanitized.h"

#include <fmt/core.h>

#include <cctype>

#include "blanks/utf8.h"
#include "classroom/marking/student_name.h"

namespace odori::grader {
namespace {

constexpr std::size_t most_of_a_name = 80;

std::string shown(std::string_view text, std::size_t most, bool one_line) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t n = 0; at < text.size() && n < most; ++n) {
    const auto [character, size] = character_at(text, at);
    const bool layout = !one_line && (character == '\n' || character == '\t');
    if (is_unseen(character) && !layout) {
      result += fmt::format("⟨U+{:04X}⟩", static_cast<unsigned>(character));
    } else if (character == U'\uFFFD') {
      result += "\uFFFD";
    } else {
      result += text.substr(at, size);
    }
    at += size;
  }
  return at < text.size() ? result + fmt::format(" […{}]", text.size() - at) : result;
}

Finding sanitized_finding(Finding finding) {
  for (auto& [name, value] : finding.values) value = sanitized(value);
  finding.key = sanitized_line(finding.key);
  return finding;
}

void sanitize(CheckRecord& check) {
  for (BlankVerdict& verdict : check.verdicts)
    if (verdict.finding) verdict.finding = sanitized_finding(*verdict.finding);
  for (std::optional<CheckRecord::Values>* values : {&check.speedup, &check.counts})
    if (*values)
      for (auto& [name, value] : **values) value = sanitized(value);
  for (auto& [blank, text] : check.answers) text = sanitized(text);
  for (LeftOut& line : check.left_out) {
    line.file = sanitized_line(line.file);
    line.text = sanitized_line(line.text);
  }
}

}  // namespace

std::string sanitized(std::string_view text, std::size_t most) { return shown(text, most, false); }

std::string sanitized_line(std::string_view text, std::size_t most) { return shown(text, most, true); }

StudentRecord sanitized(const StudentRecord& record) {
  StudentRecord result = record;
  result.name = sanitized_line(record.name, most_of_a_name);
  for (auto& [name, task] : result.tasks) {
    task.student = result.name;
    if (task.reason) task.reason = sanitized_finding(*task.reason);
    for (Finding& flag : task.flags) flag = sanitized_finding(flag);
    if (task.check) sanitize(*task.check);
    for (ChosenFile& file : task.files) {
      file.taken = sanitized_line(file.taken);
      for (Alternative& other : file.others) other.file = sanitized_line(other.file);
    }
  }
  for (Person& person : result.people)
    for (const auto& [name, field] : fields_of_person) person.*field = sanitized_line(person.*field, most_of_a_name);
  return result;
}

std::string url_of(std::string_view name) {
  std::string url;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte < 0x80 && (std::isalnum(byte) || std::string_view("-._~").find(c) != name.npos);
    url += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return url;
}

}  // namespace odori::grader
