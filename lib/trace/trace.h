// SPDX-License-Identifier: Apache-2.0
// One event stream: what every device and rank did, as a Chrome trace (chrome://tracing, Perfetto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace odori::trace {

/// Writes DIR/trace.RANK.json while it lives: a JSON array, one event per line, each written with one system
/// call, so that a killed process leaves a readable stream (a missing end is legal in this format). One a
/// process. Events have pid = rank, tid = device, ts and dur in microseconds since the Unix epoch.
class File {
 public:
  /// An empty directory name means: no trace. Rank 0 takes away what an earlier run of more than `n_ranks` left there,
  /// and touches no file that another rank of this run writes. Throws Error if the file can't be written.
  File(const std::string& directory, int rank, int n_ranks = 1);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

/// Is a stream being written? One load of a pointer: this is all that an unused trace costs.
bool on() noexcept;
/// Does somebody want to see each operation by itself: a stream, or a profiler?
bool watched() noexcept;

/// From here on, this thread's events belong to this device.
void set_device(int device) noexcept;

/// Arguments of an event: values, short strings, and lists and groups of them, in one line.
class Args {
 public:
  Args& add(const char* key, std::int64_t value);
  Args& add(const char* key, int value) { return add(key, std::int64_t{value}); }
  Args& add(const char* key, double value);
  Args& add(const char* key, const std::string& value);
  Args& add(const char* key, std::span<const std::int64_t> values);
  Args& add(const char* key, const Args& group);
  Args& add(const char* key, const std::vector<Args>& groups);
  const std::string& json() const { return json_; }

 private:
  Args& add_json(const char* key, const std::string& json);
  std::string json_;
};

/// Something that happened at one moment.
void instant(const char* name, const Args& args = {});

/// Something that takes as long as this object lives; NVIDIA's profilers see it as well. `name` must outlive it.
/// `bytes` is written where it isn't 0.
class Span {
 public:
  explicit Span(const char* name, std::size_t bytes = 0) noexcept;
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  const char* name_;
  std::size_t bytes_;
  std::int64_t begin_us_ = 0;
};

}  // namespace odori::trace
