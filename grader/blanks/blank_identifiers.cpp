// SPDX-License-Identifier: Apache-2.0
#include "blanks/blank_identifiers.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "blanks/lexer.h"

namespace odori::grader {
namespace {

std::set<std::string> set_of(const char* names) {
  std::istringstream text(names);
  std::set<std::string> set;
  for (std::string name; text >> name;) set.insert(name);
  return set;
}

/// Names that C++ keeps for compilers.
bool is_reserved(const std::string& name) {
  static const std::set<std::string> harmless = set_of("__func__ __FILE__ __LINE__ __cplusplus __int128");
  const bool by_its_form =
      name.find("__") != std::string::npos || (name.size() > 1 && name[0] == '_' && std::isupper(name[1]));
  return by_its_form && !harmless.contains(name);
}

/// What loads code that leaves no evidence, what writes or maps its memory, the environment, the observer and the
/// grader's own calls.
const std::set<std::string>& refused_names() {
  static const std::set<std::string> names = set_of(R"(
    asm
    dlopen dlmopen dlsym dlvsym dladdr dl_iterate_phdr
    mprotect mmap mmap64 munmap mremap pkey_mprotect process_vm_readv process_vm_writev ptrace syscall
    getenv secure_getenv setenv putenv unsetenv clearenv environ
    observe facts evidence ODORI_EVIDENCE ODORI_TEST_CASES context_ set_failure_listener set_job_end end_job
    catch_interrupts)");
  return names;
}

bool is_refused(const std::string& name) { return name.ends_with("_for_check") || refused_names().contains(name); }

const std::set<std::string>& harmless_attributes() {
  static const std::set<std::string> names =
      set_of("maybe_unused nodiscard likely unlikely fallthrough deprecated no_unique_address");
  return names;
}

/// What a text may not hold, and where: the first of each kind.
class Search {
 public:
  Search(const Blank& blank, const Tokens& tokens) : blank_(blank), tokens_(tokens.all), broken_(tokens.broken) {}

  std::optional<Finding> find() const {
    for (const auto look : {&Search::identifier, &Search::attribute, &Search::sign, &Search::bracket, &Search::broken,
                            &Search::statement})
      if (auto finding = (this->*look)()) return finding;
    return {};
  }

 private:
  std::string line(int of_text) const { return std::to_string(blank_.text_line + of_text - 1); }
  Finding finding(const char* key, const Token& at, const std::string& name, const std::string& value) const {
    return {key, {{"line", line(at.line)}, {name, value}}};
  }

  std::optional<Finding> identifier() const {
    for (const Token& token : tokens_) {
      if (!token.is_word()) continue;
      if (is_reserved(token.text)) return finding("forbidden_reserved", token, "word", token.text);
      if (is_refused(token.text)) return finding("forbidden_word", token, "word", token.text);
    }
    return {};
  }

  std::optional<Finding> attribute() const {
    bool inside = false;
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      inside = inside ? !(tokens_[i] == "]") : tokens_[i - 1] == "[" && tokens_[i] == "[";
      if (inside && tokens_[i].is_word() && !harmless_attributes().contains(tokens_[i].text))
        return finding("forbidden_attribute", tokens_[i], "word", tokens_[i].text);
    }
    return {};
  }

  std::optional<Finding> sign() const {
    for (const Token& token : tokens_) {
      if (token == "#") return Finding{"forbidden_directive", {{"line", line(token.line)}}};
      if (token == "\\" || token == "$" || token == "@" || token == "`")
        return finding("forbidden_sign", token, "sign", token.text);
    }
    return {};
  }

  std::optional<Finding> bracket() const {
    std::string open;
    for (const Token& token : tokens_) {
      if (const char closing = closing_bracket(token)) open += closing;
      if (token.is_one_of(" ) ] } ")) {
        if (open.empty()) return finding("forbidden_bracket", token, "sign", token.text);
        if (open.back() == token.text[0]) open.pop_back();
      }
    }
    return {};
  }

  std::optional<Finding> broken() const {
    if (!broken_) return {};
    Finding finding = *broken_;
    finding.values["line"] = line(std::stoi(finding.values.at("line")));
    return finding;
  }

