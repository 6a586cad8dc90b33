// SPDX-License-Identifier: Apache-2.0
// Records an event stream of devices and ranks, in the Chrome trace format (chrome://tracing, Perfetto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace odori::trace {

/// While it lives, events are written to DIR/trace.RANK.json: a JSON array with one event per line. Each is written
/// with one system call, so a killed process leaves a readable stream (a missing end is legal in this format). At most
/// one per process. Events have pid = rank, tid = device, ts in microseconds since the Unix epoch, and dur in
/// microseconds.
class File {
 public:
  /// An empty directory name: no trace. Rank 0 removes files of ranks n_ranks and above, which an earlier run left.
  /// Throws Error if the file cannot be written.
  File(const std::string& directory, int rank, int n_ranks = 1);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

/// True if events are being written. An unused trace costs one load of a pointer.
bool on() noexcept;
/// True if events are being written, or a profiler is attached: then GPU operations are queued one by one, not as CUDA
/// graphs.
bool watched() noexcept;

/// Sets the device of this thread's later events.
void set_device(int device) noexcept;

/// Arguments of an event, as JSON: values, strings, lists and nested groups.
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

/// Writes an event without a duration.
void instant(const char* name, const Args& args = {});

/// An event that lasts as long as this object lives; also an NVTX range for NVIDIA's profilers. `name` must outlive it.
/// `bytes` is written unless it is 0.
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
