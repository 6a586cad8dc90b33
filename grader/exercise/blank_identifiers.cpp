#include "exercise/blank_identifiers.h"

#include <algorithm>
#include <sstream>

#include "exercise/declarations.h"
#include "exercise/lexer.h"
#include "exercise/library_names.h"

namespace odori::grader {
namespace {

namespace fs = std::filesystem;

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

/// Families of calls, of processes and of threads; the support code's functions for the grader; and the exchange
/// context, by which a strategy of the library could be called.
bool is_forbidden(const std::string& name) {
  return name.starts_with("posix_spawn") || name.starts_with("pthread_") || name.ends_with("_for_check") ||
         name == "context_" || names_never_needed().contains(name);
}

/// Keywords, and what answers take from C++'s library. Casts that see one type as another aren't among them.
bool is_common(const std::string& name) {
  static const std::set<std::string> rare_keywords =
      set_of("asm const_cast export extern register reinterpret_cast thread_local volatile");
  static const std::set<std::string> of_library = set_of(R"(
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
    take drop filter subspan last to_string stoi stol stoul stod to_integer substr starts_with ends_with append c_str
    length npos format print println println cout cerr endl flush left right setw ostringstream istringstream
    stringstream str abs sqrt pow exp log log2 fmod trunc floor ceil round lround numeric_limits numbers less greater
    plus minus multiplies hash identity is_same_v is_same decay_t remove_reference_t remove_cvref_t invoke
    index_sequence make_index_sequence literals bind s sv
    runtime_error logic_error invalid_argument out_of_range exception what mt19937 mt19937_64 random_device
    uniform_int_distribution bernoulli_distribution execution fmt join odori
    lerp midpoint gcd lcm hypot cbrt exp2 log10 log1p expm1 sin cos tan tanh fabs fma fmin fmax isnan isfinite signbit
    divides modulus negate equal_to not_equal_to greater_equal less_equal logical_and logical_or logical_not
    take_while drop_while keys values elements counted all split zip enumerate
    binary_search nth_element partial_sort partial_sort_copy is_sorted stable_partition partition_copy
    partition_point adjacent_difference adjacent_find exclusive_scan inclusive_scan transform_reduce
    transform_exclusive_scan transform_inclusive_scan mismatch search rotate_copy reverse_copy remove_copy
    remove_copy_if replace_if replace_copy unique_copy swap_ranges copy_backward move_backward set_difference
    set_intersection set_union lexicographical_compare next_permutation
    multiset unordered_multiset unordered_multimap bitset stack queue priority_queue push pop top any any_cast
    crbegin crend rfind find_first_of find_last_of compare shrink_to_fit emplace_hint in_place
    reverse_iterator move_iterator make_move_iterator make_reverse_iterator size_type difference_type max_size
    lowest infinity quiet_NaN epsilon digits popcount countl_zero countr_zero bit_width bit_ceil bit_floor
    has_single_bit in_range cmp_less cmp_equal tuple_size_v tuple_element_t conditional_t enable_if_t
    is_integral_v is_floating_point_v is_convertible_v is_invocable_v invoke_result_t common_type_t underlying_type_t
    remove_const_t make_signed_t make_unsigned_t declval same_as integral floating_point invocable convertible_to
    ostream istream setprecision setfill fixed hex dec boolalpha ostream_iterator
    uniform_real_distribution normal_distribution discrete_distribution minstd_rand seed_seq default_random_engine
    maybe_unused nodiscard likely unlikely fallthrough deprecated no_unique_address __func__ __FILE__ __LINE__
    __cplusplus __int128)");
  return (is_keyword(name) && !rare_keywords.contains(name)) || of_library.contains(name);
}

const std::set<std::string>& harmless_attributes() {
  static const std::set<std::string> names =
      set_of("maybe_unused nodiscard likely unlikely fallthrough deprecated no_unique_address");
  return names;
}

/// The folders in which training programs find their headers: lib/ and the support folders of exercises.
std::vector<fs::path> header_folders(const fs::path& kit) {
  std::vector<fs::path> folders{kit / "lib", kit / "exercises" / "support"};
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(kit / "exercises", missing))
    if (fs::is_directory(entry.path() / "support", missing)) folders.push_back(entry.path() / "support");
  return folders;
}

/// The headers of the kit that some lines include, and those that these include: their identifiers go into `names`.
void add_headers(const std::vector<fs::path>& folders, const std::vector<std::string>& lines, std::set<fs::path>& seen,
                 std::set<std::string>& names) {
  for (const std::string& line : lines) {
    constexpr std::string_view include = "#include \"";
    if (!line.starts_with(include)) continue;
    const std::string header = line.substr(include.size(), line.find('"', include.size()) - include.size());
    if (!seen.insert(header).second) continue;
    const auto folder = std::ranges::find_if(folders, [&](const fs::path& each) { return fs::exists(each / header); });
    if (folder == folders.end()) continue;
    const std::vector<std::string> text = split_lines(read_file(*folder / header));
    names.merge(identifiers_in(text));
    add_headers(folders, text, seen, names);
  }
}

/// Names of the library's that are used below a blank, up to the end of the block that it stands in: only there would
/// another thing of the same name be meant.
std::set<std::string> taken_below(const std::vector<std::string>& solution, const Blank& blank,
                                  const std::set<std::string>& own) {
  const std::vector<std::string> below(solution.begin() + blank.last_line, solution.end());
  std::size_t end = std::string::npos;
  int depth = 0;
  for (const Token& token : tokens_of(below).all) {
    depth += token == "{" ? 1 : token == "}" ? -1 : 0;
    if (depth < 0) {
      end = token.at;
      break;
    }
  }
  std::set<std::string> names;
  for (const LibraryName& each : names_of_library(below, own))
    if (each.at < end) names.insert(each.name);
  return names;
}

/// What a text may not hold, and where: the first of each kind.
class Search {
 public:
  Search(const Blank& blank, const Tokens& tokens, const std::set<std::string>& declared,
         const std::set<std::string>& taken)
      : blank_(blank), tokens_(tokens.all), broken_(tokens.broken), declared_(declared), taken_(taken) {}

