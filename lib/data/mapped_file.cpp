#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace odori {
namespace {

/// A file descriptor, closed once.
struct Descriptor {
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  require(file.number >= 0, "{} can't be read: {}.", path, std::strerror(errno));
  struct stat status {};
  require(fstat(file.number, &status) == 0, "{} can't be read: {}.", path, std::strerror(errno));
  require(S_ISREG(status.st_mode), "{} is not a file.", path);
  require(status.st_size > 0, "{} is empty (0 bytes).", path);

  size_ = static_cast<std::size_t>(status.st_size);
  void* address = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  require(address != MAP_FAILED, "{} can't be mapped into memory: {}.", path, std::strerror(errno));
  data_ = static_cast<const std::uint8_t*>(address);
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

}  // namespace odori
