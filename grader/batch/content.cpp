#include "batch/content.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>

#include "batch/record.h"
#include "batch/refusal.h"
#include "exercise/blanks.h"
#include "exercise/task.h"

namespace odori::grader {

namespace fs = std::filesystem;

namespace {

/// Of bytes that come piece by piece.
class Hash {
 public:
  Hash() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    require(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1,
            "This machine's OpenSSL has no SHA-256.");
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string digits() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
    std::string digits;
    for (unsigned int i = 0; i < size; ++i) digits += fmt::format("{:02x}", digest[i]);
    return digits;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// Programs are large: never whole in memory.
std::string sha256_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Refusal({"kit_incomplete", {{"file", path.string()}}}, 20);
  Hash hash;
  std::array<char, 1 << 16> piece;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
    hash.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  return hash.digits();
}

}  // namespace

std::string sha256(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.digits();
}

std::string kit_version(const fs::path& kit, const fs::path& build) {
  std::string parts = std::to_string(record_form);
  for (const fs::path& path : {fs::path("/proc/self/exe"), kit / "grader" / "points.json"})
    parts += sha256_of_file(path);
  for (const Task& task : all_tasks())
    for (const fs::path& path : {kit / "solutions" / task.program, kit / "solutions" / "jobscripts" / task.script,
                                 build / "bin" / "solutions" / task.program.stem()})
      parts += sha256_of_file(path);
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
