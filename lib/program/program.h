// SPDX-License-Identifier: Apache-2.0
// What a program's main needs around its work: one place where failures end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace odori {

/// To be called in main's `catch (...)`. Says once what went wrong (the cause, not a stack of codes), ends
/// all ranks of an MPI job, and returns the exit code: 2 usage, 10 unfilled blank, 130 Ctrl-C, 1 everything
/// else.
int report_failure() noexcept;

/// How the sentence begins where neither the library nor the system has refused something, but an exception was thrown
/// that nobody caught; and that of a std::out_of_range. The exception's own words follow.
inline constexpr std::string_view unexpected_begins = "Unexpected: ";
inline constexpr std::string_view out_of_range_begins = "Unexpected: an index or a name is out of range: ";

/// What the exception that is being handled says, as a sentence: the library's own or the system's words as they are,
/// but the file and the reason where the C++ library would name its function.
std::string sentence_of_current_exception();

/// How an MPI job ends when one rank fails; the MPI session sets it, and this folder does not depend on MPI.
/// `end_job(code)` must not return unless `code` is 0.
struct JobEnd {
  int rank = 0;
  int size = 1;
  void (*end_job)(int code) = nullptr;
};
void set_job_end(const JobEnd& job_end) noexcept;

/// Also called with the message of report_failure(), before it is printed; one at most.
void set_failure_listener(void (*listener)(const std::string& sentence, int code)) noexcept;

/// Ctrl-C (SIGINT), SIGTERM and a terminal that is gone (SIGHUP) set a flag that the trainer reads between two
/// iterations.
void catch_interrupts();
bool interrupted() noexcept;

/// The file that this program got the library from: libodori.so. What belongs to it is in the same folder.
std::filesystem::path library_file();

}  // namespace odori
