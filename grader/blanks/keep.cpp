#include "blanks/keep.h"

#include <fmt/chrono.h>

#include <ctime>

#include "errors/error.h"

namespace odori::grader {

namespace fs = std::filesystem;

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
