#include "exercise/blank_words.h"

#include <algorithm>
#include <sstream>

#include "exercise/lexer.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

std::set<std::string> set_of(const char* words) {
  std::istringstream text(words);
  std::set<std::string> set;
  for (std::string word; text >> word;) set.insert(word);
  return set;
}

const std::set<std::string>& forbidden_words() {
  static const std::set<std::string> words = set_of(R"(
    asm extern import
    evidence ODORI_EVIDENCE set_rank set_failure_listener set_job_end end_job catch_interrupts
    system popen fork vfork clone kill killpg raise exit quick_exit at_quick_exit atexit set_terminate
    signal sigaction sigprocmask sigqueue alarm setitimer timer_create ptrace prctl syscall waitpid wait3 wait4 daemon
    setsid setpgid setrlimit prlimit nice sched_setaffinity longjmp setjmp siglongjmp sigsetjmp
    dlopen dlmopen dlsym dlvsym dladdr dl_iterate_phdr mprotect mmap mmap64 munmap mremap process_vm_writev
    process_vm_readv memfd_create shm_open shm_unlink shmget shmat
    getenv secure_getenv setenv putenv unsetenv clearenv environ
    fopen fopen64 freopen fdopen tmpfile tmpnam mkstemp FILE open open64 openat creat read write pread pwrite readv writev
    sendfile lseek ftruncate truncate unlink rename rmdir mkdir mkfifo mknod symlink link chmod fchmod chown chdir chroot
    mount opendir readdir scandir nftw inotify_init fcntl ioctl dup dup2 dup3 pipe pipe2 close close_range select poll
    ifstream ofstream fstream filebuf basic_ifstream basic_ofstream basic_fstream basic_filebuf filesystem
    socket socketpair connect bind listen accept send sendto sendmsg recv recvfrom recvmsg getaddrinfo gethostbyname
    clock_gettime gettimeofday clock_settime nanosleep usleep)");
  return words;
}

/// Families of calls: of processes, of threads, of the system, and what C++ keeps for compilers.
bool is_forbidden(const std::string& word) {
  for (const char* prefix : {"exec", "posix_spawn", "pthread_", "sys_"})
    if (word.starts_with(prefix) && word != "execution") return true;
  const bool is_reserved =
      word.find("__") != std::string::npos || (word.size() > 1 && word[0] == '_' && std::isupper(word[1]));
  return is_reserved || word == "_exit" || forbidden_words().contains(word);
}

/// Keywords, and what answers take from C++'s library. Casts that see one type as another aren't among them.
const std::set<std::string>& common_words() {
  static const std::set<std::string> words = set_of(R"(
    alignas alignof and and_eq auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const consteval constexpr constinit continue decltype default delete do double
    dynamic_cast else enum explicit false final float for friend goto if inline int long mutable namespace new noexcept
    not not_eq nullptr operator or or_eq override private protected public requires return short signed sizeof static
    static_assert static_cast struct switch template this throw true try typedef typeid typename union unsigned using
    virtual void wchar_t while xor xor_eq
    std size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t string string_view vector
    array map unordered_map multimap set unordered_set deque list pair tuple optional variant span initializer_list
    unique_ptr shared_ptr weak_ptr make_unique make_shared make_pair make_tuple make_optional nullopt monostate function
    reference_wrapper ref cref get tie ignore apply visit any_of all_of none_of bind_front placeholders
    move forward exchange swap as_const begin end cbegin cend rbegin rend size ssize empty data front back at find count
    contains clear insert emplace emplace_back emplace_front try_emplace insert_or_assign push_back push_front pop_back
    pop_front erase erase_if resize reserve capacity assign merge extract value value_or has_value reset release first
    second key_type mapped_type value_type iterator const_iterator next prev advance distance back_inserter inserter
    iota transform copy copy_n copy_if fill fill_n generate generate_n for_each for_each_n sort stable_sort reverse
    rotate shuffle unique remove remove_if replace min max minmax min_element max_element clamp accumulate reduce
    inner_product partial_sum lower_bound upper_bound equal find_if find_if_not count_if partition ranges views
    take drop filter subspan to_string stoi stol stoul stod to_integer substr starts_with ends_with append c_str length
    npos format print println println cout cerr endl flush left right setw ostringstream istringstream stringstream str
    abs sqrt pow exp log floor ceil round lround numeric_limits numbers less greater plus minus multiplies hash identity
    is_same_v is_same decay_t remove_reference_t remove_cvref_t invoke index_sequence make_index_sequence literals
    runtime_error logic_error invalid_argument out_of_range exception what mt19937 mt19937_64 random_device
    uniform_int_distribution bernoulli_distribution execution fmt join odori
    maybe_unused nodiscard likely unlikely fallthrough)");
  return words;
}

const std::set<std::string>& harmless_attributes() {
  static const std::set<std::string> words = set_of("maybe_unused nodiscard likely unlikely fallthrough");
  return words;
}

void add_header(const fs::path& folder, const fs::path& header, std::set<fs::path>& seen,
                std::set<std::string>& words) {
  if (!seen.insert(header).second) return;
  const std::vector<std::string> lines = split_lines(read_file(folder / header));
  words.merge(words_in(lines));
  for (const std::string& line : lines)
    if (constexpr std::string_view include = "#include \""; line.starts_with(include))
      add_header(folder, line.substr(include.size(), line.find('"', include.size()) - include.size()), seen, words);
}

