#include "classroom/marking/record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "blanks/json_object.h"
#include "errors/error.h"

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

}  // namespace

const char* name_of(RecordState state) { return states[static_cast<std::size_t>(state)].data(); }

const BlankVerdict* ungraded_speedup(const TaskRecord& record) {
  const BlankVerdict* speedup = record.check ? record.check->on(0) : nullptr;
  return speedup && speedup->verdict == Verdict::environment ? speedup : nullptr;
}

std::string to_json(const TaskRecord& record) {
  const Json json{{"student", record.student},
                  {"task", record.task},
                  {"content", record.content},
                  {"kit", record.kit},
                  {"program", record.program},
                  {"script", record.script},
                  {"state", name_of(record.state)},
                  {"reason", record.reason ? json_of(*record.reason) : Json()},
                  {"attempts", record.attempts},
                  {"seconds", record.seconds},
                  {"timed", record.timed},
                  {"flags", json_of(record.flags)},
                  {"check", record.check ? json_of(*record.check) : Json()}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

TaskRecord record_from_json(std::string_view text) {
  const Json json = parsed_json(text);
  const JsonObject object(json, "A record");
  TaskRecord record{.student = object.text("student"),
                    .task = object.text("task"),
                    .content = object.text("content"),
                    .kit = object.text_if_any("kit"),
                    .program = object.text_if_any("program"),
                    .script = object.text_if_any("script"),
                    .state = state_named(object.text("state")),
                    .attempts = object.small_number("attempts"),
                    .seconds = object.number("seconds"),
                    .timed = object.boolean("timed")};
  if (!object.field("reason").is_null()) record.reason = finding_of(object.field("reason"), "The reason");
  record.flags = findings_of(object.list("flags"), "A flag");
  if (!object.field("check").is_null()) record.check = check_of(object.field("check"));
  require(record.check.has_value() == (record.state == RecordState::marked),
          "A record has verdicts if it is marked, and only then.");
  require(record.reason.has_value() == (record.state == RecordState::ungraded),
          "A record has a reason if it is ungraded, and only then.");
  return record;
}

}  // namespace odori::grader
