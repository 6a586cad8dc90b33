#include "classroom/self_test/handed_in.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "blanks/blanks.h"
#include "blanks/cutter.h"
#include "errors/error.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string path, text;  // text: also what a link points to
  bool is_link = false;
};

/// Into the student's folder, or into an archive there.
class Place {
 public:
  virtual ~Place() = default;
  virtual void add(const File& file) = 0;
};

class Folder : public Place {
 public:
  explicit Folder(fs::path folder) : folder_(std::move(folder)) {}
  void add(const File& file) override {
    const fs::path path = folder_ / file.path;
    fs::create_directories(path.parent_path());
    if (file.is_link)
      fs::create_symlink(file.text, path);
    else
      std::ofstream(path, std::ios::binary) << file.text;
  }

 private:
  fs::path folder_;
};

class Archive : public Place {
 public:
  Archive(const fs::path& path, bool is_zip) : archive_(archive_write_new(), archive_write_free) {
    (is_zip ? archive_write_set_format_zip : archive_write_set_format_pax)(archive_.get());
    fs::create_directories(path.parent_path());
    require(archive_write_open_filename(archive_.get(), path.c_str()) == ARCHIVE_OK, "{} can't be written.",
            path.string());
  }
  void add(const File& file) override {
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(entry.get(), file.path.c_str());
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_filetype(entry.get(), file.is_link ? AE_IFLNK : AE_IFREG);
    if (file.is_link) archive_entry_set_symlink(entry.get(), file.text.c_str());
    archive_entry_set_size(entry.get(), file.is_link ? 0 : static_cast<la_int64_t>(file.text.size()));
    require(archive_write_header(archive_.get(), entry.get()) == ARCHIVE_OK, "{}: {}", file.path,
            archive_error_string(archive_.get()));
    if (!file.is_link) archive_write_data(archive_.get(), file.text.data(), file.text.size());
  }

 private:
  std::unique_ptr<archive, decltype(&archive_write_free)> archive_;
};

std::string in_front_of_main(std::string program, const std::vector<std::string>& outside) {
  const auto main = program.find("int main(");
  return outside.empty() ? program : program.insert(main, join_lines(outside) + '\n');
}

}  // namespace

std::string filled_exercise(const fs::path& solution, const std::map<int, std::vector<std::string>>& blanks) {
  std::vector<std::string> lines = split_lines(cut(read_file(solution), solution.string()));
  const std::vector<Blank> places = parse_blanks(lines, solution.string());
  for (auto blank = places.rbegin(); blank != places.rend(); ++blank)
    if (const auto text = blanks.find(blank->number); text != blanks.end())
      lines = with_text(std::move(lines), *blank, text->second);
  return join_lines(lines);
}

std::string program_of(const fs::path& kit, const Attack& attack) {
  const fs::path solution = kit / task_named(attack.task).program.solution;
  return in_front_of_main(filled_exercise(solution, attack.blanks), attack.outside);
}

std::string script_of(const fs::path& kit, const Attack& attack) {
  return filled_exercise(kit / task_named(attack.task).script->solution, attack.blanks);
}

void write_handed_in(const fs::path& kit, const Attack& attack, const fs::path& folder) {
  fs::create_directories(folder);
  const Task& task = task_named(attack.task);
  std::unique_ptr<Place> place = std::make_unique<Folder>(folder);
  std::vector<std::string> list = attack.handed_in;
  if (list.empty()) {
    list = {"program " + task.program.exercise.filename().string()};
    if (task.script) list.push_back("script " + task.script->exercise.filename().string());
  }
  for (const std::string& each : list) {
    std::istringstream line(each);
    std::string what, path, rest;
    line >> what >> path;
    std::getline(line >> std::ws, rest);
    if (what == "zip" || what == "tar") {
      place.reset();  // the one before is complete
      place = std::make_unique<Archive>(folder / path, what == "zip");
    } else if (what == "program") {
      place->add({.path = path, .text = program_of(kit, attack)});
    } else if (what == "script") {
      place->add({.path = path, .text = script_of(kit, attack)});
    } else if (what == "text") {
      place->add({.path = path, .text = rest + '\n'});
    } else {
      require(what == "link", "{}: nothing is called \"{}\".", attack.title(), what);
      place->add({.path = path, .text = kit / rest, .is_link = true});
    }
  }
}

}  // namespace odori::grader
