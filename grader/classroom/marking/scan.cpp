// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/scan.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <regex>
#include <vector>

#include "blanks/task.h"
#include "blanks/utf8.h"
#include "classroom/marking/entries.h"
#include "classroom/refusal.h"
#include "files/file.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes_of_archive = std::uintmax_t{512} << 20;  // of a student's
constexpr std::size_t most_bytes_of_candidate = 1 << 16;                     // ten times an exercise's
constexpr std::size_t most_bytes_of_metadata = 16 << 20;                     // Gradescope's holds all outputs
// Of one student:
constexpr int most_archives = 20, most_entries = 300'000;
constexpr std::size_t most_candidates = 128, most_others = 3, most_flags = 20;

/// Files of the operating system's, beside the students' folders.
bool is_hidden(const std::string& name) { return name == "__MACOSX" || name.starts_with('.'); }

bool is_kits_folder(const std::string& name) { return is_folder_of_answers(name) || is_folder_without_answers(name); }

/// Nothing if it can't be read, or is too large.
std::optional<std::string> read_candidate(const Entry& entry) {
  std::string text;
  const bool complete = entry.read([&](std::string_view piece) {
    text += piece;
    return text.size() <= most_bytes_of_candidate;
  });
  if (!complete || text.size() > most_bytes_of_candidate) return {};
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))  // as some editors on Windows save it
    if (auto converted = to_utf8(text, "UTF-16")) return converted;
  return text;
}

std::string reason_without_text(const Entry& entry) {
  if (entry.kind == Entry::Kind::link) return "flag_link";
  if (entry.kind != Entry::Kind::file) return "flag_no_file";
  return entry.bytes > most_bytes_of_candidate ? "flag_too_large" : "flag_unreadable";
}

/// A student's archive while it is scanned.
struct OpenArchive {
  const Entry& entry;
  std::string folder;  // that stands for it
};

class Collector {
 public:
  Collector(const fs::path& submissions, const fs::path& scratch) : submissions_(submissions), scratch_(scratch) {}

  Scan collect() {
    wrapper_ = folder_of_all_students();
    if (!wrapper_.empty()) scan_.problems.push_back({"class_in_one_folder", {{"folder", wrapper_}}});
    for (Finding& problem : scan([this](const Entry& entry) { return see(entry); }))
      scan_.problems.push_back(std::move(problem));
    for (const std::string& name : nobodys_) scan_.problems.push_back({"nobodys_file", {{"file", name}}});
    return std::move(scan_);
  }

 private:
  std::vector<Finding> scan(const EntryHandler& handle) const {
    if (!fs::is_directory(submissions_)) return scan_archive(submissions_, submissions_.filename(), handle);
    scan_folder(submissions_, handle);
    return {};
  }

  /// The only folder, if several folders or archives in it have answers and it isn't a copy of the kit; else empty.
  std::string folder_of_all_students() const {
    std::set<std::string> first, second;
    bool is_kit = false;
    scan([&](const Entry& entry) {
      const auto& parts = entry.parts;
      if (parts.empty() || is_hidden(parts[0])) return true;
      first.insert(parts[0]);
      is_kit |= parts.size() == 2 && parts[1] == "odori" && entry.kind == Entry::Kind::file;
      const bool is_students_archive = parts.size() == 2 && entry.kind == Entry::Kind::file && is_archive(parts[1]);
      const bool is_answer = parts.size() > 2 && wanted_named(parts.back()).wanted;
      if ((is_students_archive || is_answer) && !is_kits_folder(parts[1])) second.insert(parts[1]);
      return first.size() == 1;
    });
    return first.size() == 1 && second.size() > 1 && !is_kit ? *first.begin() : "";
  }

  bool see(const Entry& entry) {
    if (entry.parts.empty()) throw Refusal({"submissions_unreadable", {{"folder", submissions_.string()}}}, 20);
    const std::size_t n_skipped = wrapper_.empty() ? 0 : 1;
    if (entry.parts.size() <= n_skipped || is_hidden(entry.parts[n_skipped])) return true;
    const std::string& top = entry.parts[n_skipped];
    const bool is_top = entry.parts.size() == n_skipped + 1;
    if (is_top && entry.kind != Entry::Kind::folder && entry.kind != Entry::Kind::unreadable) {
      see_loose(top, entry);
    } else if (is_kits_folder(top)) {
      nobodys_.insert(top);
      scan_.has_answers_at_top |= is_folder_of_answers(top) && wanted_named(entry.parts.back()).wanted;
    } else {
      std::string folder;
      for (std::size_t i = n_skipped + 1; i + 1 < entry.parts.size(); ++i) folder += entry.parts[i] + '/';
      see_of_student(student_of(top), folder, entry, nullptr);
    }
    return true;
  }

