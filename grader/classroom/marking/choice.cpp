// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/choice.h"

#include <algorithm>
#include <tuple>

#include "blanks/blanks.h"
#include "blanks/listed.h"
#include "classroom/course/times.h"
#include "classroom/refusal.h"
#include "errors/text.h"

namespace odori::grader {
namespace {

constexpr std::int64_t same_time = 60;  // seconds: files that were unpacked or copied together
constexpr std::size_t most_named = 5;   // alternatives in a sentence

/// False below solutions/, out/ and build folders, and in a clone of the kit for all places but the exercise's own, the
/// top, and archives that were put into it.
bool is_answer(const Candidate& candidate, const ScannedStudent& student) {
  std::string folder;
  for (const std::string& next : split(candidate.folder, '/')) {
    const bool is_kit = student.kits.contains(folder), is_inside = folder.size() >= candidate.archive.size();
    if (is_kit && is_inside && candidate.folder != folder &&
        candidate.folder != folder + candidate.named.wanted->folder)
      return false;
    if (!is_kit && student.build_folders.contains(folder)) return false;
    if (is_folder_without_answers(next)) return false;
    folder += next + '/';
  }
  return true;
}

enum class Filled { not_at_all, without_marks, yes };

/// A file whose marks are damaged counts as filled: somebody worked on it.
Filled filled(const Candidate& candidate, const std::string& exercise) {
  const Language language = language_of(candidate.named.wanted->name);
  if (trim(*candidate.text, " \t\r\n").empty()) return Filled::not_at_all;
  try {
    std::vector<Blank> blanks = parse_blanks(split_lines(*candidate.text), candidate.name);
    if (blanks.empty()) return Filled::without_marks;
    for (const Blank& given : parse_blanks(split_lines(exercise), candidate.named.wanted->name))
      for (Blank& blank : blanks)
        if (blank.number == given.number && !is_unfilled(given, language)) blank.given = given.text;
    const bool is_unchanged =
        std::ranges::all_of(blanks, [&](const Blank& blank) { return is_left_empty(blank, language); });
    return is_unchanged ? Filled::not_at_all : Filled::yes;
  } catch (const Error&) {
    return Filled::yes;
  }
}

std::string path_of(const Candidate& candidate) { return candidate.folder + candidate.name; }

bool is_preferred(const Candidate& candidate, const Preference& preference) {
  return std::ranges::any_of(preference.files,
                             [&](const std::string& file) { return ('/' + path_of(candidate)).ends_with('/' + file); });
}

struct Rated {
  const Candidate* candidate = nullptr;
  bool preferred = false, in_time = true;
  Filled filled = Filled::yes;
  std::int64_t modified = 0, arrived = 0;  // 0 in a clone, where times are those of the clone

  /// The larger, the better, before the time counts.
  auto rank() const { return std::tuple(preferred, filled, in_time); }
  /// Among those from the same minute.
  auto rank_by_place() const {
    const bool is_in_place = ('/' + candidate->folder).ends_with('/' + candidate->named.wanted->folder);
    return std::tuple(candidate->named.exact, is_in_place, -std::ranges::count(candidate->folder, '/'), modified);
  }
};

Rated rated(const Candidate& candidate, const ScannedStudent& student, const std::string& exercise,
            const Preference& preference) {
  Rated one{.candidate = &candidate,
            .preferred = is_preferred(candidate, preference),
            .filled = filled(candidate, exercise),
            .modified = candidate.modified,
            .arrived = candidate.arrived};
  if (student.is_clone) one.arrived = 0;
  if (student.is_clone && candidate.archive.empty()) one.modified = 0;
  one.in_time = preference.not_after == 0 || one.arrived <= preference.not_after;
  return one;
}

const Rated& best_of(const std::vector<Rated>& all) {
  const auto rank = std::ranges::max_element(all, {}, &Rated::rank)->rank();
  std::int64_t newest = 0;
  for (const Rated& one : all)
    if (one.rank() == rank) newest = std::max(newest, one.modified);
  const Rated* best = nullptr;
  for (const Rated& one : all)
    if (one.rank() == rank && one.modified + same_time >= newest &&
        (best == nullptr || one.rank_by_place() >= best->rank_by_place()))
      best = &one;
  return *best;
}

std::string described(const Alternative& other) {
  return other.modified == 0 ? other.file : fmt::format("{} ({})", other.file, time_text(other.modified));
}

/// Says that there were several answers, if nobody has chosen one.
std::optional<Finding> find_several(const ChosenFile& file, bool preferred) {
  std::vector<std::string> others;
  for (const Alternative& other : file.others)
    if (other.filled) others.push_back(described(other));
  if (others.empty() || preferred) return {};
  return Finding{"flag_several_files",
                 {{"file", file.name},
                  {"n", std::to_string(others.size() + 1)},
                  {"taken", described({file.taken, file.modified})},
                  {"others", listed(others, most_named)}}};
}

}  // namespace

Choice choose(const ScannedStudent& student, const std::string& file, const std::string& exercise,
              const Preference& preference) {
  Choice choice;
  std::vector<Rated> all;
  std::optional<Finding> elsewhere;
  for (const Candidate& candidate : student.candidates) {
    if (candidate.named.wanted->name != file) continue;
    if (!is_answer(candidate, student))
      elsewhere = {"flag_not_an_answer", {{"file", path_of(candidate)}}};
    else if (!candidate.text)
      choice.flags.push_back({candidate.problem, {{"file", path_of(candidate)}}});
    else
      all.push_back(rated(candidate, student, exercise, preference));
  }
  if (all.empty()) {
    if (choice.flags.empty())
      choice.flags.push_back(elsewhere.value_or(Finding{"flag_missing_file", {{"file", file}}}));
    return choice;
  }
  const Rated& best = best_of(all);
  choice.text = best.candidate->text;
  choice.arrived = best.arrived;
  choice.file = ChosenFile{file, path_of(*best.candidate), best.modified, {}};
  for (const Rated& one : all)
    if (*one.candidate->text != *best.candidate->text)
      choice.file->others.push_back({path_of(*one.candidate), one.modified, one.filled != Filled::not_at_all});
  if (auto several = find_several(*choice.file, best.preferred)) choice.flags.push_back(*std::move(several));
  return choice;
}

void require_preferred(const ScannedStudent& student, const Preference& preference,
                       const std::filesystem::path& overrides) {
  for (const std::string& file : preference.files) {
    const Preference one{.student = preference.student, .files = {file}};
    const auto is_it = [&](const Candidate& candidate) { return candidate.text && is_preferred(candidate, one); };
    if (std::ranges::any_of(student.candidates, is_it)) continue;
    std::vector<std::string> paths;
    for (const Candidate& candidate : student.candidates) paths.push_back(path_of(candidate));
    throw Refusal({"override_no_file",
                   {{"file", overrides.string()},
                    {"student", preference.student},
                    {"wanted", file},
                    {"files", paths.empty() ? "-" : listed(paths)}}});
  }
}

}  // namespace odori::grader
