#include "batch/content.h"

#include <openssl/evp.h>

#include <array>

#include "batch/record.h"
#include "batch/refusal.h"
#include "exercise/blanks.h"
#include "exercise/task.h"

namespace odori::grader {

namespace fs = std::filesystem;

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
          "This machine's OpenSSL has no SHA-256.");
  std::string digits;
  for (unsigned int i = 0; i < size; ++i) digits += fmt::format("{:02x}", digest[i]);
  return digits;
}

std::string kit_version(const fs::path& kit, const fs::path& build) {
  std::string parts = std::to_string(record_form);
  const auto add = [&](const fs::path& path) {
    const std::string bytes = read_file(path);
    if (bytes.empty()) throw Refusal({"kit_incomplete", {{"file", path.string()}}}, 20);
    parts += sha256(bytes);
  };
  add("/proc/self/exe");
  add(kit / "grader" / "points.json");
  for (const Task& task : all_tasks()) {
    add(kit / "solutions" / task.program);
    add(kit / "solutions" / "jobscripts" / task.script);
    add(build / "bin" / "solutions" / task.program.stem());
  }
  return sha256(parts);
}

std::string content_of(const std::string& task, const HandedIn& handed_in, const std::string& kit_version) {
  // Each part has a fixed length, so that no two answers make the same text.
  const auto part = [](const std::optional<fs::path>& file) {
    return file ? sha256(read_file(*file)) : std::string(64, '-');
  };
  return sha256(kit_version + part(handed_in.program) + part(handed_in.script) + task);
}

std::uint64_t seed_of(const std::string& content, const std::string& salt) {
  return std::stoull(sha256(salt + content).substr(0, 8), nullptr, 16);
}

}  // namespace odori::grader