  /// Of a folder, or of Moodle's file. A student's folders for files and for text typed online are one student's.
  ScannedStudent& student_of(const std::string& name) {
    if (last_ != nullptr && name == last_name_) return *last_;  // a folder has many entries
    const auto moodle = moodle_owner(name);
    last_name_ = name;
    last_ = &scan_.students[moodle ? moodle->folder : name];
    if (moodle) last_->moodle = {.name = moodle->name, .moodle = moodle->number};
    return *last_;
  }

  /// What a platform says about the class; false if the file is none of these.
  bool see_metadata(const std::string& name, const Entry& entry) {
    const bool is_roster = name.ends_with(".csv") && name.find("roster") != std::string::npos;
    if (entry.kind != Entry::Kind::file || (!is_roster && name != "submission_metadata.yml")) return false;
    std::string text;
    const bool complete = entry.read([&](std::string_view piece) {
      text += piece;
      return text.size() <= most_bytes_of_metadata;
    });
    if (!complete || text.size() > most_bytes_of_metadata) return false;
    if (is_roster) try {
        merge_roster(scan_.roster, read_roster(text, name));
        return true;
      } catch (const Refusal&) {
        return false;  // it isn't a list of students
      }
    scan_.submitters = read_submission_metadata(text);
    return !scan_.submitters.empty();
  }

  /// A file beside the students' folders.
  void see_loose(const std::string& name, const Entry& entry) {
    if (see_metadata(name, entry)) return;
    const auto owner = owner_of_loose(name);
    if (entry.kind == Entry::Kind::file && is_archive(name)) {
      // A folder of the same name may be another student's.
      const std::string stem = without_archive_suffix(name);
      see_archive(owner ? student_of(moodle_owner(name) ? name : *owner)
                        : scan_.students[scan_.students.contains(stem) ? name : stem],
                  "", entry);
    } else if (owner) {
      see_of_student(student_of(moodle_owner(name) ? name : *owner), "", entry, nullptr);
    } else {
      nobodys_.insert(name);
      scan_.has_answers_at_top |= wanted_named(name).exact;
    }
  }

  static void flag(ScannedStudent& student, Finding finding) {
    if (student.flags.size() < most_flags) student.flags.push_back(std::move(finding));
  }

  /// `archive`: the student's archive that it is in, or null.
  void see_of_student(ScannedStudent& student, const std::string& folder, const Entry& entry,
                      const OpenArchive* archive) {
    if (archive == nullptr && ('/' + folder).find("/.git/") != std::string::npos) student.is_clone = true;
    const std::string& name = entry.parts.back();
    const Named named = wanted_named(name);
    if (++student.n_entries > most_entries || student.candidates.size() > most_candidates) {
      const Finding too_many{"flag_too_many_files", {{"n", std::to_string(student.n_entries - 1)}}};
      if (!std::exchange(student.is_cut, true)) flag(student, too_many);
    } else if (entry.kind == Entry::Kind::unreadable) {
      flag(student, {"flag_unreadable", {{"file", entry.path()}}});
    } else if (named.wanted && entry.kind != Entry::Kind::folder) {
      Candidate& candidate = student.candidates.emplace_back(
          Candidate{.named = named,
                    .folder = folder,
                    .name = name,
                    .modified = entry.modified,
                    .arrived = archive != nullptr ? archive->entry.modified : entry.modified,
                    .archive = archive != nullptr ? archive->folder : ""});
      if (entry.kind == Entry::Kind::file) candidate.text = read_candidate(entry);
      if (!candidate.text) candidate.problem = reason_without_text(entry);
    } else if (entry.kind == Entry::Kind::file) {
      if (name == "odori") student.kits.insert(folder);
      if (name == "CMakeCache.txt") student.build_folders.insert(folder);
      if (!is_archive(name))
        add_other(student, folder, name);
      else if (archive != nullptr)
        flag(student, {"flag_closed_archive", {{"file", entry.path()}}});
      else
        see_archive(student, folder, entry);
    }
  }

  static void add_other(ScannedStudent& student, const std::string& folder, const std::string& name) {
    if (('/' + folder + name).find("/.") != std::string::npos) return;
    student.others.emplace(!name.ends_with(".cpp") && !name.ends_with(".sh"), name);
    if (student.others.size() > most_others) student.others.erase(std::prev(student.others.end()));
  }

