#include "runner/file_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace odori::grader {

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
