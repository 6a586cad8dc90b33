#include "program/rank_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace odori::rank_table {
namespace {

// Zeros are an empty row, as a new file has them. What belongs together is read while others write: a row that is seen
// in between is seen again, as only a standstill is told.
struct alignas(64) Row {
  std::atomic<std::int32_t> process;  // its PID; 0: has not joined
  std::atomic<std::uint32_t> inside;  // how deep in calls
  std::atomic<std::uint64_t> calls, moves;
  std::array<std::atomic<std::uint64_t>, 3> name;  // of the call, cut to 24 characters
  std::atomic<std::int32_t> sends_to, takes_from;  // a message's other ranks, counted from 1; 0: none; -1: several
};
struct alignas(64) Head {
  std::atomic<std::uint32_t> spoken;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(Row) == 64 && sizeof(Head) == 64);

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

void write_call(const Call& call) noexcept {
  std::array<std::uint64_t, 3> words{};
  if (call.name) std::memcpy(words.data(), call.name, std::min(std::strlen(call.name), sizeof words));
  for (std::size_t i = 0; i < words.size(); ++i) mine->name[i].store(words[i], std::memory_order_relaxed);
  mine->sends_to.store(call.to + 1, std::memory_order_relaxed);
  mine->takes_from.store(call.from + 1, std::memory_order_relaxed);
}

/// "comm->all_reduce_mean()", "send to 1", "exchange with 1", "exchange: to 1, from 3"
std::string name_of(const Row& row) {
  std::array<std::uint64_t, 3> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = row.name[i].load();
  const std::string_view all(reinterpret_cast<const char*>(words.data()), sizeof words);
  const std::string name(all.substr(0, all.find('\0')));
  const int to = row.sends_to - 1, from = row.takes_from - 1;
  if (to >= 0 && from >= 0)
    return to == from ? fmt::format("{} with {}", name, to) : fmt::format("{}: to {}, from {}", name, to, from);
  return to >= 0 ? fmt::format("{} to {}", name, to) : from >= 0 ? fmt::format("{} from {}", name, from) : name;
}

bool in_message(const Row& row) { return row.inside > 0 && (row.sends_to != 0 || row.takes_from != 0); }

enum class State { here, stopped, ended };

State state_of(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos || after_name + 2 >= text.size())
    return ::kill(process, 0) != 0 && errno == ESRCH ? State::ended : State::here;
  switch (text[after_name + 2]) {
    case 'T':
    case 't':
      return State::stopped;
    case 'Z':
    case 'X':
      return State::ended;
  }
  return State::here;
}

std::string host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// "Rank 1", "Ranks 0, 2 and 3".
std::string in_words(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t most = 8;
  std::string words = ranks.size() == 1 ? "Rank" : "Ranks";
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
    words += fmt::format("{}{}", i == 0 ? " " : i + 1 == ranks.size() ? " and " : ", ", ranks[i]);
  return ranks.size() <= most ? words : words + fmt::format(" and {} more", ranks.size() - most);
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
    const State state = row.process == 0 ? State::here : state_of(row.process);
    const bool waits = image.messages ? row.inside > 0 : row.calls == ahead.calls && name_of(row) == image.call;
    (row.process == 0          ? image.absent
     : state == State::stopped ? image.stopped
     : state == State::ended   ? image.ended
     : waits                   ? image.waiting
     : row.inside > 0          ? image.in_another_call
                               : image.elsewhere_in_program)
        .push_back(rank);
  }
  return image;
}

/// "Ranks 0 and 2 wait in comm->all_reduce_mean()."; with messages "Rank 0 waits in send to 1, rank 1 in send to 0."
std::string tell_waiting(const Image& image) {
  const std::vector<std::size_t>& ranks = image.waiting;
  if (ranks.empty()) return {};
  if (!image.messages)
    return fmt::format("{} {} in {}. ", in_words(ranks), ranks.size() == 1 ? "waits" : "wait", image.call);
  constexpr std::size_t most = 8;
  std::string words;
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
    words += fmt::format("{} {}{} in {}", i == 0 ? "Rank" : ", rank", ranks[i], i == 0 ? " waits" : "",
                         name_of(rows[ranks[i]]));
  return words + (ranks.size() <= most ? ". " : fmt::format(", and {} more wait. ", ranks.size() - most));
}

/// "Rank 1 (host, PID 7) is stopped.", for each of the ranks.
std::string tell(const std::vector<std::size_t>& ranks, const std::string& what) {
  std::string sentences;
  for (const std::size_t rank : ranks)
    sentences += fmt::format("Rank {} ({}, PID {}) {}. ", rank, host(), rows[rank].process.load(), what);
  return sentences;
}

}  // namespace

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
  at_work();
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
  at_work();
  return outer;
}

void leave(const Call& outer) noexcept {
  call_here = outer;
  if (outer.name) write_call(outer);
  mine->inside.store(mine->inside.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  at_work();
}

void at_work() noexcept { mine->moves.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t moves() noexcept {
  std::uint64_t sum = 0;
  for (const Row& row : rows) sum += row.moves.load(std::memory_order_relaxed);
  return sum;
}

std::string who_is_missing() {
  if (rows.size() == 1) return {};
  const Image image = look();
  const auto joined = static_cast<int>(rows.size() - image.absent.size());
  std::string missing = tell(image.stopped, "is stopped, by a signal or a debugger") + tell(image.ended, "has ended");
  if (joined < local_size)
    missing += fmt::format("{} did not come to MPI_Init(): not started yet, stopped, or ended before. ",
                           local_size == job_size
                               ? in_words(image.absent) + " (" + host() + ")"
                               : fmt::format("{} of the {} ranks of {}", local_size - joined, local_size, host()));
  const bool apart = missing.empty() && image.elsewhere_in_program.empty() && !image.in_another_call.empty();
  if (missing.empty())
    for (const std::size_t rank : image.elsewhere_in_program) {
      const std::string last = name_of(rows[rank]);
      missing += tell({rank}, "is busy elsewhere: it made no call " + (last.empty() ? "yet" : "after " + last));
    }
  if (apart)
    for (const std::size_t rank : image.in_another_call)
      missing += tell({rank}, fmt::format("waits in {} instead", name_of(rows[rank])));
  const bool all_in_calls = missing.empty();
  if (all_in_calls && (!image.messages || local_size < job_size)) return {};
  missing += tell_waiting(image);
  if (apart) missing += "All ranks have to make the same calls. ";
  if (all_in_calls) missing += "A send waits until its message is received: each needs its receive on the other rank. ";
  missing.pop_back();
  return missing;
}

std::string who_is_elsewhere() {
  if (job_size <= local_size) return {};
  if (const Image image = look(); image.messages && rows.size() > 1)
    return fmt::format("{}The other ranks are on {}.", tell_waiting(image),
                       other_hosts.empty() ? "other machines" : other_hosts);
  return fmt::format("{} has come to {}, but another has not{}.",
                     rows.size() == 1 ? "This rank" : "Each rank of " + host(), name_of(*mine),
                     other_hosts.empty() ? "" : ": the others are on " + other_hosts);
}

bool may_speak() noexcept { return head->spoken.exchange(1) == 0; }

}  // namespace odori::rank_table
