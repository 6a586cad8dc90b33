#include "instructor/handed_in.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "errors/error.h"
#include "exercise/blanks.h"
#include "exercise/cutter.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

struct File {
  enum class Kind { text, link, hard, fifo, device } kind = Kind::text;
  std::string path, text;  // text: also what a link points to
  std::size_t zeros = 0;   // behind the text
};

constexpr std::size_t block = 1 << 16;

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
    const auto done = [&](bool worked) { require(worked, "{} can't be made.", path.string()); };
    switch (file.kind) {
      case File::Kind::link:
        return done(symlink(file.text.c_str(), path.c_str()) == 0);
      case File::Kind::hard:
        return done(link((folder_ / file.text).c_str(), path.c_str()) == 0);
      case File::Kind::fifo:
        return done(mkfifo(path.c_str(), 0666) == 0);
      case File::Kind::device:
        fail("{}: only root may make a device file in a folder; a tar can hold one.", file.path);
      case File::Kind::text:
        std::ofstream(path, std::ios::binary) << file.text;
        fs::resize_file(path, file.text.size() + file.zeros);
    }
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
    archive_entry_set_filetype(entry.get(), file.kind == File::Kind::fifo     ? AE_IFIFO
                                            : file.kind == File::Kind::device ? AE_IFCHR
                                            : file.kind == File::Kind::link   ? AE_IFLNK
                                                                              : AE_IFREG);
    if (file.kind == File::Kind::device) archive_entry_set_rdev(entry.get(), makedev(1, 5));  // /dev/zero
    if (file.kind == File::Kind::link) archive_entry_set_symlink(entry.get(), file.text.c_str());
    if (file.kind == File::Kind::hard) archive_entry_set_hardlink(entry.get(), file.text.c_str());
    const bool is_text = file.kind == File::Kind::text;
    archive_entry_set_size(entry.get(), is_text ? static_cast<la_int64_t>(file.text.size() + file.zeros) : 0);
    require(archive_write_header(archive_.get(), entry.get()) == ARCHIVE_OK, "{}: {}", file.path,
            archive_error_string(archive_.get()));
    if (!is_text) return;
    archive_write_data(archive_.get(), file.text.data(), file.text.size());
    const std::vector<char> zeros(block);
    for (std::size_t left = file.zeros; left > 0; left -= std::min(left, block))
      archive_write_data(archive_.get(), zeros.data(), std::min(left, block));
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
  if (!attack.instead.empty()) return join_lines(attack.instead);
  const fs::path solution = kit / task_named(attack.task).program.solution;
  return in_front_of_main(filled_exercise(solution, attack.blanks), attack.outside);
}

std::string script_of(const fs::path& kit, const Attack& attack) {
  return filled_exercise(kit / task_named(attack.task).script->solution, attack.blanks);
}

void write_handed_in(const fs::path& kit, const Attack& attack, const fs::path& folder,
                     const std::function<std::string(std::string)>& fill) {
  fs::create_directories(folder);
  const Task& task = task_named(attack.task);
  std::unique_ptr<Place> place = std::make_unique<Folder>(folder);
  std::vector<std::string> list = attack.handed_in;
  if (list.empty()) {
    list = {"program " + task.program.exercise.filename().string()};
    if (task.script) list.push_back("script " + task.script->exercise.filename().string());
  }
  for (const std::string& unfilled : list) {
    std::istringstream line(fill(unfilled));
    std::string what, path, rest;
    line >> what >> path;
    std::getline(line >> std::ws, rest);
    if (what == "zip" || what == "tar") {
      place.reset();  // the one before is complete
      place = std::make_unique<Archive>(folder / path, what == "zip");
    } else if (what == "program") {
      place->add({.path = path, .text = fill(program_of(kit, attack))});
    } else if (what == "script") {
      place->add({.path = path, .text = fill(script_of(kit, attack))});
    } else if (what == "text") {
      place->add({.path = path, .text = rest + '\n'});
    } else if (what == "zeros") {
      place->add({.path = path, .zeros = std::stoul(rest)});
    } else if (what == "files") {
      for (int i = 1; i <= std::stoi(rest); ++i) place->add({.path = fmt::format("{}/{}", path, i)});
    } else if (what == "link" || what == "hard") {
      place->add({.kind = what == "link" ? File::Kind::link : File::Kind::hard, .path = path, .text = rest});
    } else {
      require(what == "fifo" || what == "device", "{}: nothing is called \"{}\".", attack.title(), what);
      place->add({.kind = what == "fifo" ? File::Kind::fifo : File::Kind::device, .path = path});
    }
  }
}

}  // namespace odori::grader
