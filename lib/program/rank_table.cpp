// SPDX-License-Identifier: Apache-2.0
#include "program/rank_table.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "errors/error.h"
#include "errors/text.h"
#include "program/usage.h"

namespace odori::rank_table {
namespace {

// Zeros are an empty row, as a new file has them. What belongs together is read while others write: a row that is seen
// in between is seen again, as only a standstill is told.
struct alignas(64) Row {
  std::atomic<std::int32_t> process;  // its PID; 0: has not joined
  std::atomic<std::uint32_t> inside;  // how deep in calls
  std::atomic<std::uint64_t> calls, moves;
  std::atomic<std::int64_t> since;                 // it entered or left its last call: ns of the steady clock
  std::array<std::atomic<std::uint64_t>, 4> name;  // of the call, cut to 32 characters
  std::array<std::atomic<std::uint64_t>, 4> file;  // of the program's call: the last 32 characters
  std::atomic<std::uint32_t> line;                 // 0: unknown
  std::atomic<std::int32_t> sends_to, takes_from;  // a message's other ranks, counted from 1; 0: none; -1: several
};
struct alignas(64) Head {
  std::atomic<std::uint32_t> spoken, shown;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(Row) == 128 && sizeof(Head) == 64);

Head own_head;
Row own_row;
Head* head = &own_head;
std::span<Row> rows{&own_row, 1};
Row* mine = &own_row;
int job_size = 1, local_size = 1;
std::string name_of_file, other_hosts;
Call call_here;  // of the thread that talks to the other ranks

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int number = -1;
  if (text) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

/// In the folder of this mpirun (comm/mpirun.sh) if it has one. Empty without Open MPI.
std::string choose_file() {
  const char *job = std::getenv("PMIX_NAMESPACE"), *folder = std::getenv("OMPI_MCA_btl_vader_backing_directory");
  if (!job || !*job) return {};
  std::string plain = job;
  for (char& c : plain)
    if (c == '/') c = '_';
  return fmt::format("{}/odori_ranks.{}.{}", folder && *folder ? folder : "/dev/shm", ::geteuid(), plain);
}

void* map_file(const std::string& file, std::size_t bytes) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return nullptr;
  struct stat status {};
  // Room is taken now: where none is left, a later write would kill the process.
  const bool usable = ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid() &&
                      ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) == 0;
  void* const memory = usable ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  ::close(descriptor);
  return memory == MAP_FAILED ? nullptr : memory;
}

using Text32 = std::array<std::atomic<std::uint64_t>, 4>;

void write(Text32& to, std::string_view text) noexcept {
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), text.data(), std::min(text.size(), sizeof words));
  for (std::size_t i = 0; i < words.size(); ++i) to[i].store(words[i], std::memory_order_relaxed);
}

std::string read(const Text32& from) {
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = from[i].load();
  const std::string_view all(reinterpret_cast<const char*>(words.data()), sizeof words);
  return std::string(all.substr(0, all.find('\0')));
}

std::int64_t now() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string_view file_of(const std::source_location& site) noexcept {
  std::string_view file = site.file_name();
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  return file.substr(file.size() - std::min(file.size(), sizeof(Text32)));
}

void write_call(const Call& call) noexcept {
  write(mine->name, call.name ? call.name : "");
  write(mine->file, file_of(call.site));
  mine->line.store(call.site.line(), std::memory_order_relaxed);
  mine->sends_to.store(call.to + 1, std::memory_order_relaxed);
  mine->takes_from.store(call.from + 1, std::memory_order_relaxed);
}

/// "comm->all_reduce_mean()", "send to 1 (ring.cpp:49)", "exchange with 1", "exchange: to 1, from 3"
std::string name_of(const Row& row) {
  const std::string name = read(row.name),
                    site = row.line == 0 ? "" : fmt::format(" ({}:{})", read(row.file), row.line.load());
  const int to = row.sends_to - 1, from = row.takes_from - 1;
  if (to >= 0 && to == from) return fmt::format("{} with {}{}", name, to, site);
  if (to >= 0 && from >= 0) return fmt::format("{}: to {}, from {}{}", name, to, from, site);
  return to >= 0     ? fmt::format("{} to {}{}", name, to, site)
         : from >= 0 ? fmt::format("{} from {}{}", name, from, site)
                     : name + site;
}