  /// A student's archive. It is copied, since it can't be read in place.
  void see_archive(ScannedStudent& student, const std::string& folder, const Entry& entry) {
    const std::string name = entry.parts.back();
    if (++student.n_archives > most_archives) return flag(student, {"flag_closed_archive", {{"file", name}}});
    const fs::path copy = scratch_ / "archive";
    std::error_code error;
    fs::create_directories(scratch_, error);
    std::ofstream file(copy, std::ios::binary | std::ios::trunc);
    std::uintmax_t bytes = 0;
    const bool complete = entry.read([&](std::string_view piece) {
      file << piece;
      return (bytes += piece.size()) <= most_bytes_of_archive && file;
    });
    if (!file.flush()) throw WriteError(copy.string() + " can't be written.", errno);
    if (!complete || bytes > most_bytes_of_archive) {
      flag(student, {complete ? "archive_too_large" : "flag_unreadable", {{"file", name}}});
    } else {
      const OpenArchive opened{entry, folder + name + '/'};
      const auto see_inner = [&](const Entry& inner) {
        std::string path = folder + name + '/' + inner.path();
        path.resize(path.rfind('/') + 1);
        see_of_student(student, path, inner, &opened);
        return !student.is_cut;
      };
      for (Finding& problem : scan_archive(copy, name, see_inner)) flag(student, std::move(problem));
    }
    fs::remove(copy, error);
  }

  fs::path submissions_, scratch_;
  std::string wrapper_;  // the folder around those of all students; empty: none
  std::set<std::string> nobodys_;
  std::string last_name_;           // of the entry before
  ScannedStudent* last_ = nullptr;  // and whose it was
  Scan scan_;
};

}  // namespace

Scan scan_submissions(const fs::path& submissions, const fs::path& scratch) {
  std::error_code error;
  const auto status = fs::status(submissions, error);
  if (!fs::exists(status)) throw Refusal({"submissions_missing", {{"folder", submissions.string()}}});
  if (!fs::is_directory(status) && !is_archive(submissions.filename().string()))
    throw Refusal({"submissions_no_archive", {{"folder", submissions.string()}}});
  return Collector(submissions, scratch).collect();
}

namespace {

const std::vector<Wanted>& all_wanted() {
  static const std::vector<Wanted> wanted = [] {
    std::vector<Wanted> all;
    for (const Task& task : all_tasks())
      for (const ExerciseFile& file : task.files())
        all.push_back({file.exercise.filename(), file.exercise.parent_path().string() + '/'});
    return all;
  }();
  return wanted;
}

/// "", " (1)", "(1)", " - Copy", " - Copy (2)", " - コピー"
bool is_copy_suffix(const std::string& text) {
  static const std::regex suffix("( - Copy| - コピー)?( ?\\([0-9]{1,3}\\))?");
  return std::regex_match(text, suffix);
}

bool is_prefix(const std::string& text) {
  return text.empty() || (text[0] != '.' && std::string("_- ").find(text.back()) != std::string::npos);
}

}  // namespace

Named wanted_named(const std::string& name) {
  Named longest;  // more_debugging.cpp is not debugging.cpp with a prefix
  for (const Wanted& wanted : all_wanted()) {
    const auto dot = wanted.name.rfind('.');
    const std::string stem = wanted.name.substr(0, dot), extension = wanted.name.substr(dot);
    const auto at = name.rfind(stem);
    if (at == std::string::npos || !name.ends_with(extension)) continue;
    const std::string prefix = name.substr(0, at), rest = name.substr(at + stem.size());
    if (is_prefix(prefix) && is_copy_suffix(rest.substr(0, rest.size() - extension.size())) &&
        (!longest.wanted || wanted.name.size() > longest.wanted->name.size()))
      longest = {&wanted, name == wanted.name, prefix};
  }
  return longest;
}

std::optional<std::string> copied_name(const std::string& name) {
  for (std::size_t at = 1; at < name.size(); ++at)
    if (is_copy_suffix(name.substr(at))) return name.substr(0, at);
  return {};
}

std::optional<MoodleOwner> moodle_owner(const std::string& name) {
  static const std::regex form("((.+)_([0-9]+))_assignsubmission_(file|onlinetext)(_.*)?");
  std::smatch part;
  if (!std::regex_match(name, part, form)) return {};
  return MoodleOwner{part[1], part[2], part[3]};
}

std::optional<std::string> owner_of_loose(const std::string& name) {
  if (const auto moodle = moodle_owner(name)) return moodle->folder;
  std::string owner = wanted_named(name).prefix;
  owner.resize(owner.find_last_not_of("_- ") + 1);
  return owner.empty() ? std::nullopt : std::optional(owner);
}

bool is_folder_of_answers(const std::string& name) {
  return name == "exercises" || name == "jobscripts" ||
         std::ranges::any_of(all_tasks(), [&](const Task& task) { return name == task.folder; });
}

bool is_folder_without_answers(const std::string& name) { return name == "solutions" || name == "out"; }

}  // namespace odori::grader
