#include "batch/scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "batch/entries.h"
#include "batch/refusal.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Parts = std::vector<std::string>;

constexpr std::uintmax_t most_archive_bytes = std::uintmax_t{512} << 20;  // of one within another
constexpr int most_archives = 20;                                         // of a student
constexpr int most_within = 3;                                            // archives round each other
constexpr int most_entries = 300'000;                                     // of a student
constexpr std::size_t most_others = 3, most_flags_of_student = 20;        // likewise

/// What lies beside the students' folders and is none.
bool is_nobody(const std::string& name) { return name == "__MACOSX" || name.starts_with('.'); }

bool is_kits_folder(const std::string& name) {
  return is_kits_folder_of_answers(name) || is_kits_folder_without_answers(name);
}

/// What a student may have meant for an answer, under a name of their own.
bool is_like_an_answer(const Parts& parts) {
  return (parts.back().ends_with(".cpp") || parts.back().ends_with(".sh")) &&
         std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
           return part.starts_with('.') || is_kits_folder_without_answers(part);
         });
}

class Collector {
 public:
  Collector(const fs::path& submissions, const std::optional<fs::path>& scratch)
      : submissions_(submissions), scratch_(scratch) {}

  Scan collect() {
    if (fs::is_directory(submissions_)) {
      scan_folder(submissions_, {}, [this](const Entry& entry) { return see(entry); });
      return std::move(scan_);
    }
    skipped_ = depth_of_students();
    const auto problems =
        scan_archive(submissions_, submissions_.filename(), [this](const Entry& entry) { return see(entry); });
    scan_.problems.insert(scan_.problems.end(), problems.begin(), problems.end());
    return std::move(scan_);
  }

 private:
  /// 1 if an archive has all students in one folder, else 0. Then that folder has several with answers in them, and
  /// isn't itself a copy of the kit.
  std::size_t depth_of_students() const {
    std::set<std::string> first, second;
    scan_archive(submissions_, "", [&](const Entry& entry) {
      const Parts& parts = entry.parts;
      if (!is_nobody(parts[0]) && (parts.size() > 1 || entry.kind != Entry::Kind::folder)) first.insert(parts[0]);
      const bool answers = parts.size() > 2 && wanted_named(parts.back()).wanted;
      const bool students_archive = parts.size() == 2 && entry.kind == Entry::Kind::file && is_archive(parts[1]);
      if ((answers || students_archive) && !is_kits_folder(parts[1])) second.insert(parts[1]);
      return first.size() < 2;
    });
    return first.size() == 1 && second.size() > 1 ? 1 : 0;
  }

  bool see(const Entry& entry) {
    if (entry.parts.empty()) throw Refusal({"submissions_unreadable", {{"folder", submissions_.string()}}}, 20);
    if (entry.parts.size() <= skipped_ || is_nobody(entry.parts[skipped_])) return true;
    const Parts parts(entry.parts.begin() + static_cast<std::ptrdiff_t>(skipped_), entry.parts.end());
    if (parts.size() > 1 || entry.kind == Entry::Kind::folder)
      see_of_student(student(parts[0], parts[0]), Parts(parts.begin() + 1, parts.end()), entry, {});
    else
      see_loose(parts[0], entry);
    return true;
  }

  /// A file among the students' folders.
  void see_loose(const std::string& file, const Entry& entry) {
    const bool is_file = entry.kind == Entry::Kind::file, archive = is_file && is_archive(file);
    const auto owner = owner_of_loose(file);
    if (archive || (is_file && !owner && is_unreadable_archive(file))) {
      // Beside a folder of the same name it is another student's, or so it seems.
      const std::string name = without_archive_suffix(file);
      ScannedStudent& found = student(owner ? *owner : scan_.students.contains(name) ? file : name, file);
      if (archive)
        see_archive(found, entry, {"", 0});
      else
        see_of_student(found, {file}, entry, {});
    } else if (owner) {
      see_of_student(student(*owner, file), {file}, entry, {});
    } else {
      scan_.problems.push_back({"nobodys_file", {{"file", file}}});
      scan_.has_answers_at_top |= wanted_named(file).how == Named::How::exactly;
    }
  }

