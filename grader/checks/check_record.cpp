// SPDX-License-Identifier: Apache-2.0
#include "checks/check_record.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "blanks/json_object.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_bytes_of_answer = 8000;

BlankVerdict verdict_of(const Json& json) {
  const JsonObject object(json, "A verdict");
  BlankVerdict verdict{
      .blank = object.small_number("blank"), .points = object.number("points"), .of = object.number("of")};
  const auto named = verdict_named(object.text("verdict"));
  require(named.has_value(), "There is no verdict \"{}\".", object.text("verdict"));
  require(verdict.points <= verdict.of, "Blank {} has {} points of {}.", verdict.blank, verdict.points, verdict.of);
  verdict.verdict = *named;
  if (object.has("key")) verdict.finding = finding_of(json, "A verdict");
  return verdict;
}

std::optional<CheckRecord::Values> values_of(const JsonObject& object, const char* key) {
  auto values = object.texts_if_any(key);
  if (values) values = fit_to_keep({"", std::move(*values)}).values;
  return values;
}

}  // namespace

const BlankVerdict* CheckRecord::on(int blank) const {
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [&](const BlankVerdict& verdict) { return verdict.blank == blank; });
  return found == verdicts.end() ? nullptr : &*found;
}

Json json_of(const Finding& finding) { return {{"key", finding.key}, {"values", finding.values}}; }

Json json_of(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(json_of(finding));
  return list;
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
  Json answers = Json::array();
  for (const auto& [blank, text] : check.answers) answers.push_back({{"blank", blank}, {"text", text}});
  const auto values = [](const std::optional<CheckRecord::Values>& some) { return some ? Json(*some) : Json(); };
  return {{"seed", check.seed},
          {"verdicts", std::move(verdicts)},
          {"speedup", values(check.speedup)},
          {"counts", values(check.counts)},
          {"timeline", check.timeline},
          {"left_out", std::move(left_out)},
          {"answers", std::move(answers)}};
}

Finding finding_of(const Json& json, const std::string& name) {
  const JsonObject object(json, name);
  return fit_to_keep({object.text("key"), object.texts("values")});
}

std::vector<Finding> findings_of(const Json& json, const std::string& name) {
  std::vector<Finding> findings;
  for (const Json& finding : json) findings.push_back(finding_of(finding, name));
  return findings;
}

CheckRecord check_of(const Json& json) {
  const JsonObject object(json, "What was checked");
  CheckRecord check{.seed = object.whole_number("seed"),
                    .speedup = values_of(object, "speedup"),
                    .counts = values_of(object, "counts"),
                    .timeline = object.text_if_any("timeline")};
  require(object.list("verdicts").size() <= 100, "There are too many verdicts.");
  for (const Json& entry : object.list("verdicts")) {
    const BlankVerdict verdict = verdict_of(entry);
    require(!check.on(verdict.blank), "There are two verdicts on blank {}.", verdict.blank);
    check.verdicts.push_back(verdict);
  }
  for (const Json& entry : object.list("left_out")) {
    const JsonObject line(entry, "A line that was left out");
    check.left_out.push_back({std::filesystem::path(line.text("file")).filename(), line.small_number("line"),
                              line.boolean("removed"), line.text("text")});
  }
  if (!object.has("answers")) return check;  // of an earlier version
  for (const Json& entry : object.list("answers")) {
    const JsonObject answer(entry, "An answer");
    const int blank = answer.small_number("blank");
    if (check.on(blank)) check.answers[blank] = bounded(answer.text("text"), most_bytes_of_answer);
  }
  return check;
}

CheckOutput check_output_from_json(std::string_view text) {
  const Json json = parsed_json(text);
  CheckRecord check = check_of(json);
  return {std::move(check), findings_of(JsonObject(json, "What was checked").list("flags"), "A flag")};
}

}  // namespace odori::grader
