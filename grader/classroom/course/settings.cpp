// SPDX-License-Identifier: Apache-2.0
#include "classroom/course/settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "blanks/json_object.h"
#include "blanks/listed.h"
#include "blanks/task.h"
#include "classroom/course/times.h"
#include "classroom/refusal.h"
#include "errors/text.h"
#include "files/file.h"
#include "files/json.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t seconds_a_day = 24 * 60 * 60;
constexpr std::array fields{"title", "language", "tasks", "speedup", "deadline", "late", "roster"};

/// One field of course.json, or of what batch.json has of it.
class Field {
 public:
  Field(const Json& json, const char* key, const fs::path& file)
      : value_(json.contains(key) ? json.at(key) : Json()), key_(key), file_(file) {}

  explicit operator bool() const { return !value_.is_null(); }
  const Json& value() const { return value_; }
  void require(bool is_right) const {
    if (is_right) return;
    throw Refusal({std::string("course_") + key_,
                   {{"file", file_.string()},
                    {"value", json_text(value_, -1, NotUtf8::replaced)},
                    {"names", listed(names_of_tasks())}}});
  }
  std::string text() const {
    if (!*this) return {};
    require(value_.is_string());
    return value_;
  }

 private:
  Json value_;
  const char* key_;
  const fs::path& file_;
};

/// Points a day of "10%/day"; nothing for another text.
std::optional<double> points_a_day(std::string_view late) {
  constexpr std::string_view unit = "%/day";
  if (!late.ends_with(unit)) return {};
  const auto points = number_of<double>(trim(late.substr(0, late.size() - unit.size())));
  return points && std::isfinite(*points) && *points > 0 && *points <= all_points ? points : std::nullopt;
}

std::map<std::string, double> weights_of(const Field& field) {
  field.require(field.value().is_object() && !field.value().empty());
  const std::vector<std::string> names = names_of_tasks();
  std::map<std::string, double> weights;
  for (const auto& [task, weight] : field.value().items()) {
    field.require(std::ranges::find(names, task) != names.end() && weight.is_number() && weight > 0);
    weights[task] = weight;
  }
  return weights;
}

Json parsed(const fs::path& file) try {
  Json json = parsed_json(read_file(file));
  require(json.is_object(), "It is no object.");
  return json;
} catch (const Error&) {
  throw Refusal({"course_damaged", {{"file", file.string()}}});
}

/// 20, not 20.0: as an instructor writes it.
Json figure(double value) {
  const double whole = std::floor(value);
  return whole == value && whole < 1e9 ? Json(static_cast<int>(whole)) : Json(value);
}

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

std::vector<std::string> Terms::tasks() const {
  std::vector<std::string> names;
  for (const Task& task : all_tasks())
    if (has(task.name)) names.push_back(task.name);
  return names;
}

Terms usual_terms() {
  Terms terms;
  for (const Task& task : all_tasks())
    if (!task.optional) terms.weights[task.name] = 1;
  return terms;
}

Json json_of(const Terms& terms) {
  Json tasks = Json::object();
  for (const std::string& task : terms.tasks()) tasks[task] = figure(terms.weights.at(task));
  return {{"tasks", std::move(tasks)},
          {"speedup", figure(terms.speedup)},
          {"deadline", or_null(terms.deadline)},
          {"late", or_null(terms.late)}};
}

Terms terms_of(const Json& json, const fs::path& file) {
  Terms terms = usual_terms();
  const auto field = [&](const char* key) { return Field(json, key, file); };
  if (const Field tasks = field("tasks")) terms.weights = weights_of(tasks);
  if (const Field speedup = field("speedup")) {
    speedup.require(speedup.value().is_number() && speedup.value() >= 0 && speedup.value() < all_points);
    terms.speedup = speedup.value();
  }
  terms.deadline = field("deadline").text();
  if (const auto days = days_of_month_exceeded(terms.deadline))
    throw Refusal(
        {"course_deadline_day", {{"file", file.string()}, {"value", terms.deadline}, {"days", std::to_string(*days)}}});
  field("deadline").require(terms.deadline.empty() || seconds_of_time(terms.deadline));
  terms.late = field("late").text();
  field("late").require(terms.late.empty() || terms.late == "refuse" || points_a_day(terms.late));
  return terms;
}

Settings read_settings(const fs::path& file) {
  if (!fs::exists(file)) return {};
  const Json json = parsed(file);
  for (const auto& [key, value] : json.items())
    if (std::ranges::find(fields, key) == fields.end())
      throw Refusal({"course_unknown_field", {{"file", file.string()}, {"field", key}, {"fields", listed(fields)}}});
  Settings settings{.terms = terms_of(json, file),
                    .title = Field(json, "title", file).text(),
                    .language = Field(json, "language", file).text(),
                    .roster = {}};
  Field(json, "language", file)
      .require(settings.language.empty() || settings.language == "en" || settings.language == "ja");
  if (const Field roster(json, "roster", file); roster) {
    roster.require(roster.value().is_array());
    for (const Json& one : roster.value()) {
      roster.require(one.is_string());
      settings.roster.push_back(one);
    }
  }
  return settings;
}

void write_settings(const fs::path& file, const Settings& settings) {
  Json json{{"title", or_null(settings.title)}, {"language", or_null(settings.language)}};
  json.update(json_of(settings.terms));
  json["roster"] = settings.roster;
  replace_file(file, json_text(json, 2) + '\n');
}

std::string differences(const Terms& before, const Terms& after) {
  const Json old = json_of(before), fresh = json_of(after);
  std::string text;
  for (const auto& [key, value] : old.items())
    if (value != fresh.at(key))
      text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : "; ", key, json_text(value), json_text(fresh.at(key)));
  return text;
}

std::optional<Late> late_of(const Terms& terms, std::int64_t submitted) {
  const auto deadline = seconds_of_time(terms.deadline);
  if (!deadline || submitted == 0 || submitted <= *deadline) return {};
  Late late{.days = std::ceil(static_cast<double>(submitted - *deadline) / seconds_a_day)};
  late.refused = terms.late == "refuse";
  late.deducted = late.refused ? all_points : std::min(all_points, points_a_day(terms.late).value_or(0) * late.days);
  return late;
}

}  // namespace odori::grader
