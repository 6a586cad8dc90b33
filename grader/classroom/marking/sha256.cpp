// SPDX-License-Identifier: Apache-2.0
#include "classroom/marking/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "errors/error.h"

namespace odori::grader {

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
