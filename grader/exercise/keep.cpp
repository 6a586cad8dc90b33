#include "exercise/keep.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "core/error.h"

namespace odori::grader {

namespace fs = std::filesystem;

void replace_file(const fs::path& path, std::string_view text) {
  const fs::path fresh = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  std::ofstream file(fresh, std::ios::binary);
  file << text;
  file.close();
  const auto old = fs::status(path, error);
  if (file && fs::exists(old)) fs::permissions(fresh, old.permissions(), error);
  if (file) fs::rename(fresh, path, error);
  if (!file || error) {
    std::error_code no_matter;
    fs::remove(fresh, no_matter);
    fail("{} can't be written. You need a folder that you may write to, and space on its disk.", path.string());
  }
}

fs::path keep_copy(const fs::path& path, const fs::path& kit) {
  const std::time_t now = std::time(nullptr);
  const std::string date = fmt::format("{:%Y%m%d_%H%M%S}", *std::localtime(&now));
  const auto name = [&](const std::string& more) {
    return kit / "out" / "kept" / fmt::format("{}.{}{}{}", path.stem().string(), date, more, path.extension().string());
  };
  fs::path copy = name("");
  for (int i = 2; fs::exists(copy); ++i) copy = name(fmt::format("_{}", i));  // twice in a second
  std::error_code error;
  fs::create_directories(copy.parent_path(), error);
  fs::copy_file(path, copy, error);
  require(!error, "{} can't be copied to {}: {}. Nothing was changed.", path.string(), copy.string(), error.message());
  return copy;
}

}  // namespace odori::grader
