// SPDX-License-Identifier: Apache-2.0
#include "program/program.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>

#include "errors/error.h"
#include "program/rank_table.h"

namespace odori {
namespace {

JobEnd job;  // set once, by the MPI session
void (*failure_listener)(const std::string&, int) = nullptr;

volatile std::sig_atomic_t signal_seen = 0, speaks_japanese = 0;

void on_signal(int signal) {
  if (signal_seen) std::_Exit(exit_code::interrupted);  // the second Ctrl-C doesn't wait for the iteration's end
  signal_seen = signal;
}

/// What was printed has to arrive: the last check of each program.
void check_output(int code, void*) {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed) return;
  const std::string reason = errno == 0 ? "" : fmt::format(" ({})", std::strerror(errno));
  fmt::print(
      stderr, "\n{}\n",
      in_language(
          {"Not all output could be written{}. Is the disk full, or standard output closed?",
           "出力の一部を書き込めませんでした{}。ディスクが満杯になったか、標準出力が閉じられた可能性があります。"},
          reason));
  if (code == exit_code::ok) std::_Exit(exit_code::failure);
}

/// The signal of a limit on processor time, by calls that a handler may make.
void on_time_limit(int) {
  constexpr std::string_view english =
      "\nThis program was ended: it has had the processor time that this machine allows a program (ulimit -t). Login "
      "nodes have such limits: train in a job, or with fewer epochs.\n";
  constexpr std::string_view japanese =
      "\nこのマシンがプログラムに許す CPU 時間（ulimit "
      "-t）を使い切ったため、終了しました。ログインノードにはこのような制限が"
      "あります。ジョブの中で学習するか、エポックを減らしてください。\n";
  const std::string_view said = speaks_japanese ? japanese : english;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, said.data(), said.size());
  std::_Exit(exit_code::failure);
}

/// The soft limit sends the signal, and the hard one kills without a word: where they are one, the soft one comes
/// before.
void announce_time_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  speaks_japanese = language() == "ja";
  std::signal(SIGXCPU, on_time_limit);
  if (limit.rlim_cur < limit.rlim_max || limit.rlim_cur < 2) return;
  limit.rlim_cur = limit.rlim_max - 1;
  ::setrlimit(RLIMIT_CPU, &limit);
}

/// For every program of the kit, before its main.
[[maybe_unused]] const bool prepared = [] {
  // A file that reaches a limit (ulimit -f) is an error of the call that writes it, not the end of the program.
  // Programs that this one starts have the signal as it was: unlike SIG_IGN, a handler isn't handed on.
  std::signal(SIGXFSZ, [](int) {});
  announce_time_limit();
  // A file that the program opens must not become its standard output because that is closed. Writes fail on this one.
  for (int n = ::open("/dev/full", O_WRONLY); n >= 0; n = ::open("/dev/full", O_WRONLY))
    if (n > STDERR_FILENO) {
      ::close(n);
      break;
    }
  return on_exit(check_output, nullptr) == 0;
}();

/// A limit of the shell's that was reached, and how it is raised; empty for any other error.
std::string advice_on(const std::error_code& code) {
  if (code == std::errc::resource_unavailable_try_again)
    return in_language(
        Text{" A limit on processes and threads (ulimit -u) or on memory (ulimit -v) was reached: end "
             "other programs, or ask for fewer devices.",
             "プロセスとスレッドの数（ulimit -u）かメモリ（ulimit -v）の制限に達しました。ほかのプログラムを"
             "終了するか、デバイスを減らしてください。"});
  if (code == std::errc::too_many_files_open)
    return in_language(Text{" A limit on open files was reached: ulimit -n 1024 raises it.",
                            "開いているファイルの数の制限に達しました。ulimit -n 1024 で増やせます。"});
  if (code == std::errc::file_too_large)
    return in_language(Text{" A limit on the size of files was reached: ulimit -f unlimited raises it.",
                            "ファイルの大きさの制限に達しました。ulimit -f unlimited で外せます。"});
  return "";
}

/// The sentence and the exit code of the exception that is being handled.
std::pair<std::string, int> describe_current_exception() {
  try {
    throw;
  } catch (const HelpRequested& help) {
    return {help.what(), exit_code::ok};
  } catch (const Error& error) {
    return {error.what(), error.code()};
  } catch (const std::bad_alloc&) {
    return {in_language(Text{"Out of memory. A smaller --batchsize needs less, and ulimit -v may limit it.",
                             "メモリを確保できません。--batchsize を小さくすると使用量が減ります。ulimit -v "
                             "の制限も確認してください。"}),
            exit_code::failure};
  } catch (const std::filesystem::filesystem_error& error) {
    return {in_language({"{} can't be used: {}.{}", "{} を使えません: {}。{}"}, error.path1().string(),
                        error.code().message(), advice_on(error.code())),
            exit_code::failure};
  } catch (const std::system_error& error) {
    return {in_language({"The system refused something: {}.{}", "システムに拒否されました: {}。{}"}, error.what(),
                        advice_on(error.code())),
            exit_code::failure};
  } catch (const std::out_of_range& error) {
    return {fmt::format("{}{}", out_of_range_begins, error.what()), exit_code::failure};
  } catch (const std::exception& error) {
    return {fmt::format("{}{}", unexpected_begins, error.what()), exit_code::failure};
  } catch (...) {
    return {fmt::format("{}an exception without a message.", unexpected_begins), exit_code::failure};
  }
}

/// All ranks often fail for the same reason at the same moment. Rank 0 speaks at once and ends the job; the
/// others wait a little, and speak only if nobody has ended them by then. Open MPI ends those on other hosts after 2 s.
void wait_for_lower_ranks() {
  if (job.rank == 0) return;
  const int place = std::min(job.rank, 10);
  const bool one_host = rank_table::who_is_elsewhere().empty();
  std::this_thread::sleep_for(std::chrono::milliseconds(one_host ? 1500 + 100 * place : 3000 + 50 * place));
}

/// What was printed comes before what went wrong: mpirun carries the two streams apart, and mixes them in mid-line if
/// they arrive together.
void flush_output() {
  std::fflush(stdout);
  if (job.end_job) std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

}  // namespace

std::string sentence_of_current_exception() { return describe_current_exception().first; }

int report_failure() noexcept {
  const auto [sentence, code] = describe_current_exception();
  if (failure_listener) failure_listener(sentence, code);
  if (code == exit_code::ok) {  // --help: every rank comes here, rank 0 prints
    if (job.rank == 0) std::fputs(sentence.c_str(), stdout);
    if (job.end_job) job.end_job(code);
    return code;
  }
  wait_for_lower_ranks();
  flush_output();
  if (job.size > 1 && code != exit_code::usage && code != exit_code::unfilled)
    fmt::print(stderr, "\n{}\n{}\n",
               in_language({"Rank {} of {} stopped, and all ranks with it.",
                            "ランク {}（全 {} ランク）が停止したため、すべてのランクを停止しました。"},
                           job.rank, job.size),
               sentence);
  else
    fmt::print(stderr, "\n{}\n", sentence);
  std::fflush(stderr);
  if (job.end_job) job.end_job(code);
  return code;
}

void set_job_end(const JobEnd& job_end) noexcept { job = job_end; }

void set_failure_listener(void (*listener)(const std::string& sentence, int code)) noexcept {
  failure_listener = listener;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // The terminal is gone, or its connection. Under nohup the signal is ignored, and stays so.
  struct sigaction hangup {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

bool interrupted() noexcept { return signal_seen != 0; }

std::filesystem::path library_file() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&library_file), &here);
  return here.dli_fname;
}

}  // namespace odori
