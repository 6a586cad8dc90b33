// SPDX-License-Identifier: Apache-2.0
// Reporting of failures, and signals, for every program's main().
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace odori {

/// Call it in the `catch (...)` of main(). Prints the current exception once, ends all ranks of an MPI job, and returns
/// the exit code: that of an Error (errors/error.h), otherwise 1.
int report_failure() noexcept;

/// Begin the sentence about an exception that is neither the library's nor the system's; the second: about a
/// std::out_of_range. The exception's what() follows.
inline constexpr std::string_view unexpected_begins = "Unexpected: ";
inline constexpr std::string_view out_of_range_begins = "Unexpected: an index or a name is out of range: ";

/// Returns a sentence about the exception being handled: what() of an Error; of a filesystem error, the file and the
/// reason.
std::string sentence_of_current_exception();

/// How an MPI job ends if one rank fails. MpiSession sets it, so that this folder does not depend on MPI.
/// `end_job(code)` must not return unless `code` is 0.
struct JobEnd {
  int rank = 0;
  int size = 1;
  void (*end_job)(int code) = nullptr;
};
void set_job_end(const JobEnd& job_end) noexcept;

/// Sets a function that report_failure() calls before it prints. At most one.
void set_failure_listener(void (*listener)(const std::string& sentence, int code)) noexcept;

/// After this call the first SIGINT (Ctrl-C), SIGTERM or SIGHUP only sets the flag that interrupted() returns, which
/// the trainer reads between two iterations; a second one exits at once with 130. Does not change an ignored
/// SIGHUP (nohup).
void catch_interrupts();
bool interrupted() noexcept;

/// Path of the loaded libodori.so. Its other files are in the same folder.
std::filesystem::path library_file();

}  // namespace odori