bool in_message(const Row& row) { return row.inside > 0 && (row.sends_to != 0 || row.takes_from != 0); }

std::string host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Ranks of this node, by what they do; `call` is that of those that have come furthest. Where one is in a message, all
/// that are in a call wait: messages are no calls that all ranks have to make.
struct Image {
  bool messages = false;
  std::vector<std::size_t> absent, stopped, ended, elsewhere_in_program, in_another_call, waiting;
  std::string call;
};

Image look() {
  Image image;
  const auto before = [](const Row& one, const Row& other) {
    return one.calls != other.calls ? one.calls < other.calls : (one.inside > 0) < (other.inside > 0);
  };
  const Row& ahead = *std::max_element(rows.begin(), rows.end(), before);
  image.call = name_of(ahead);
  image.messages = std::any_of(rows.begin(), rows.end(), in_message);
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const Row& row = rows[rank];
    const ProcessState state = row.process == 0 ? ProcessState::running : state_of(row.process);
    const bool waits = image.messages ? row.inside > 0 : row.calls == ahead.calls && read(row.name) == read(ahead.name);
    (row.process == 0                 ? image.absent
     : state == ProcessState::stopped ? image.stopped
     : state == ProcessState::ended   ? image.ended
     : waits                          ? image.waiting
     : row.inside > 0                 ? image.in_another_call
                                      : image.elsewhere_in_program)
        .push_back(rank);
  }
  return image;
}

// English sentences end with a space.

/// "Ranks 0 and 2 wait in comm->all_reduce_mean()."; with messages "Rank 0 waits in send to 1, rank 1 in send to 0."
std::string tell_waiting(const Image& image) {
  const std::vector<std::size_t>& ranks = image.waiting;
  if (ranks.empty()) return {};
  constexpr std::size_t most = 8;
  const std::span shown(ranks.data(), std::min(ranks.size(), most));
  const std::size_t more = ranks.size() - shown.size();
  Text words;
  if (!image.messages) {
    words.japanese = fmt::format("ランク {}{}は {} で待っています。", fmt::join(shown, "、"),
                                 more > 0 ? fmt::format(" とほか {} ランク", more) : " ", image.call);
    words.english = fmt::format("{} {} in {}. ", in_words(ranks), ranks.size() == 1 ? "waits" : "wait", image.call);
    return in_language(words);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Row& row = rows[shown[i]];
    const bool ends = read(row.name) == last_call;
    words.english += fmt::format("{} {}{} in {}{}", i == 0 ? "Rank" : ", rank", shown[i], i == 0 ? " waits" : "",
                                 name_of(row), ends ? ", at the end of its program" : "");
    words.japanese += fmt::format("{}ランク {} は {}{}で", i == 0 ? "" : "、", shown[i], name_of(row),
                                  ends ? "（プログラムの終わり）" : " ");
  }
  words.english += more == 0 ? ". " : fmt::format(", and {} more wait. ", more);
  words.japanese += more == 0 ? "待っています。" : fmt::format("待っています（ほか {} ランクも）。", more);
  return in_language(words);
}

/// "Rank 1 (host, PID 7) is stopped.", for each of the ranks.
std::string tell(const std::vector<std::size_t>& ranks, const Text& what) {
  std::string sentences;
  for (const std::size_t rank : ranks)
    sentences += in_language({"Rank {} ({}, PID {}) {}. ", "ランク {}（{}、PID {}）は{}。"}, rank, host(),
                             rows[rank].process.load(), in_language(what));
  return sentences;
}

/// Both are in one message, or might be in one call of a group.
bool meet(const Row& one, const Row& other, int rank_of_one, int rank_of_other) {
  const auto takes = [](const Row& row, int from) {
    return row.takes_from - 1 == from || row.takes_from - 1 == several;
  };
  const auto in_group = [](const Row& row) { return row.sends_to - 1 == several; };
  if (in_group(one) || in_group(other)) return in_group(one) && in_group(other);
  return (one.sends_to - 1 == rank_of_other && takes(other, rank_of_one)) ||
         (other.sends_to - 1 == rank_of_one && takes(one, rank_of_other));
}

}  // namespace

std::string in_words(const std::source_location& site) {
  return site.line() == 0 ? "" : fmt::format(" ({}:{})", file_of(site), site.line());
}

