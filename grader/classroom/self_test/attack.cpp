#include "classroom/self_test/attack.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "blanks/task.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

const std::set<std::string> all_walls{"sandbox", "evidence", "recomputation", "words",
                                      "blanks",  "intake",   "reports",       "scripts"};

/// "words, evidence"
std::vector<std::string> walls_in(const Attack& attack, const std::string& text) {
  std::vector<std::string> walls;
  std::istringstream list(text);
  for (std::string name; std::getline(list >> std::ws, name, ',');) {
    require(all_walls.contains(name), "{}: there is no wall \"{}\".", attack.title(), name);
    walls.push_back(name);
  }
  return walls;
}

void take_fact(Attack& attack, const std::string& name, const std::string& value) {
  if (name == "task") {
    attack.task = task_named(value).name;
  } else if (name == "wall") {
    attack.walls = walls_in(attack, value);
  } else if (name == "leaves") {
    attack.leaves = value;
  } else if (name == "shows") {
    attack.shows = value;
  } else if (name == "student") {
    attack.student = value;
  } else if (name == "also") {
    attack.flags.push_back(value);
  } else {
    require(name == "slow", "{}: attacks have no lines \"- {}: ...\".", attack.title(), name);
    attack.slow = true;
  }
}

}  // namespace

std::string Attack::id() const { return fmt::format("{}_{}", file.substr(0, file.find('.')), line); }

bool Attack::passes(const std::vector<BlankVerdict>& verdicts) const {
  const auto is_right = [&](int blank) {
    return std::ranges::any_of(
        verdicts, [&](const BlankVerdict& seen) { return seen.blank == blank && seen.verdict == Verdict::pass; });
  };
  return !expected.empty() && std::ranges::all_of(expected, [&](const auto& each) { return is_right(each.first); });
}

bool Attack::wins_by_passing() const {
  return leaves.empty() && shows.empty() &&
         !std::ranges::all_of(expected, [](const auto& each) { return each.second.passes(); });
}

std::vector<Attack> read_attacks(const std::filesystem::path& folder) {
  std::vector<Attack> all;
  for (AnswerEntry& entry : read_answer_files(folder)) {
    Attack& attack = all.emplace_back(Attack{std::move(entry)});
    for (const auto& [name, value] : attack.facts) take_fact(attack, name, value);
    for (const auto& [name, text] : attack.texts) {
      require(name == "outside" || name == "handed in", "{}: a text can't be called \"{}\".", attack.title(), name);
      (name == "outside" ? attack.outside : attack.handed_in) = text;
    }
    require(!attack.task.empty(), "{}: an attack has a task.", attack.title());
  }
  return all;
}

}  // namespace odori::grader