  std::optional<Finding> find() const {
    for (const auto look : {&Search::identifier, &Search::attribute, &Search::sign, &Search::bracket, &Search::broken,
                            &Search::statement, &Search::name})
      if (auto finding = (this->*look)()) return finding;
    return {};
  }

 private:
  std::string line(int of_text) const { return std::to_string(blank_.text_line + of_text - 1); }
  Finding finding(const char* key, const Token& at, const std::string& name, const std::string& value) const {
    return {key, {{"line", line(at.line)}, {name, value}}};
  }

  std::optional<Finding> identifier() const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (!token.is_word()) continue;
      if (is_reserved(token.text)) return finding("forbidden_reserved", token, "word", token.text);
      if (is_forbidden(token.text)) return finding("forbidden_word", token, "word", token.text);
      if (names_of_system().contains(token.text) && !is_learners(i))
        return finding("forbidden_function", token, "word", token.text);
    }
    return {};
  }

  /// A member, or a name that the answers declare.
  bool is_learners(std::size_t i) const {
    const bool after = i > 0;
    if (after && (tokens_[i - 1] == "." || tokens_[i - 1] == "->")) return true;
    return !(after && tokens_[i - 1] == "::") && declared_.contains(tokens_[i].text);
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
      if (token == "#" || token == "##") return Finding{"forbidden_directive", {{"line", line(token.line)}}};
      if (token == "\\" || token == "$" || token == "@" || token == "`")
        return finding("forbidden_sign", token, "sign", token.text);
    }
    return {};
  }

  std::optional<Finding> bracket() const {
    std::string open;
    for (const Token& token : tokens_) {
      if (token == "(" || token == "[" || token == "{") open += token == "(" ? ')' : token == "[" ? ']' : '}';
      if (token == ")" || token == "]" || token == "}") {
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

  std::optional<Finding> statement() const {
    const auto word = left_without_statement(blank_.text);
    return word ? std::optional(finding("statement_missing", *word, "word", word->text)) : std::nullopt;
  }

  std::optional<Finding> name() const {
    for (const Token& token : declared_for_below(blank_.text))
      if (taken_.contains(token.text)) return finding("forbidden_name", token, "word", token.text);
    return {};
  }

  const Blank& blank_;
  const std::vector<Token>& tokens_;
  const std::optional<Finding>& broken_;
  const std::set<std::string>&declared_, &taken_;
};

/// Also where the kit names it: what an answer does may depend on how long the program runs.
bool is_of_time(const std::string& name) {
  static const std::set<std::string> names = set_of("chrono steady_clock system_clock high_resolution_clock sleep_for");
  return names.contains(name);
}

/// Flags of the program that answers go by: by any other an answer could be right for the checks alone.
bool is_flag_of_answers(const std::string& name) {
  static const std::set<std::string> names = set_of("batchsize gradient_rule learnrate n_gpus seed");
  return names.contains(name);
}

/// `args.model` at `tokens[i]`, or nothing.
std::string other_flag_at(const std::vector<Token>& tokens, std::size_t i) {
  if (i + 2 >= tokens.size() || !(tokens[i] == "args") || !(tokens[i + 1] == "." || tokens[i + 1] == "->")) return {};
  const Token& flag = tokens[i + 2];
  return flag.is_word() && !is_flag_of_answers(flag.text) ? "args." + flag.text : std::string();
}

/// `struct Mine : Hook` at `tokens[i]`, whose base is one of `kits`: what the kit calls through it may do anything.
std::string derived_class_at(const std::vector<Token>& tokens, std::size_t i, const std::set<std::string>& kits) {
  if (!(tokens[i] == "struct" || tokens[i] == "class")) return {};
  std::string head = tokens[i].text;
  for (++i; i < tokens.size() && tokens[i].is_word(); ++i) head += ' ' + tokens[i].text;
  if (i >= tokens.size() || !(tokens[i] == ":")) return {};
  for (++i; i < tokens.size() && !(tokens[i] == "{"); ++i)
    if (tokens[i].is_word() && !is_common(tokens[i].text) && kits.contains(tokens[i].text))
      return head + " : " + tokens[i].text;
  return {};
}

}  // namespace

KitIdentifiers identifiers_of_kit(const fs::path& kit, const std::string& exercise, const std::string& solution) {
  KitIdentifiers kits{.known = identifiers_in(split_lines(exercise)), .taken = {}};
  const std::vector<std::string> lines = split_lines(solution);
  std::set<fs::path> seen;
  add_headers(header_folders(kit), lines, seen, kits.known);
  const std::set<std::string> own = own_names(lines);
  for (const Blank& blank : parse_blanks(lines, "a solution"))
    kits.taken[blank.number] = taken_below(lines, blank, own);
  return kits;
}

const std::set<std::string>& names_never_needed() {
  static const std::set<std::string> names = set_of(R"(
    asm extern import
    observe facts evidence ODORI_EVIDENCE ODORI_TEST_CASES set_failure_listener set_job_end end_job catch_interrupts
    system popen fork vfork execl execlp execle execv execve execvp execvpe execveat fexecve killpg quick_exit
    at_quick_exit atexit set_terminate _exit
    sigaction sigprocmask sigqueue setitimer timer_create ptrace prctl syscall waitpid wait3 wait4
    setsid setpgid setrlimit prlimit sched_setaffinity longjmp setjmp siglongjmp sigsetjmp
    dlopen dlmopen dlsym dlvsym dladdr dl_iterate_phdr mprotect mmap mmap64 munmap mremap process_vm_writev
    process_vm_readv memfd_create shm_open shm_unlink shmget shmat
    getenv secure_getenv setenv putenv unsetenv clearenv environ
    fopen fopen64 freopen fdopen tmpfile tmpnam mkstemp FILE open64 openat creat pread pwrite readv writev
    sendfile lseek ftruncate unlink rmdir mkdir mkfifo mknod symlink chmod fchmod chown chdir chroot
    opendir readdir scandir nftw inotify_init fcntl ioctl dup2 dup3 pipe2 close_range
    ifstream ofstream fstream filebuf wifstream wofstream wfstream wfilebuf basic_ifstream basic_ofstream
    basic_fstream basic_filebuf filesystem
    socket socketpair sendto sendmsg recvfrom recvmsg getaddrinfo gethostbyname
    clock_gettime gettimeofday clock_settime nanosleep usleep)");
  return names;
}

const std::set<std::string>& names_of_system() {
  static const std::set<std::string> names = set_of(R"(
    accept alarm clone close connect daemon dup exit kill link listen mount nice open pipe poll raise read recv rename
    select send signal truncate write)");
  return names;
}

bool is_slip(const Finding& finding) {
  static const std::set<std::string> keys{"quote_not_closed", "comment_not_closed", "character_not_code", "not_utf8",
                                          "statement_missing"};
  return keys.contains(finding.key);
}

BlankIdentifiers look_at_identifiers(const Blank& blank, const KitIdentifiers& kits, const std::vector<Blank>& blanks,
                                     const std::set<std::string>& allowed) {
  const Tokens tokens = tokens_of(blank.text);
  std::set<std::string> declared = allowed, unusual;
  for (const Blank& each : blanks) declared.merge(declared_in(each.text, Doubtful::all));
  const auto taken = kits.taken.find(blank.number);
  BlankIdentifiers found{
      .forbidden =
          Search(blank, tokens, declared, taken != kits.taken.end() ? taken->second : std::set<std::string>()).find(),
      .unusual = {}};
  for (std::size_t i = 0; i < tokens.all.size(); ++i) {
    const Token& token = tokens.all[i];
    const bool is_known = is_common(token.text) || kits.known.contains(token.text) || declared.contains(token.text);
    if (token.is_word() && (!is_known || is_of_time(token.text))) unusual.insert(token.text);
    for (const std::string& seen : {other_flag_at(tokens.all, i), derived_class_at(tokens.all, i, kits.known)})
      if (!seen.empty()) unusual.insert(seen);
    // The end of a pointer's type in parentheses: a cast, as C has it.
    if (i + 1 < tokens.all.size() && token == "*" && tokens.all[i + 1] == ")") unusual.insert("*)");
  }
  found.unusual = {unusual.begin(), unusual.end()};
  return found;
}

}  // namespace odori::grader
