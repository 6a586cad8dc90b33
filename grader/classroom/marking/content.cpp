// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/content.h"

#include <openssl/evp.h>

#include <array>

#include "backend/gpu_plugin.h"
#include "blanks/task.h"
#include "classroom/marking/record.h"
#include "classroom/refusal.h"
#include "errors/error.h"
#include "files/file.h"
#include "program/program.h"
#include "runner/site.h"

namespace odori::grader {

namespace fs = std::filesystem;

namespace {

std::string sha256_of_file(const fs::path& path) {
  if (!fs::exists(path)) throw Refusal({"kit_incomplete", {{"file", path.string()}}}, 20);
  return sha256(read_file(path));
}

}  // namespace

std::string kit_version(const fs::path& kit, const fs::path& build) {
  std::string parts = std::to_string(record_form);
  const fs::path library = library_file(), support = library.parent_path() / "libodori_support.so";
  for (const fs::path& path : {build / "bin" / "odori_grader", library, support}) parts += sha256_of_file(path);
  if (built_for_gpus()) parts += sha256_of_file(gpu_plugin_file());
  for (const Task& task : all_tasks()) {
    parts += std::to_string(devices_of(task, kit)) + ' ';  // by which its job script is judged
    parts += sha256_of_file(kit / "solutions" / task.folder / "exercise.json");
    for (const ExerciseFile& file : task.files()) parts += sha256_of_file(kit / file.solution);
    parts += sha256_of_file(build / "bin" / "solutions" / task.program.solution.stem());
  }
  return sha256(parts);
}

std::string content_of(const std::string& task, const HandedIn& handed_in, const std::string& kit_version) {
  // Each part has a fixed length, so that no two answers make the same text.
  const auto part = [](const std::optional<std::string>& text) { return text ? sha256(*text) : std::string(64, '-'); };
  return sha256(kit_version + part(handed_in.program) + part(handed_in.script) + task);
}

std::uint64_t seed_of(const std::string& content, const std::string& salt) {
  return std::stoull(sha256(salt + content).substr(0, 8), nullptr, 16);
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
          "This machine's OpenSSL has no SHA-256.");
  std::string digits;
  for (unsigned int i = 0; i < size; ++i) digits += fmt::format("{:02x}", digest[i]);
  return digits;
}

}  // namespace odori::grader
