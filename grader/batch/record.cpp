#include "batch/record.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace odori::grader {
namespace {

using Json = nlohmann::ordered_json;
using Values = CheckRecord::Values;

/// In the order of RecordState.
constexpr std::array<std::string_view, 3> states{"marked", "ungraded", "absent"};

bool ends_a_path(char c) {
  return static_cast<unsigned char>(c) <= ' ' || std::string_view("'\"`:,;()[]{}<>|").find(c) != std::string_view::npos;
}

/// "/tmp/odori_x/run.sh: no such file" -> "run.sh: no such file"
std::string without_folders(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char before = at == 0 ? ' ' : text[at - 1];
    std::size_t end = at;
    // Behind a letter or a `<` it isn't a path's first slash; behind a typographic quote it is.
    if (text[at] == '/' && before != '<' && (ends_a_path(before) || before == '=' || (before & 0x80) != 0))
      while (end < text.size() && !ends_a_path(text[end])) ++end;
    std::string_view path = text.substr(at, end - at);
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const auto last = path.rfind('/');
    if (path.empty() || last == 0 || last == std::string_view::npos || path.starts_with("//")) {
      end = std::max(end, at + 1);
      result += text.substr(at, end - at);
    } else {
      result += path.substr(last + 1);
    }
    at = end;
  }
  return result;
}

/// Reads an object field by field. Whatever isn't as it should be is told with the field's name.
class Object {
 public:
  Object(const Json& json, std::string name) : json_(json), name_(std::move(name)) {
    require(json_.is_object(), "{} should be an object, and isn't.", name_);
  }

  const Json& field(const char* key) const {
    const auto found = json_.find(key);
    require(found != json_.end(), "{} lacks \"{}\".", name_, key);
    return *found;
  }
  bool has(const char* key) const { return json_.contains(key); }
  std::string text(const char* key) const {
    require(field(key).is_string(), "{}: \"{}\" should be a text.", name_, key);
    return field(key);
  }
  std::string text_if_any(const char* key) const { return has(key) ? text(key) : ""; }
  bool boolean(const char* key) const {
    require(field(key).is_boolean(), "{}: \"{}\" should be true or false.", name_, key);
    return field(key);
  }
  /// From 0, and finite, as JSON has no other.
  double number(const char* key) const {
    require(field(key).is_number() && field(key) >= 0, "{}: \"{}\" should be a number from 0.", name_, key);
    return field(key);
  }
  std::uint64_t whole_number(const char* key) const {
    require(field(key).is_number_unsigned(), "{}: \"{}\" should be a whole number from 0.", name_, key);
    return field(key);
  }
  int small_number(const char* key) const {
    require(whole_number(key) <= 1'000'000, "{}: \"{}\" is too large.", name_, key);
    return static_cast<int>(whole_number(key));
  }
  const Json& list(const char* key) const {
    require(field(key).is_array(), "{}: \"{}\" should be a list.", name_, key);
    return field(key);
  }
  Values values(const char* key) const {
    Values values;
    require(field(key).is_object(), "{}: \"{}\" should be an object.", name_, key);
    for (const auto& [name, value] : field(key).items()) {
      require(value.is_string(), "{}: \"{}\" of \"{}\" should be a text.", name_, name, key);
      values[name] = value;
    }
    return values;
  }
  /// Nothing if it is null or not there.
  std::optional<Values> values_if_any(const char* key) const {
    if (!has(key) || field(key).is_null()) return {};
    return fit_to_keep({"", values(key)}).values;
  }

 private:
  const Json& json_;
  std::string name_;
};

Json parsed(std::string_view text) {
  // A depth that no record has is refused before it costs the parser's stack.
  constexpr int most = 16;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    require(depth <= most, "The text is nested too deeply.");
    return true;
  };
  Json json = Json::parse(text, shallow, false);
  require(!json.is_discarded(), "The text isn't JSON, or not all of it is there.");
  return json;
}

Json json_of(const Finding& finding) { return {{"key", finding.key}, {"values", finding.values}}; }

Finding finding_of(const Json& json, const std::string& name) {
  const Object object(json, name);
  return fit_to_keep({object.text("key"), object.values("values")});
}

std::vector<Finding> flags_of(const Json& json) {
  std::vector<Finding> flags;
  for (const Json& flag : Object(json, "A record").list("flags")) flags.push_back(finding_of(flag, "A flag"));
  return flags;
}

