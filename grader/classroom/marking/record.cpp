// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "blanks/json_object.h"
#include "errors/error.h"
#include "files/json.h"

namespace odori::grader {
namespace {

using Json = nlohmann::ordered_json;

/// In the order of RecordState.
constexpr std::array<std::string_view, 3> states{"marked", "ungraded", "absent"};

RecordState state_named(const std::string& name) {
  const auto found = std::find(states.begin(), states.end(), name);
  require(found != states.end(), "There is no state \"{}\".", name);
  return static_cast<RecordState>(found - states.begin());
}

Json json_of(const std::vector<ChosenFile>& files) {
  Json all = Json::array();
  for (const ChosenFile& file : files) {
    Json others = Json::array();
    for (const Alternative& other : file.others)
      others.push_back({{"file", other.file}, {"modified", other.modified}, {"filled", other.filled}});
    all.push_back({{"name", file.name}, {"taken", file.taken}, {"modified", file.modified}, {"others", others}});
  }
  return all;
}

std::vector<ChosenFile> files_of(const Json& json) {
  std::vector<ChosenFile> files;
  const auto time_of = [](const JsonObject& object) { return static_cast<std::int64_t>(object.number("modified")); };
  for (const Json& one : json) {
    const JsonObject file(one, "A file");
    ChosenFile& added = files.emplace_back(ChosenFile{file.text("name"), file.text("taken"), time_of(file), {}});
    for (const Json& another : file.list("others")) {
      const JsonObject other(another, "Another file");
      added.others.push_back({other.text("file"), time_of(other), other.boolean("filled")});
    }
  }
  return files;
}

}  // namespace

const char* name_of(RecordState state) { return states[static_cast<std::size_t>(state)].data(); }

const BlankVerdict* ungraded_speedup(const TaskRecord& record) {
  const BlankVerdict* speedup = record.check ? record.check->on(0) : nullptr;
  return speedup && speedup->verdict == Verdict::environment ? speedup : nullptr;
}

std::optional<Finding> why_ungraded(const TaskRecord& record) {
  const Finding unknown{"ungraded_unknown", {}};
  if (record.state == RecordState::ungraded) return record.reason.value_or(unknown);
  const BlankVerdict* speedup = ungraded_speedup(record);
  return speedup ? std::optional(speedup->finding.value_or(unknown)) : std::nullopt;
}

nlohmann::ordered_json json_of(const TaskRecord& record) {
  return {{"student", record.student},
          {"task", record.task},
          {"content", record.content},
          {"state", name_of(record.state)},
          {"reason", record.reason ? json_of(*record.reason) : Json()},
          {"attempts", record.attempts},
          {"seconds", record.seconds},
          {"timed", record.timed},
          {"flags", json_of(record.flags)},
          {"check", record.check ? json_of(*record.check) : Json()},
          {"submitted", record.submitted},
          {"files", json_of(record.files)}};
}

std::string to_json(const TaskRecord& record) { return json_text(json_of(record), 2, NotUtf8::replaced) + '\n'; }

TaskRecord record_from_json(std::string_view text) {
  const Json json = parsed_json(text);
  const JsonObject object(json, "A record");
  TaskRecord record{.student = object.text("student"),
                    .task = object.text("task"),
                    .content = object.text("content"),
                    .state = state_named(object.text("state")),
                    .attempts = object.small_number("attempts"),
                    .seconds = object.number("seconds"),
                    .timed = object.boolean("timed")};
  if (!object.field("reason").is_null()) record.reason = finding_of(object.field("reason"), "The reason");
  record.flags = findings_of(object.list("flags"), "A flag");
  if (!object.field("check").is_null()) record.check = check_of(object.field("check"));
  if (object.has("submitted")) record.submitted = static_cast<std::int64_t>(object.number("submitted"));
  if (object.has("files")) record.files = files_of(object.list("files"));
  require(record.check.has_value() == (record.state == RecordState::marked),
          "A record has verdicts if it is marked, and only then.");
  require(record.reason.has_value() == (record.state == RecordState::ungraded),
          "A record has a reason if it is ungraded, and only then.");
  return record;
}

std::string people_to_json(const std::vector<Person>& people) {
  Json all = Json::array();
  for (const Person& person : people) {
    Json& added = all.emplace_back(Json::object());
    for (const auto& [name, field] : fields_of_person)
      if (!(person.*field).empty()) added[name] = person.*field;
  }
  return json_text(Json{{"people", std::move(all)}}, 2, NotUtf8::replaced) + '\n';
}

std::vector<Person> people_from_json(std::string_view text) {
  const Json json = parsed_json(text);
  std::vector<Person> people;
  for (const Json& one : JsonObject(json, "A student").list("people")) {
    const JsonObject object(one, "A person");
    Person& person = people.emplace_back();
    for (const auto& [name, field] : fields_of_person) person.*field = object.text_if_any(name);
  }
  return people;
}

}  // namespace odori::grader