  ScannedStudent& student(const std::string& name, const std::string& place) {
    return scan_.students.try_emplace(name, ScannedStudent{.place = place}).first->second;
  }

  /// What an entry lies in.
  struct Within {
    std::string archive;  // the one at the top of the student's folder; "": that which is the student's folder
    int n = 0;            // archives round it
  };

  static void flag(ScannedStudent& student, Finding finding) {
    if (student.flags.size() < most_flags_of_student) student.flags.push_back(std::move(finding));
  }

  void see_of_student(ScannedStudent& student, const Parts& parts, const Entry& entry, const Within& within) {
    if (++student.n_entries > most_entries) {
      if (student.n_entries == most_entries + 1)
        flag(student, {"flag_too_many_entries", {{"n", std::to_string(most_entries)}}});
      return;
    }
    if (entry.kind == Entry::Kind::unreadable) flag(student, {"flag_unreadable", {{"file", entry.path()}}});
    if (parts.empty() || entry.kind == Entry::Kind::folder || entry.kind == Entry::Kind::unreadable) return;
    Named named = wanted_named(parts.back());
    if (!named.wanted) named = nearly_named(parts.back());
    if (named.wanted) {
      const std::string top = !within.archive.empty() ? within.archive : parts.size() > 1 ? parts[0] : "";
      if (student.files[named.wanted->name].consider(named, parts, entry)) {
        student.held[named.wanted->name].insert(is_kits_folder(top) ? "" : top);
        if (within.n == 0 && entry.path().ends_with('/' + top + '/' + named.wanted->kits_path))
          student.kits.insert(top);
      }
    } else if (entry.kind == Entry::Kind::file && is_archive(parts.back())) {
      see_archive(student, entry, within.n == 0 ? Within{parts.back(), 0} : within);
    } else {
      std::vector<std::string>& list = is_unreadable_archive(parts.back()) ? student.unreadable
                                       : is_like_an_answer(parts)          ? student.others
                                                                           : student.rest;
      if (list.size() < most_others) list.push_back(parts.back());
    }
  }

  /// An archive within what was handed in: it is copied out, as it can't be read in place.
  void see_archive(ScannedStudent& student, const Entry& entry, const Within& within) {
    if (!scratch_) return;
    if (++student.n_archives > most_archives || within.n == most_within) {
      ++student.n_closed;
      return;
    }
    // Its own name may be one that no file can have.
    const fs::path copy = *scratch_ / fmt::format("archive_{}", within.n);
    std::error_code error;
    fs::create_directories(*scratch_, error);
    std::ofstream file(copy, std::ios::binary | std::ios::trunc);
    std::uintmax_t bytes = 0;
    const bool well = entry.read([&](std::string_view piece) {
      file << piece;
      return (bytes += piece.size()) <= most_archive_bytes && file;
    });
    if (!file.flush()) throw Refusal({"batch_disk_full", {{"file", copy.string()}}}, 20);
    if (!well || bytes > most_archive_bytes) {
      flag(student, {well ? "archive_too_large" : "flag_unreadable", {{"file", entry.parts.back()}}});
    } else {
      for (const Finding& problem : scan_archive(copy, entry.parts.back(), [&](const Entry& inner) {
             see_of_student(student, inner.parts, inner, {within.archive, within.n + 1});
             return student.n_entries <= most_entries;
           }))
        flag(student, problem);
    }
    fs::remove(copy, error);
  }

  fs::path submissions_;
  std::optional<fs::path> scratch_;
  std::size_t skipped_ = 0;  // folders round those of the students
  Scan scan_;
};

}  // namespace

Scan scan_submissions(const fs::path& submissions, const std::optional<fs::path>& scratch) {
  std::error_code error;
  const auto status = fs::status(submissions, error);
  if (!fs::exists(status)) throw Refusal({"submissions_missing", {{"folder", submissions.string()}}});
  if (!fs::is_directory(status) && !is_archive(submissions.filename().string()))
    throw Refusal({"submissions_no_archive", {{"folder", submissions.string()}}});
  return Collector(submissions, scratch).collect();
}

}  // namespace odori::grader
