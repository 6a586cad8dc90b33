// SPDX-License-Identifier: Apache-2.0
#include "classroom/course/roster.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "classroom/course/csv.h"
#include "classroom/course/times.h"
#include "classroom/refusal.h"
#include "errors/text.h"

namespace odori::grader {
namespace {

using Headings = std::initializer_list<const char*>;

constexpr std::string_view participant = "Participant ";  // Moodle's worksheet

/// The first of these columns with a text.
std::string first_of(const CsvTable& table, std::size_t row, Headings headings) {
  for (const char* heading : headings)
    if (std::string text = table.at(row, heading); !text.empty()) return text;
  return {};
}

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// "Identifier" is Moodle's "Participant 4009"; GitHub Classroom's is whatever the instructor chose.
void take_identifier(Person& person, const std::string& text) {
  if (text.starts_with(participant))
    person.moodle = text.substr(participant.size());
  else if (text.find('@') != std::string::npos)
    person.email = text;
  else if (is_number(text))
    person.id = text;
  else if (person.name.empty())
    person.name = text;
}

RosterEntry entry_of(const CsvTable& table, std::size_t row) {
  RosterEntry entry;
  Person& person = entry.person;
  const bool is_canvas = table.has("student") && table.has("id");
  person.name = first_of(table, row, {"full name", "name", "student", "氏名"});
  const std::string first = table.at(row, "first name"), last = first_of(table, row, {"last name", "surname"});
  if (person.name.empty()) person.name = std::string(trim(first + ' ' + last));
  person.email = first_of(table, row, {"email address", "email", "e-mail", "メールアドレス"});
  person.id = first_of(table, row, {"sid", "id number", "student id", "student number", "学籍番号"});
  person.github = table.at(row, "github_username");
  person.sis = table.at(row, "sis user id");
  person.login = table.at(row, "sis login id");
  person.section = table.at(row, "section");
  if (is_canvas)
    person.canvas = table.at(row, "id");
  else if (person.id.empty())
    person.id = table.at(row, "id");
  for (const char* heading : {"identifier", "roster_identifier"}) take_identifier(person, table.at(row, heading));
  const std::string time =
      first_of(table, row, {"last modified (submission)", "submission_timestamp", "submission time"});
  entry.submitted = seconds_of_time(time).value_or(0);
  return entry;
}

/// Canvas has rows that are no student: what an assignment is worth, how it is posted, and a test student.
bool is_student(const Person& person) {
  const bool is_canvas_row = person.canvas.empty() && person.name.find("Points Possible") != std::string::npos;
  const bool is_named = !person.name.empty() || !person.email.empty() || !person.id.empty() || !person.github.empty();
  return is_named && !is_canvas_row && person.name != "Student, Test" && person.name != "Test Student";
}

/// By which a person is recognised in another list; the name, which may be another person's too, comes last.
std::vector<std::string> keys_of(const Person& person) {
  std::vector<std::string> keys;
  for (const auto& [kind, field] : {std::pair{'e', &person.email},
                                    {'i', &person.id},
                                    {'m', &person.moodle},
                                    {'g', &person.github},
                                    {'c', &person.canvas},
                                    {'n', &person.name}})
    if (!field->empty()) keys.push_back(kind + lower(*field));
  return keys;
}

bool contradicts(const Person& a, const Person& b) {
  for (const auto field : {&Person::email, &Person::id, &Person::moodle, &Person::github, &Person::canvas})
    if (!(a.*field).empty() && !(b.*field).empty() && lower(a.*field) != lower(b.*field)) return true;
  return false;
}

/// A plain or quoted scalar of YAML.
std::string scalar(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && text.front() == '\'' && text.back() == '\'')
    return replaced(std::string(text.substr(1, text.size() - 2)), "''", "'");
  if (text.size() > 1 && text.front() == '"' && text.back() == '"')
    return replaced(replaced(std::string(text.substr(1, text.size() - 2)), "\\\"", "\""), "\\\\", "\\");
  return std::string(text);
}

}  // namespace

std::vector<RosterEntry> read_roster(std::string_view text, const std::string& file) {
  const CsvTable table(text);
  constexpr std::array known{"identifier",    "full name", "name", "student", "氏名",           "first name",
                             "email address", "email",     "sid",  "id",      "github_username"};
  if (std::ranges::none_of(known, [&](const char* heading) { return table.has(heading); }))
    throw Refusal({"roster_unreadable", {{"file", file}}});
  std::vector<RosterEntry> entries;
  for (std::size_t row = 0; row < table.n_rows(); ++row)
    if (RosterEntry entry = entry_of(table, row); is_student(entry.person)) entries.push_back(std::move(entry));
  return entries;
}

Person completed(Person person, const Person& more) {
  for (const auto& [name, field] : fields_of_person)
    if ((person.*field).empty()) person.*field = more.*field;
  return person;
}

void merge_roster(std::vector<RosterEntry>& roster, const std::vector<RosterEntry>& more) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < roster.size(); ++i)
    for (const std::string& key : keys_of(roster[i].person)) places.try_emplace(key, i);
  for (const RosterEntry& entry : more) {
    std::size_t place = roster.size();
    for (const std::string& key : keys_of(entry.person)) {
      const auto found = places.find(key);
      if (found == places.end() || (key[0] == 'n' && contradicts(roster[found->second].person, entry.person))) continue;
      place = found->second;
      break;
    }
    if (place == roster.size()) roster.emplace_back();
    roster[place].person = completed(std::move(roster[place].person), entry.person);
    roster[place].submitted = std::max(roster[place].submitted, entry.submitted);
    for (const std::string& key : keys_of(roster[place].person)) places.try_emplace(key, place);
  }
}

std::map<std::string, Submitters> read_submission_metadata(std::string_view yaml) {
  std::map<std::string, Submitters> all;
  Submitters* submission = nullptr;
  bool in_submitters = false;
  for (const std::string& line : split_lines(yaml)) {
    const auto indent = line.find_first_not_of(" -");
    if (indent == std::string::npos) continue;
    const std::string_view rest = std::string_view(line).substr(indent);
    const auto value_of = [&](std::string_view key) { return scalar(rest.substr(key.size())); };
    if (line[0] != ' ' && line[0] != '-') {
      submission = line.ends_with(':') ? &all[scalar(line.substr(0, line.size() - 1))] : nullptr;
      in_submitters = false;
    } else if (submission == nullptr) {
      continue;
    } else if (indent == 2) {
      in_submitters = rest == ":submitters:";
      if (rest.starts_with(":created_at:"))
        submission->submitted = seconds_of_time(value_of(":created_at:")).value_or(0);
    } else if (in_submitters && indent == 4) {
      if (line.starts_with("  -")) submission->people.emplace_back();
      if (submission->people.empty()) continue;
      Person& person = submission->people.back();
      if (rest.starts_with(":name:")) person.name = value_of(":name:");
      if (rest.starts_with(":email:")) person.email = value_of(":email:");
      if (rest.starts_with(":sid:")) person.id = value_of(":sid:");
    }
  }
  return all;
}

}  // namespace odori::grader
