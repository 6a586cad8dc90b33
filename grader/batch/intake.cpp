#include "batch/intake.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "batch/candidates.h"
#include "batch/content.h"
#include "batch/durable_file.h"
#include "batch/entries.h"
#include "batch/refusal.h"
#include "batch/student_name.h"
#include "exercise/blanks.h"
#include "exercise/task.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;
using Parts = std::vector<std::string>;

constexpr std::uintmax_t most_archive_bytes = std::uintmax_t{512} << 20;  // of one within another
constexpr int most_archives = 20;                                         // of a student
constexpr int most_entries = 300'000;                                     // likewise

/// What lies beside the students' folders and is none.
bool is_nobody(const std::string& name) { return name == "__MACOSX" || name.starts_with('.'); }

/// One student, while the submissions are visited.
struct Found {
  std::map<std::string, Candidates> files;  // by the wanted file's name
  std::vector<Finding> flags;               // on all tasks
  int n_entries = 0, n_archives = 0;
};

class Collector {
 public:
  Collector(const fs::path& submissions, const fs::path& scratch) : submissions_(submissions), scratch_(scratch) {}

  void collect() {
    if (fs::is_directory(submissions_)) {
      visit_folder(submissions_, {}, [this](const Entry& entry) { return see(entry); });
      return;
    }
    skipped_ = depth_of_students();
    const auto problems = visit_archive(submissions_, {}, [this](const Entry& entry) { return see(entry); });
    problems_.insert(problems_.end(), problems.begin(), problems.end());
  }

  const std::map<std::string, Found>& found() const { return found_; }
  std::vector<Finding>& problems() { return problems_; }

 private:
  /// 1 if an archive has all students in one folder, else 0. Then that folder has several with answers in them, and
  /// isn't itself a copy of the kit.
  std::size_t depth_of_students() const {
    std::set<std::string> first, second;
    visit_archive(submissions_, {}, [&](const Entry& entry) {
      const Parts& parts = entry.parts;
      if (!is_nobody(parts[0]) && (parts.size() > 1 || entry.kind != Entry::Kind::folder)) first.insert(parts[0]);
      const bool answers = parts.size() > 2 && wanted_named(parts.back());
      const bool students_archive = parts.size() == 2 && entry.kind == Entry::Kind::file && is_archive(parts[1]);
      if (answers || students_archive) second.insert(parts[1]);
      return first.size() < 2;
    });
    for (const char* folder : {"exercises", "jobscripts", "solutions", "01_multi_gpu", "02_multi_node"})
      second.erase(folder);
    return first.size() == 1 && second.size() > 1 ? 1 : 0;
  }

  bool see(const Entry& entry) {
    if (entry.parts.empty()) throw Refusal({"submissions_unreadable", {{"folder", submissions_.string()}}}, 20);
    if (entry.parts.size() <= skipped_ || is_nobody(entry.parts[skipped_])) return true;
    const Parts parts(entry.parts.begin() + static_cast<std::ptrdiff_t>(skipped_), entry.parts.end());
    if (parts.size() > 1 || entry.kind == Entry::Kind::folder) {
      see_of_student(found_[parts[0]], Parts(parts.begin() + 1, parts.end()), entry, false);
      return true;
    }
    // A student's archive. Beside a folder of the same name it is another student's, or so it seems.
    if (entry.kind == Entry::Kind::file && is_archive(parts[0])) {
      const std::string name = without_archive_suffix(parts[0]);
      see_archive(found_[found_.contains(name) ? parts[0] : name], entry);
    } else {
      problems_.push_back({"nobodys_file", {{"file", parts[0]}}});
    }
    return true;
  }

  void see_of_student(Found& student, const Parts& parts, const Entry& entry, bool within_archive) {
    if (++student.n_entries > most_entries) {
      if (student.n_entries == most_entries + 1)
        student.flags.push_back({"flag_too_many_entries", {{"n", std::to_string(most_entries)}}});
      return;
    }
    if (entry.kind == Entry::Kind::unreadable) student.flags.push_back({"flag_unreadable", {{"file", entry.path()}}});
    if (parts.empty() || entry.kind == Entry::Kind::folder || entry.kind == Entry::Kind::unreadable) return;
    if (const Wanted* wanted = wanted_named(parts.back()))
      student.files[wanted->name].consider(*wanted, parts, entry);
    else if (!within_archive && entry.kind == Entry::Kind::file && is_archive(parts.back()))
      see_archive(student, entry);
  }

