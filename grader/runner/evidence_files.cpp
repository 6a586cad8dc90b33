// SPDX-License-Identifier: Apache-2.0
#include "runner/evidence_files.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "observe/evidence.h"

namespace odori::grader {
namespace {

// Many times what a right answer writes; only what is written takes space.
constexpr std::size_t bytes_of_file = 16 << 20;
constexpr std::size_t room = bytes_of_file - observe::evidence_head_bytes;

/// What the library says that it has written. More than `room`: it found no room for something.
std::uint64_t written_in(int file) {
  std::uint64_t written = 0;
  return pread(file, &written, sizeof written, 0) == sizeof written ? written : 0;
}

/// Reads on to a length of `n`, or as much as is there.
void read_on(int file, std::string& bytes, std::size_t n) {
  std::size_t at = bytes.size();
  if (n <= at) return;
  bytes.resize(n);
  for (ssize_t read = 1; at < n && read > 0; at += static_cast<std::size_t>(std::max<ssize_t>(read, 0)))
    read = pread(file, bytes.data() + at, n - at, static_cast<off_t>(observe::evidence_head_bytes + at));
  bytes.resize(at);
}

}  // namespace

EvidenceFiles::EvidenceFiles(const std::filesystem::path& folder, int n_ranks, bool parameters) {
  const std::uint64_t head[2] = {0, parameters ? 0u : 1u};
  std::random_device random;
  name_ = (folder / fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random())).string();
  for (int rank = 0; rank < n_ranks; ++rank) {
    const std::filesystem::path& path = paths_.emplace_back(fmt::format("{}.{}", name_, rank));
    const int file = files_.emplace_back(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file < 0 || fchmod(file, 0666) != 0 || ftruncate(file, bytes_of_file) != 0 ||
        pwrite(file, head, sizeof head, 0) != sizeof head)
      throw EnvironmentFault({"disk_full", {{"file", path.string()}}});
  }
  seen_.resize(files_.size());
}

EvidenceFiles::~EvidenceFiles() {
  for (const int file : files_) close(file);
}

std::uint64_t EvidenceFiles::look() {
  std::uint64_t all = 0;
  for (std::size_t rank = 0; rank < files_.size(); ++rank) {
    const std::uint64_t written = written_in(files_[rank]);
    read_on(files_[rank], seen_[rank], std::min<std::uint64_t>(written, room));
    all += written;
  }
  return all;
}

std::vector<RankSeen> EvidenceFiles::read(const EvidenceLimits& limits, bool marked) const {
  std::vector<RankSeen> ranks;
  for (std::size_t rank = 0; rank < files_.size(); ++rank) {
    const std::uint64_t written = written_in(files_[rank]);
    std::string bytes;
    read_on(files_[rank], bytes, std::min<std::uint64_t>(written, room));
    ranks.push_back(read_rank(bytes, limits, marked));
    if (written > room) ranks.back().forged = Finding{"evidence_too_much"};
    if (!bytes.starts_with(seen_[rank])) ranks.back().forged = Finding{"evidence_changed"};
  }
  return ranks;
}

FileWatch::FileWatch(const std::filesystem::path& folder, bool closely)
    : watch_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  inotify_add_watch(watch_, folder.c_str(), closely ? IN_OPEN | IN_MODIFY | IN_CLOSE : IN_OPEN);
}

FileWatch::~FileWatch() {
  if (watch_ >= 0) close(watch_);
}

int FileWatch::most_openings() {
  std::map<std::string, int> openings;
  alignas(inotify_event) std::array<char, 1 << 16> events;
  for (ssize_t size; (size = read(watch_, events.data(), events.size())) > 0;) {
    for (const char* at = events.data(); at < events.data() + size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      if (event->len > 0 && (event->mask & (IN_OPEN | IN_MODIFY)) && !(event->mask & IN_ISDIR)) ++openings[event->name];
      at += sizeof *event + event->len;
    }
  }
  int most = 0;
  for (const auto& [name, n] : openings) most = std::max(most, n);
  return most;
}

}  // namespace odori::grader
