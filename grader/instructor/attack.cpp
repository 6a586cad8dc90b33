#include "instructor/attack.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "exercise/task.h"

namespace odori::grader {
namespace {

struct Kind {
  std::string_view name;
  bool has_number, has_words;
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

/// "words, files"
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream list(text);
  for (std::string name; std::getline(list >> std::ws, name, ',');) names.push_back(name);
  return names;
}

/// "processes 200 NAME"
std::optional<Witness> witness_of(const std::string& text) {
  std::istringstream words(text);
  Witness witness;
  words >> witness.kind;
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == witness.kind; });
  if (kind == kinds.end() || (kind->has_number && !(words >> witness.number))) return {};
  std::getline(words >> std::ws, witness.words);
  if (kind->has_words == witness.words.empty()) return {};
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

void take_text(Attack& attack, const std::string& name, std::vector<std::string> text) {
  require(name == "outside" || name == "instead" || name == "handed in", "{}: a text can't be called \"{}\".",
          attack.title(), name);
  (name == "outside" ? attack.outside : name == "instead" ? attack.instead : attack.handed_in) = std::move(text);
}

}  // namespace

std::string Attack::title() const { return fmt::format("{}:{}: {}", file, line, name); }

std::string Attack::id() const { return fmt::format("{}_{}", file.substr(0, file.find('.')), line); }

Expected Attack::expected_of(int blank) const {
  const auto said = expected.find(blank);
  return said == expected.end() ? Expected{} : said->second;
}

std::vector<Attack> read_attacks(const std::filesystem::path& folder) {
  std::vector<Attack> all;
  for (AnswerEntry& entry : read_answer_files(folder)) {
    Attack& attack = all.emplace_back();
    attack.file = entry.file;
    attack.name = entry.name;
    attack.line = entry.line;
    attack.expected = std::move(entry.expected);
    attack.blanks = std::move(entry.blanks);
    for (const auto& [name, value] : entry.facts) take_fact(attack, name, value);
    for (auto& [name, text] : entry.texts) take_text(attack, name, std::move(text));
    require(!attack.task.empty() && !attack.held_by.empty() && !attack.witness.kind.empty(),
            "{}: an attack has a task, a defence that holds it (held by) and a way in which success shows (shown by).",
            attack.title());
  }
  return all;
}

}  // namespace odori::grader
