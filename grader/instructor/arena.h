// Where attacks are let loose: what they may reach if they get through, and whether they did.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "instructor/attack.h"

namespace odori::grader {

/// What the grader made of an attack.
struct Seen {
  std::vector<BlankVerdict> verdicts;
  std::string said;         // on the screen and in files, as it stands there
  std::string page, table;  // reports
  double seconds = 0;
  double megabytes = 0;  // of the grader's own memory, at most
};

/// A folder with secrets and places for what attacks leave behind, a listener on this machine, bystanders, and a watch
/// on the processes of this machine. All ends with the object, what attacks left running included.
class Arena {
 public:
  /// `folder`: a new one, for the arena alone. Throws Error if this machine can't listen or write.
  Arena(std::filesystem::path folder, std::filesystem::path kit, std::filesystem::path build);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  /// Makes ready what an attack may reach: its folder, its bystander. To be called before it runs.
  void prepare(const Attack& attack);
  /// The text with "@NAME@" filled in.
  std::string filled(const Attack& attack, std::string text) const;
  /// Makes all traces of it go: for the next time.
  void forget(const Attack& attack);

  /// Did it get through?
  bool succeeded(const Attack& attack, const Seen& seen);

  /// Attacks look for it in the environment, as $ODORI_INSTRUCTORS_SECRET.
  const std::string& token() const { return token_; }

 private:
  void listen_on_loopback();
  void watch_processes();

  std::filesystem::path folder_, kit_, build_;
  std::string token_;
  int listener_ = -1, port_ = 0;
  std::map<std::string, int> bystanders_;  // by the attack's id
  std::mutex mutex_;
  std::set<std::string> connected_;  // what was said to the listener
  std::map<std::string, int> most_;  // processes by their names, at most
  std::set<std::string> names_;      // to look for
  std::atomic<bool> ends_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace odori::grader
