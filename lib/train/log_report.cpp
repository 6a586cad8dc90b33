// SPDX-License-Identifier: Apache-2.0
#include "train/log_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "errors/error.h"
#include "files/file.h"
#include "files/json.h"
#include "train/trainer.h"
#include "train/training_facts.h"

namespace odori {
namespace {

/// Counts are written as integers; a value that isn't finite has no form in JSON but null.
nlohmann::json to_json(const std::vector<LogReport::Entry>& log) {
  nlohmann::json list = nlohmann::json::array();
  for (const LogReport::Entry& entry : log) {
    nlohmann::json& item = list.emplace_back(nlohmann::json::object());
    for (const auto& [key, value] : entry) {
      if (key == "epoch" || key == "iteration")
        item[key] = static_cast<std::int64_t>(value);
      else
        item[key] = value;
    }
  }
  return list;
}

}  // namespace

void LogReport::initialize(Trainer& trainer) { remove_unfinished(trainer.out() + "/log"); }

void LogReport::run(Trainer& trainer) {
  observe::on_report(trainer.observation());
  Entry& entry = log_.emplace_back(trainer.observation());
  entry["epoch"] = static_cast<double>(trainer.updater().epoch());
  entry["iteration"] = static_cast<double>(trainer.updater().iteration());
  entry["elapsed_time"] = trainer.elapsed_time();
  replace_file(trainer.out() + "/log", json_text(to_json(log_), 4) + "\n");
}

std::string LogReport::state() const { return json_text(to_json(log_)); }

void LogReport::restore(const std::string& state) {
  std::vector<Entry> log;
  try {
    for (const auto& item : parse_json(state)) {
      Entry& entry = log.emplace_back();
      for (const auto& [key, value] : item.get_ref<const nlohmann::json::object_t&>())
        entry[key] = value.is_null() ? std::nan("") : value.get<double>();
    }
  } catch (const nlohmann::json::exception&) {
    fail("The snapshot's log is damaged: it isn't a list of numbers by name.");
  }
  log_ = std::move(log);
}

const LogReport& find_log_report(Trainer& trainer) {
  for (const auto& extension : trainer.extensions())
    if (const auto* report = dynamic_cast<const LogReport*>(extension.get())) return *report;
  fail("This needs the trainer's LogReport, but it has none: trainer.extend(LogReport()).");
}

}  // namespace odori
