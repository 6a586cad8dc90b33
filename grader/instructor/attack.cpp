#include "instructor/attack.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "errors/error.h"
#include "exercise/task.h"

namespace odori::grader {
namespace {

struct Kind {
  std::string_view name;
  bool has_number, has_text;
};
constexpr std::array<Kind, 11> kinds{{{"mark", true, false},
                                      {"said", false, true},
                                      {"file", false, true},
                                      {"process", false, true},
                                      {"processes", true, true},
                                      {"connection", false, false},
                                      {"killed", false, false},
                                      {"memory", true, false},
                                      {"seconds", true, false},
                                      {"page", false, true},
                                      {"table", false, true}}};

/// "identifiers, files"
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream list(text);
  for (std::string name; std::getline(list >> std::ws, name, ',');) names.push_back(name);
  return names;
}

/// "processes 200 NAME"
std::optional<Witness> witness_of(const std::string& line) {
  std::istringstream fields(line);
  Witness witness;
  fields >> witness.kind;
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == witness.kind; });
  if (kind == kinds.end() || (kind->has_number && !(fields >> witness.number))) return {};
  std::getline(fields >> std::ws, witness.text);
  if (kind->has_text == witness.text.empty()) return {};
  return witness;
}

void take_fact(Attack& attack, const std::string& name, const std::string& value) {
  if (name == "task") {
    attack.task = task_named(value).name;
  } else if (name == "held by") {
    attack.held_by = listed(value);
  } else if (name == "shown by") {
    const auto witness = witness_of(value);
    require(witness.has_value(), "{}: \"{}\" is none of the ways in which success shows.", attack.title(), value);
    attack.witness = *witness;
  } else if (name == "student") {
    attack.student = value;
  } else if (name == "also") {
    attack.flags.push_back(value);
  } else {
    require(name == "slow", "{}: attacks have no lines \"- {}: ...\".", attack.title(), name);
    attack.slow = true;
  }
}

void take_text(Attack& attack, const std::string& name, const std::vector<std::string>& text) {
  require(name == "outside" || name == "instead" || name == "handed in", "{}: a text can't be called \"{}\".",
          attack.title(), name);
  (name == "outside" ? attack.outside : name == "instead" ? attack.instead : attack.handed_in) = text;
}

}  // namespace

std::string Attack::id() const { return fmt::format("{}_{}", file.substr(0, file.find('.')), line); }

std::vector<Attack> read_attacks(const std::filesystem::path& folder) {
  std::vector<Attack> all;
  for (AnswerEntry& entry : read_answer_files(folder)) {
    Attack& attack = all.emplace_back(Attack{std::move(entry)});
    for (const auto& [name, value] : attack.facts) take_fact(attack, name, value);
    for (const auto& [name, text] : attack.texts) take_text(attack, name, text);
    require(!attack.task.empty() && !attack.held_by.empty() && !attack.witness.kind.empty(),
            "{}: an attack has a task, a defence that holds it (held by) and a way in which success shows (shown by).",
            attack.title());
  }
  return all;
}

}  // namespace odori::grader