std::string in_words(const std::vector<std::size_t>& ranks, bool first) {
  constexpr std::size_t most = 8;
  std::string words = fmt::format("{}ank{}", first ? 'R' : 'r', ranks.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
    words += fmt::format("{}{}", i == 0 ? " " : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
  return ranks.size() <= most ? words : words + fmt::format(" and {} more", ranks.size() - most);
}

bool join() {
  const int rank = number_in("OMPI_COMM_WORLD_RANK"), size = number_in("OMPI_COMM_WORLD_SIZE");
  if (rank < 0 || size < 2 || rank >= size) return false;
  job_size = size;
  const std::string file = choose_file();
  if (file.empty()) return true;
  void* const memory = map_file(file, sizeof(Head) + static_cast<std::size_t>(size) * sizeof(Row));
  if (!memory) return true;
  name_of_file = file;
  head = static_cast<Head*>(memory);
  rows = {reinterpret_cast<Row*>(head + 1), static_cast<std::size_t>(size)};
  mine = &rows[static_cast<std::size_t>(rank)];
  local_size = std::clamp(number_in("OMPI_COMM_WORLD_LOCAL_SIZE"), 1, size);
  mine->process = ::getpid();
  mine->since = now();
  heartbeat();
  return true;
}

void all_joined(int size) {
  job_size = size;
  if (!name_of_file.empty()) ::unlink(name_of_file.c_str());
}

void set_other_hosts(const std::string& hosts) { other_hosts = hosts; }

Call enter(const Call& call) noexcept {
  const Call outer = std::exchange(call_here, call);
  write_call(call);
  // One thread alone writes these.
  if (!call.is_message()) mine->calls.store(mine->calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  mine->inside.store(mine->inside.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  mine->since.store(now(), std::memory_order_relaxed);
  heartbeat();
  return outer;
}

void leave(const Call& outer) noexcept {
  call_here = outer;
  if (outer.name) write_call(outer);
  mine->inside.store(mine->inside.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  mine->since.store(now(), std::memory_order_relaxed);
  heartbeat();
}

void heartbeat() noexcept { mine->moves.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t calls() noexcept { return mine->calls.load(std::memory_order_relaxed); }

std::uint64_t progress() noexcept {
  std::uint64_t sum = 0;
  for (const Row& row : rows) sum += row.moves.load(std::memory_order_relaxed);
  return sum;
}

std::string who_is_missing() {
  if (rows.size() == 1) return {};
  const Image image = look();
  const auto joined = static_cast<int>(rows.size() - image.absent.size());
  std::string missing =
      tell(image.stopped, {"is stopped, by a signal or a debugger", "シグナルかデバッガで停止しています"}) +
      tell(image.ended, {"has ended", "終了しました"});
  if (joined < local_size) {
    const std::string some = in_language({"{} of the {} ranks of {}", "{1} ランク中 {0} ランク（{2}）"},
                                         local_size - joined, local_size, host());
    const Text named{fmt::format("{} ({})", in_words(image.absent), host()),
                     fmt::format("ランク {}（{}）", fmt::join(image.absent, "、"), host())};
    missing +=
        in_language({"{} did not come to MPI_Init(): not started yet, stopped, or ended before. ",
                     "{}が MPI_Init() "
                     "を呼び出していません（まだ起動していないか、停止しているか、その前に終了したかのどれかです）。"},
                    local_size == job_size ? in_language(named) : some);
  }
  const bool apart = missing.empty() && image.elsewhere_in_program.empty() && !image.in_another_call.empty();
  if (missing.empty())
    for (const std::size_t rank : image.elsewhere_in_program) {
      const std::string last = name_of(rows[rank]);
      missing += tell({rank}, {"is busy elsewhere: it made no call " + (last.empty() ? "yet" : "after " + last),
                               last.empty() ? "別の処理をしていて、まだ何も呼び出していません"
                                            : "別の処理をしていて、" + last + " の後は何も呼び出していません"});
    }
  if (apart)
    for (const std::size_t rank : image.in_another_call)
      missing += tell({rank}, {fmt::format("waits in {} instead", name_of(rows[rank])),
                               fmt::format("別の呼び出し {} で待っています", name_of(rows[rank]))});
  const bool all_in_calls = missing.empty();
  if (all_in_calls && (!image.messages || local_size < job_size)) return {};
  missing += tell_waiting(image);
  if (apart)
    missing += in_language(
        Text{"All ranks have to make the same calls. ", "すべてのランクが同じ呼び出しを行う必要があります。"});
  if (all_in_calls)
    missing += in_language(
        Text{"A send waits until its message is received: each needs its receive on the other rank. ",
             "send は、メッセージが受け取られるまで待ちます。それぞれに、相手のランクでの receive が必要です。"});
  return std::string(trim(missing));
}

bool is_deadlocked() {
  if (rows.size() == 1 || local_size < job_size) return false;
  const Row* collective = nullptr;
  bool all_wait = true, messages = false, calls_differ = false;
  const auto state = [](const Row& row) { return row.process == 0 ? ProcessState::stopped : state_of(row.process); };
  if (std::ranges::any_of(rows, [&](const Row& row) { return state(row) == ProcessState::ended; })) return true;
  for (const Row& row : rows) {
    all_wait = all_wait && state(row) == ProcessState::running && row.inside > 0;
    messages = messages || in_message(row);
    if (in_message(row)) continue;
    if (!collective) collective = &row;
    if (row.calls != collective->calls) return false;  // the one that is behind may be at work in its call
    calls_differ = calls_differ || read(row.name) != read(collective->name);
  }
  if (!all_wait || !(messages || calls_differ)) return false;
  for (std::size_t a = 0; a < rows.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (in_message(rows[a]) && in_message(rows[b]) &&
          meet(rows[a], rows[b], static_cast<int>(a), static_cast<int>(b)))
        return false;
  return true;
}

std::string table(const std::string& language) {
  const bool japanese = language == "ja";
  std::string text = japanese ? "  ランク  状態\n" : "  rank  what it does\n";
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const Row& row = rows[rank];
    if (row.process == 0 && local_size < job_size) continue;  // on another node
    const ProcessState state = row.process == 0 ? ProcessState::running : state_of(row.process);
    const std::string name = read(row.name);
    const std::string number = fmt::format("{} {}", japanese ? "、集団通信" : ", collective", row.calls.load());
    const std::string call = name_of(row) + (row.sends_to != 0 || row.takes_from != 0 ? "" : number);
    const auto say = [&](const char* english, const char* in_japanese) {
      return fmt::format(fmt::runtime(japanese ? in_japanese : english), fmt::arg("call", call),
                         fmt::arg("seconds", (now() - row.since) / 1'000'000'000));
    };
    const std::string what =
        row.process == 0               ? say("did not come to MPI_Init()", "MPI_Init() を呼び出していない")
        : state == ProcessState::ended ? say("has ended; last call: {call}", "終了した。最後の呼び出し: {call}")
        : state == ProcessState::stopped ? say("is stopped; last call: {call}", "停止している。最後の呼び出し: {call}")
        : row.inside == 0                ? say("has made no call since {call}, which it left {seconds} s ago",
                                               "{seconds} 秒前に終えた {call} の後は何も呼び出していない")
        : name == last_call              ? say("has come to its end, and waits for the others there since {seconds} s",
                                               "プログラムの終わりに達し、{seconds} 秒前から他のランクを待っている")
                            : say("waits in {call} since {seconds} s", "{seconds} 秒前から {call} で待っている");
    text += fmt::format("  {:<4}  {}\n", rank, what);
  }
  return text;
}

std::string who_is_elsewhere() {
  if (job_size <= local_size) return {};
  if (const Image image = look(); image.messages && rows.size() > 1)
    return in_language({"{}The other ranks are on {}.", "{}ほかのランクは{}にあります。"}, tell_waiting(image),
                       other_hosts.empty() ? in_language(Text{"other machines", "別のマシン"})
                                           : in_language(Text{other_hosts, " " + other_hosts + " "}));
  const Text here{rows.size() == 1 ? "This rank" : "Each rank of " + host(),
                  rows.size() == 1 ? "このランク" : host() + " の全ランク"},
      others{": the others are on " + other_hosts, "（ほかのランクは " + other_hosts + " にあります）"};
  return in_language(
      {"{} has come to {}, but another has not{}.", "{}は {} に達しましたが、ほかに達していないランクがあります{}。"},
      in_language(here), name_of(*mine), other_hosts.empty() ? "" : in_language(others));
}

bool claim_report() noexcept { return head->spoken.exchange(1) == 0; }
bool claim_table() noexcept { return head->shown.exchange(1) == 0; }

}  // namespace odori::rank_table