Json json_of(const CheckRecord& check) {
  Json verdicts = Json::array(), left_out = Json::array();
  for (const BlankVerdict& verdict : check.verdicts) {
    Json entry{{"blank", verdict.blank},
               {"verdict", name_of(verdict.verdict)},
               {"points", verdict.points},
               {"of", verdict.of}};
    if (verdict.finding) entry.update(json_of(*verdict.finding));
    verdicts.push_back(std::move(entry));
  }
  for (const LeftOut& line : check.left_out)
    left_out.push_back({{"file", line.file}, {"line", line.line}, {"removed", line.removed}, {"text", line.text}});
  const auto values = [](const std::optional<Values>& some) { return some ? Json(*some) : Json(); };
  return {{"seed", check.seed},
          {"verdicts", std::move(verdicts)},
          {"speedup", values(check.speedup)},
          {"counts", values(check.counts)},
          {"timeline", check.timeline},
          {"left_out", std::move(left_out)}};
}

BlankVerdict verdict_of(const Json& json) {
  const Object object(json, "A verdict");
  BlankVerdict verdict{
      .blank = object.small_number("blank"), .points = object.number("points"), .of = object.number("of")};
  const auto named = verdict_named(object.text("verdict"));
  require(named.has_value(), "There is no verdict \"{}\".", object.text("verdict"));
  require(verdict.points <= verdict.of, "Blank {} has {} points of {}.", verdict.blank, verdict.points, verdict.of);
  verdict.verdict = *named;
  if (object.has("key")) verdict.finding = finding_of(json, "A verdict");
  return verdict;
}

CheckRecord check_of(const Json& json) {
  const Object object(json, "What was checked");
  CheckRecord check{.seed = object.whole_number("seed"),
                    .speedup = object.values_if_any("speedup"),
                    .counts = object.values_if_any("counts"),
                    .timeline = object.text_if_any("timeline")};
  require(object.list("verdicts").size() <= 100, "There are too many verdicts.");
  for (const Json& entry : object.list("verdicts")) {
    const BlankVerdict verdict = verdict_of(entry);
    require(!check.on(verdict.blank), "There are two verdicts on blank {}.", verdict.blank);
    check.verdicts.push_back(verdict);
  }
  for (const Json& entry : object.list("left_out")) {
    const Object line(entry, "A line that was left out");
    check.left_out.push_back({std::filesystem::path(line.text("file")).filename(), line.small_number("line"),
                              line.boolean("removed"), line.text("text")});
  }
  return check;
}

RecordState state_named(const std::string& name) {
  const auto found = std::find(states.begin(), states.end(), name);
  require(found != states.end(), "There is no state \"{}\".", name);
  return static_cast<RecordState>(found - states.begin());
}

}  // namespace

const char* name_of(RecordState state) { return states[static_cast<std::size_t>(state)].data(); }

const BlankVerdict* CheckRecord::on(int blank) const {
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [&](const BlankVerdict& verdict) { return verdict.blank == blank; });
  return found == verdicts.end() ? nullptr : &*found;
}

Finding fit_to_keep(Finding finding) {
  for (auto& [name, value] : finding.values) value = without_folders(value);
  return bounded(std::move(finding));
}

const BlankVerdict* ungraded_speedup(const TaskRecord& record) {
  const BlankVerdict* speedup = record.check ? record.check->on(0) : nullptr;
  return speedup && speedup->verdict == Verdict::environment ? speedup : nullptr;
}

std::string to_json(const TaskRecord& record) {
  Json flags = Json::array();
  for (const Finding& flag : record.flags) flags.push_back(json_of(flag));
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
                  {"flags", std::move(flags)},
                  {"check", record.check ? json_of(*record.check) : Json()}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

TaskRecord record_from_json(std::string_view text) {
  const Json json = parsed(text);
  const Object object(json, "A record");
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
  record.flags = flags_of(json);
  if (!object.field("check").is_null()) record.check = check_of(object.field("check"));
  require(record.check.has_value() == (record.state == RecordState::marked),
          "A record has verdicts if it is marked, and only then.");
  require(record.reason.has_value() == (record.state == RecordState::ungraded),
          "A record has a reason if it is ungraded, and only then.");
  return record;
}

CheckRecord check_from_json(std::string_view text) { return check_of(parsed(text)); }

std::vector<Finding> flags_from_json(std::string_view text) {
  const Json json = parsed(text);
  return Object(json, "What was checked").has("flags") ? flags_of(json) : std::vector<Finding>();
}

}  // namespace odori::grader
