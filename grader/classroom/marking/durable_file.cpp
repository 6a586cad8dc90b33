#include "classroom/marking/durable_file.h"

#include <cerrno>
#include <cstring>

#include "classroom/marking/refusal.h"
#include "files/file.h"

namespace odori::grader {

void refuse_to_write(const std::filesystem::path& path, int error) {
  constexpr int cannot_write = 20;
  throw Refusal({error == ENOSPC || error == EDQUOT ? "batch_disk_full" : "batch_cannot_write",
                 {{"file", path.string()}, {"reason", std::strerror(error)}}},
                cannot_write);
}

void write_durably(const std::filesystem::path& path, std::string_view text) try {
  replace_file(path, text);
} catch (const WriteError& error) {
  refuse_to_write(path, error.reason());
}

}  // namespace odori::grader
