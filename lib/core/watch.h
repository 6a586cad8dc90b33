// A watch over work that may never end because another device, process or machine doesn't take part in it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace odori {

/// Ends the program, and all ranks of an MPI job, through report_failure(), if something is under way and nothing has
/// ended for longer than the limit, or if `failure` has something to tell. A thread of its own does it: all others may
/// be stuck.
class Watch {
 public:
  struct Words {
    std::string work;    // begins the sentence: "NCCL's exchange between the ranks"
    std::string advice;  // ends it: sentences on what may help
  };
  /// `failure` is asked several times a second, and returns a sentence, or nothing while all is well.
  Watch(Words words, std::chrono::seconds limit, std::function<std::string()> failure);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// A piece of work begins: a call that waits for others, or something queued on a device.
  void begin();
  /// The piece that began first has ended. From any thread.
  void end();

  /// A piece of work that ends with this object.
  class During {
   public:
    explicit During(Watch& watch) : watch_(watch) { watch_.begin(); }
    ~During() { watch_.end(); }
    During(const During&) = delete;
    During& operator=(const During&) = delete;

   private:
    Watch& watch_;
  };

 private:
  void watch(const std::stop_token& stop);
  std::string standstill();

  Words words_;
  std::chrono::seconds limit_;
  std::function<std::string()> failure_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::size_t under_way_ = 0;
  std::chrono::steady_clock::time_point progress_;  // when something ended, or began after a rest
  std::jthread thread_;                             // last: it ends before what it uses
};

/// How long a Watch waits: ODORI_TIMEOUT in seconds, or 60. Throws Error if that is no whole number above 0.
std::chrono::seconds watch_limit();

}  // namespace odori
