// SPDX-License-Identifier: Apache-2.0
#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "errors/error.h"

namespace odori {
namespace {

/// A file descriptor, closed once.
struct FileDescriptor {
  explicit FileDescriptor(int number) : number(number) {}
  ~FileDescriptor() {
    if (number >= 0) close(number);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  const int number;
};

/// The mappings of this process, where a signal handler can find them. What has no room here is mapped all the same.
struct Entry {
  std::atomic<const std::uint8_t*> begin = nullptr;
  std::size_t size = 0;
  std::array<char, 512> path{};
};
std::array<Entry, 64> entries;

void write_text(const char* text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

/// A page of a mapping that the file no longer has. Only calls that a signal handler may make: no Error can be thrown
/// from here.
void on_bus_error(int signal, siginfo_t* info, void*) {
  const auto* address = static_cast<const std::uint8_t*>(info->si_addr);
  for (const Entry& entry : entries) {
    const std::uint8_t* begin = entry.begin.load();
    if (begin == nullptr || address < begin || address >= begin + entry.size) continue;
    write_text("\n");
    write_text(entry.path.data());
    write_text(" became shorter, or its disk failed, while it was being read. Make or fetch it again.\n");
    std::_Exit(exit_code::failure);
  }
  std::signal(signal, SIG_DFL);  // not ours: it comes again, and ends the program as it always does
}

void enter(const std::string& path, const std::uint8_t* begin, std::size_t size) {
  static const bool handled = [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    return sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  static std::atomic_flag taken = ATOMIC_FLAG_INIT;
  while (taken.test_and_set()) {
  }
  const auto free =
      std::find_if(entries.begin(), entries.end(), [](const Entry& entry) { return !entry.begin.load(); });
  if (handled && free != entries.end()) {
    free->size = size;
    path.copy(free->path.data(), free->path.size() - 1);
    free->path[std::min(path.size(), free->path.size() - 1)] = '\0';
    free->begin = begin;
  }
  taken.clear();
}

void leave(const std::uint8_t* begin) {
  for (Entry& entry : entries)
    if (entry.begin == begin) entry.begin = nullptr;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // A pipe with a name would be waited for without O_NONBLOCK.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) fail("{} can't be read: {}.", path, std::strerror(errno));
  struct stat status {};
  if (fstat(file.number, &status) != 0) fail("{} can't be read: {}.", path, std::strerror(errno));
  require(S_ISREG(status.st_mode), "{} is not a file.", path);
  require(status.st_size > 0, "{} is empty (0 bytes).", path);

  size_ = static_cast<std::size_t>(status.st_size);
  void* address = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (address == MAP_FAILED)
    fail("{} can't be mapped into memory: {}.{}", path, std::strerror(errno),
         errno == ENOMEM ? " Memory is full, or a limit on it (ulimit -v) is too low." : "");
  data_ = static_cast<const std::uint8_t*>(address);
  enter(path, data_, size_);
}

MappedFile::~MappedFile() {
  if (!data_) return;
  leave(data_);
  munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

}  // namespace odori