  /// `else`, `do`, or `if (...)` at the end: its statement would be the kit's next line.
  std::optional<Finding> statement() const {
    std::size_t end = tokens_.size();  // of what stands before the brackets
    const bool has_brackets = end > 0 && tokens_[end - 1] == ")";
    for (int depth = has_brackets ? 1 : 0; depth > 0 && --end > 0;)
      depth += tokens_[end - 1] == ")" ? 1 : tokens_[end - 1] == "(" ? -1 : 0;
    if (has_brackets && end > 0) --end;
    if (has_brackets && end > 0 && tokens_[end - 1] == "constexpr") --end;
    if (end == 0) return {};
    const Token& word = tokens_[end - 1];
    const bool ends_do = word == "while" && end > 1 && tokens_[end - 2] == "}";  // do {...} while (...)
    if (ends_do || !word.is_one_of(has_brackets ? " if for while switch " : " else do ")) return {};
    return finding("statement_missing", word, "word", word.text);
  }

  const Blank& blank_;
  const std::vector<Token>& tokens_;
  const std::optional<Finding>& broken_;
};

/// `args.model` at `tokens[i]`, or nothing. An answer that goes by a flag which no question is about could be right in
/// the checks alone.
std::string other_flag_at(const std::vector<Token>& tokens, std::size_t i) {
  static const std::set<std::string> of_answers =
      set_of("batchsize communicator epoch gradient_rule learnrate n_gpus optimizer seed");
  if (i + 2 >= tokens.size() || !(tokens[i] == "args")) return {};
  const bool by_arrow = i + 3 < tokens.size() && tokens[i + 1] == "-" && tokens[i + 2] == ">";
  if (!by_arrow && !(tokens[i + 1] == ".")) return {};
  const Token& flag = tokens[i + (by_arrow ? 3 : 2)];
  return flag.is_word() && !of_answers.contains(flag.text) ? "args." + flag.text : std::string();
}

/// How often each unusual name is used.
std::map<std::string, int> unusual_in(const std::vector<Token>& tokens) {
  std::map<std::string, int> unusual;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is_word() && listed_names().contains(tokens[i].text)) ++unusual[tokens[i].text];
    if (const std::string flag = other_flag_at(tokens, i); !flag.empty()) ++unusual[flag];
  }
  return unusual;
}

}  // namespace

const std::set<std::string>& listed_names() {
  static const std::set<std::string> names = set_of(R"(
    const_cast extern reinterpret_cast thread_local volatile
    fopen fopen64 freopen fdopen tmpfile tmpnam mkstemp FILE open open64 openat creat close read write pread pwrite
    readv writev sendfile lseek truncate ftruncate link symlink unlink rename rmdir mkdir mkfifo mknod chmod fchmod
    chown chdir chroot mount opendir readdir scandir nftw inotify_init fcntl ioctl dup dup2 dup3 pipe pipe2 close_range
    shm_open shm_unlink shmget shmat memfd_create ifstream ofstream fstream filebuf wifstream wofstream wfstream
    wfilebuf basic_ifstream basic_ofstream basic_fstream basic_filebuf filesystem
    system popen fork vfork clone daemon execl execlp execle execv execve execvp execvpe execveat fexecve posix_spawn
    posix_spawnp kill killpg exit quick_exit at_quick_exit atexit _exit set_terminate wait3 wait4 waitpid setsid setpgid
    setrlimit prlimit nice sched_setaffinity prctl pthread_create pthread_cancel pthread_kill
    socket socketpair accept connect listen poll select recv recvfrom recvmsg sendto sendmsg getaddrinfo gethostbyname
    signal sigaction sigprocmask sigqueue raise alarm setitimer timer_create longjmp setjmp siglongjmp sigsetjmp
    chrono steady_clock system_clock high_resolution_clock clock_gettime clock_settime gettimeofday sleep_for
    sleep_until nanosleep usleep)");
  return names;
}

bool is_slip(const Finding& finding) {
  static const std::set<std::string> keys{"quote_not_closed", "comment_not_closed", "character_not_code", "not_utf8",
                                          "statement_missing"};
  return keys.contains(finding.key);
}

BlankIdentifiers look_at_identifiers(const Blank& blank) {
  const Tokens tokens = tokens_of(blank.text);
  std::map<std::string, int> given = unusual_in(tokens_of(blank.given).all);
  BlankIdentifiers found{Search(blank, tokens).find(), {}};
  for (const auto& [name, times] : unusual_in(tokens.all))
    if (times > given[name]) found.unusual.push_back(name);
  return found;
}

}  // namespace odori::grader