  /// An archive within what was handed in: it is copied out, as it can't be read in place.
  void see_archive(Found& student, const Entry& entry) {
    if (++student.n_archives > most_archives) return;
    // Under its own name, for the sentences about it.
    const fs::path copy = scratch_ / "archive" / fs::path(entry.parts.back()).filename();
    std::error_code error;
    fs::create_directories(copy.parent_path(), error);
    std::ofstream file(copy, std::ios::binary | std::ios::trunc);
    std::uintmax_t bytes = 0;
    const bool well = entry.read([&](std::string_view piece) {
      file << piece;
      return (bytes += piece.size()) <= most_archive_bytes && file;
    });
    if (!file.flush()) throw Refusal({"batch_disk_full", {{"file", copy.string()}}}, 20);
    if (!well || bytes > most_archive_bytes) {
      student.flags.push_back({well ? "archive_too_large" : "flag_unreadable", {{"file", entry.parts.back()}}});
    } else {
      for (const Finding& problem : visit_archive(copy, {}, [&](const Entry& inner) {
             see_of_student(student, inner.parts, inner, true);
             return student.n_entries <= most_entries;
           }))
        student.flags.push_back(problem);
    }
    fs::remove_all(copy.parent_path(), error);
  }

  fs::path submissions_, scratch_;
  std::size_t skipped_ = 0;  // folders round those of the students
  std::map<std::string, Found> found_;
  std::vector<Finding> problems_;
};

/// What is there already isn't written again: a class is resumed without touching it.
std::optional<fs::path> keep(const std::optional<std::string>& text, const fs::path& path) {
  std::error_code error;
  if (!text) {
    fs::remove(path, error);
    return {};
  }
  if (!fs::exists(path, error) || read_file(path) != *text) write_durably(path, *text);
  return path;
}

Student student_of(const std::string& name, const Found& found, const fs::path& submitted) {
  Student student{.name = name, .tasks = {}};
  for (const Task& task : all_tasks()) {
    HandedIn& answer = student.tasks[task.name];
    answer.flags = found.flags;
    const auto take = [&](const fs::path& path) -> std::optional<fs::path> {
      const fs::path copy = submitted / student.name / path.filename();
      const auto candidates = found.files.find(path.filename());
      if (candidates == found.files.end()) return keep({}, copy);
      const auto flags = candidates->second.flags();
      answer.flags.insert(answer.flags.end(), flags.begin(), flags.end());
      return keep(candidates->second.text(), copy);
    };
    answer.program = take(task.program);
    answer.script = take(task.script);
  }
  return student;
}

}  // namespace

Intake take_in(const fs::path& submissions, const fs::path& submitted, const fs::path& scratch) {
  std::error_code error;
  const auto status = fs::status(submissions, error);
  if (!fs::exists(status)) throw Refusal({"submissions_missing", {{"folder", submissions.string()}}});
  if (!fs::is_directory(status) && !is_archive(submissions.filename().string()))
    throw Refusal({"submissions_no_archive", {{"folder", submissions.string()}}});
  Collector collector(submissions, scratch);
  collector.collect();
  Intake intake{.problems = collector.problems()};
  std::set<std::string> names;
  for (const auto& [handed_in, found] : collector.found()) {
    std::string name = student_name(handed_in);
    if (!names.insert(name).second) name += '~' + sha256(handed_in).substr(0, 6);  // the same, in another encoding
    intake.students.push_back(student_of(name, found, submitted));
  }
  if (intake.students.empty())
    throw Refusal(intake.problems.empty() ? Finding{"submissions_empty", {{"folder", submissions.string()}}}
                                          : intake.problems.front());
  std::sort(intake.students.begin(), intake.students.end(),
            [](const Student& a, const Student& b) { return a.name < b.name; });
  return intake;
}

}  // namespace odori::grader