bool is_number(const std::string& word) { return std::isdigit(static_cast<unsigned char>(word[0])); }

/// A backslash at a line's end joins it with the next, wherever it stands; compilers look past blanks behind it.
bool joins_lines(const std::vector<std::string>& text) {
  return std::any_of(text.begin(), text.end(), [](std::string_view line) { return trim(line).ends_with('\\'); });
}

/// Names that a text declares, as far as that can be seen from a name's neighbours: `SerialIterator first(...)`,
/// `auto& [a, b] = ...`, `[n = 3]`. Too many, if in doubt.
std::set<std::string> declared_in(const std::vector<std::string>& text) {
  static const std::set<std::string> before_uses = set_of("return throw new delete goto case else do co_return");
  static const std::set<std::string> behind = set_of("= ; , ) { : [ ]"), behind_type = set_of("= ; , ) { : [ (");
  const std::vector<Token> tokens = tokens_of(text).all;
  std::set<std::string> names;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const Token &previous = tokens[i - 1], &next = tokens[i + 1];
    if (!tokens[i].is_word()) continue;
    const bool after_type = (previous.is_word() && !is_number(previous.text) && !before_uses.contains(previous.text)) ||
                            previous == ">" || previous == "struct";
    const bool after_sign = previous == "&" || previous == "*" || previous == "[" || previous == ",";
    if ((after_type && behind_type.contains(next.text)) || (after_sign && behind.contains(next.text)))
      names.insert(tokens[i].text);
  }
  return names;
}

/// What stands where it shouldn't, sign by sign; nothing if nothing does.
std::optional<Finding> forbidden_sign(const std::vector<Token>& tokens) {
  std::string open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string sign = tokens[i].text, next = i + 1 < tokens.size() ? tokens[i + 1].text : "";
    const std::string after = i + 2 < tokens.size() ? tokens[i + 2].text : "";
    if (sign == "#") return Finding{"forbidden_directive"};
    if (sign == "\\" || sign == "$" || sign == "@" || sign == "`") return Finding{"forbidden_sign", {{"sign", sign}}};
    // Other spellings of # and of brackets; but vector<::T> holds none.
    const bool digraph = (sign == "%" && (next == ":" || next == ">")) || (sign == "<" && next == "%") ||
                         (sign == ":" && next == ">") || (sign == "<" && next == ":" && after != ":");
    if (digraph) return Finding{"forbidden_sign", {{"sign", sign + next}}};
    if (sign == "(" || sign == "[" || sign == "{") open += sign == "(" ? ')' : sign == "[" ? ']' : '}';
    if (sign == ")" || sign == "]" || sign == "}") {
      if (open.empty()) return Finding{"forbidden_bracket", {{"sign", sign}}};
      if (open.back() == sign[0]) open.pop_back();
    }
  }
  return {};
}

std::optional<Finding> forbidden_attribute(const std::vector<Token>& tokens) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i] == "[" && tokens[i + 1] == "[")
      for (std::size_t j = i + 2; j < tokens.size() && !(tokens[j] == "]"); ++j)
        if (tokens[j].is_word() && !harmless_attributes().contains(tokens[j].text))
          return Finding{"forbidden_word", {{"word", "[[" + tokens[j].text + "]]"}}};
  return {};
}

std::optional<Finding> find_forbidden(const std::vector<std::string>& text, const std::vector<Token>& tokens) {
  if (joins_lines(text)) return Finding{"forbidden_sign", {{"sign", "\\"}}};
  if (auto finding = forbidden_sign(tokens)) return finding;
  if (auto finding = forbidden_attribute(tokens)) return finding;
  for (const Token& token : tokens)
    if (token.is_word() && is_forbidden(token.text)) return Finding{"forbidden_word", {{"word", token.text}}};
  return {};
}

}  // namespace

std::set<std::string> words_of_kit(const fs::path& kit, const std::string& exercise) {
  std::set<std::string> words = words_in(split_lines(exercise));
  std::set<fs::path> seen;
  add_header(kit / "lib", "odori.h", seen, words);
  return words;
}

BlankWords look_at_words(const std::vector<std::string>& text, const std::set<std::string>& kits,
                         const std::vector<Blank>& blanks) {
  const std::vector<Token> tokens = tokens_of(text).all;
  BlankWords found{.forbidden = find_forbidden(text, tokens)};
  std::set<std::string> declared, unusual;
  for (const Blank& blank : blanks) declared.merge(declared_in(blank.text));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& word = tokens[i].text;
    if (tokens[i].is_word() && !is_number(word) && !common_words().contains(word) && !kits.contains(word) &&
        !declared.contains(word))
      unusual.insert(word);
    // The end of a pointer's type in parentheses: a cast, as C has it.
    if (i + 1 < tokens.size() && tokens[i] == "*" && tokens[i + 1] == ")") unusual.insert("*)");
  }
  found.unusual = {unusual.begin(), unusual.end()};
  return found;
}

}  // namespace odori::grader
