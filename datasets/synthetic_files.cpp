// SPDX-License-Identifier: Apache-2.0
// Where the synthetic images go: a folder that is complete or not there.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "errors/error.h"
#include "files/file.h"
#include "program/program.h"
#include "synthetic.h"

namespace odori::synthetic {
namespace {

namespace fs = std::filesystem;

/// One of the files of images: images [begin, end) of a split.
struct File {
  std::string name;
  Split split;
  std::uint32_t begin, end;
  std::uintmax_t bytes() const { return static_cast<std::uintmax_t>(end - begin) * sizeof(Record); }
};

std::vector<File> files_of(const Options& options) {
  std::vector<File> files;
  constexpr std::uint64_t parts = 5;
  const auto boundary = [&](std::uint64_t part) { return static_cast<std::uint32_t>(options.train * part / parts); };
  for (std::uint64_t i = 0; i < parts; ++i)
    files.push_back({fmt::format("data_batch_{}.bin", i + 1), Split::train, boundary(i), boundary(i + 1)});
  files.push_back({"test_batch.bin", Split::test, 0, options.test});
  return files;
}

constexpr const char* class_list = "batches.meta.txt";
constexpr const char* origin = "made_by.txt";

/// What `made_by.txt` says. The generator's version is part of it: a set of an older one is not taken for a new one.
std::string origin_of(const Options& options) {
  return fmt::format("odori_make_synthetic 1 --train {} --test {} --seed {}\n", options.train, options.test,
                     options.seed);
}

/// A file that is being written; each failure (disk full, say) is an Error that names it.
class Output {
 public:
  explicit Output(fs::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
    check(file_ != nullptr);
  }
  void write(const void* bytes, std::size_t n) { check(std::fwrite(bytes, 1, n, file_.get()) == n); }
  void close() { check(std::fclose(file_.release()) == 0); }

 private:
  void check(bool ok) const {
    require(ok, "{} can't be written: {}. Nothing was kept of the set.", path_.string(), std::strerror(errno));
  }
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  fs::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

void write_text(const fs::path& path, const std::string& text) {
  Output file(path);
  file.write(text.data(), text.size());
  file.close();
}

void write_images(const fs::path& path, const File& part, std::uint64_t seed) {
  Output file(path);
  for (std::uint32_t i = part.begin; i < part.end; ++i) {
    if (interrupted()) throw Error("Interrupted. Nothing was kept of the set.", exit_code::interrupted);
    const Record record = draw(seed, part.split, i);
    file.write(record.data(), record.size());
  }
  file.close();
}

/// A new folder beside `target`, on the same file system, so that it can be renamed to it.
TemporaryFolder folder_beside(const fs::path& target) try {
  return TemporaryFolder(target.parent_path() / fmt::format(".{}.", target.filename().string()));
} catch (const WriteError& error) {
  fail("{} Choose another place with --out.", error.what());
}

void rename_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  require(!error, "The set can't be put to {}: {}.", to.string(), error.message());
}

}  // namespace

void write_files(const fs::path& folder, const Options& options) {
  for (const File& file : files_of(options)) write_images(folder / file.name, file, options.seed);
  std::string names;
  for (const char* name : class_names) names.append(name).append("\n");
  write_text(folder / class_list, names + "\n");
  write_text(folder / origin, origin_of(options));
}

Contents look_at(const fs::path& folder) {
  if (!fs::exists(fs::symlink_status(folder))) return {Contents::What::nothing, {}};
  Contents found{Contents::What::something_else, {}};
  const std::string text = read_file(folder / origin);
  Options& o = found.options;
  if (std::sscanf(text.c_str(), "odori_make_synthetic 1 --train %u --test %u --seed %lu", &o.train, &o.test, &o.seed) !=
      3)
    return found;
  for (const File& part : files_of(o)) {
    std::error_code error;
    if (fs::file_size(folder / part.name, error) != part.bytes()) return found;
  }
  if (text == origin_of(o)) found.what = Contents::What::complete_set;
  return found;
}

void write_set(const fs::path& target, const Options& options) {
  const TemporaryFolder temporary = folder_beside(target);
  const fs::path fresh = temporary.path() / "new", old = temporary.path() / "old";
  fs::permissions(temporary.path(), fs::perms(0755));  // else it is its owner's alone
  fs::create_directory(fresh);
  write_files(fresh, options);
  const bool replaces = fs::exists(target);
  if (replaces) rename_folder(target, old);
  try {
    rename_folder(fresh, target);
  } catch (const Error&) {
    if (replaces) rename_folder(old, target);
    throw;
  }
}

}  // namespace odori::synthetic
