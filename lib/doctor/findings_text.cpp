#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/findings.h"

namespace odori::doctor {
namespace {

const char* mark(Level level, bool japanese) {
  switch (level) {
    case Level::good:
      return japanese ? "[ 良好 ]" : "[ good ]";
    case Level::note:
      return japanese ? "[ 参考 ]" : "[ note ]";
    case Level::slow:
      return japanese ? "[ 低速 ]" : "[ slow ]";
    case Level::broken:
      return japanese ? "[要対処]" : "[BROKEN]";
  }
  return "";
}

const char* name(Level level) {
  switch (level) {
    case Level::good:
      return "good";
    case Level::note:
      return "note";
    case Level::slow:
      return "slow";
    case Level::broken:
      return "broken";
  }
  return "";
}

}  // namespace

std::string to_text(const std::vector<Finding>& findings, const std::string& language) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{} {}\n", mark(finding.level, language == "ja"), finding.what.in(language));
    if (!finding.remedy.english.empty()) text += fmt::format("         -> {}\n", finding.remedy.in(language));
  }
  return text;
}

nlohmann::json to_json(const std::vector<Finding>& findings, const std::string& language) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings)
    list.push_back({{"check", finding.check},
                    {"level", name(finding.level)},
                    {"text", finding.what.in(language)},
                    {"remedy", finding.remedy.in(language)}});
  return {{"works", works(findings)}, {"findings", list}};
}

bool works(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.level == Level::broken; });
}

}  // namespace odori::doctor
