// SPDX-License-Identifier: Apache-2.0
// A table in shared memory of what each rank of a node does, to explain hangs without MPI. Each rank writes its own
// row, in a few nanoseconds; watchdogs (threads/watchdog.h) read all rows.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace odori::rank_table {

/// Takes this process's row. Call it before MPI_Init. Returns false for a job of one rank, or if Open MPI does not
/// say its size. Uses Open MPI's variables
/// (PMIX_NAMESPACE, OMPI_COMM_WORLD_...). Without them, or without shared memory, each rank has a private table.
bool join();
/// All `size` ranks of the job have joined. Unlinks the shared memory.
void all_joined(int size);
/// Sets the hosts of ranks on other nodes, for messages.
void set_other_hosts(const std::string& hosts);

/// Value of Call::to or Call::from: any rank, or several.
inline constexpr int several = -2;

/// A call in which a rank waits for others: a collective or a message.
struct Call {
  const char* name = nullptr;   // must outlive the call
  int to = -1, from = -1;       // a message's other ranks; -1: none
  std::source_location site{};  // where the program makes the call; line 0: unknown
  bool is_message() const noexcept { return to != -1 || from != -1; }
};
/// Name of the call of a rank whose program has ended.
inline constexpr const char* last_call = "MPI_Finalize()";
/// " (train.cpp:58)", or empty if the place is unknown.
std::string in_words(const std::source_location& site);
/// "Rank 1", "Ranks 0, 2 and 3"; in a sentence "rank 1".
std::string in_words(const std::vector<std::size_t>& ranks, bool first = true);

/// Records that this rank enters a call. Returns the enclosing call, or one without a name, for leave(). Only for the
/// thread that communicates.
Call enter(const Call& call) noexcept;
void leave(const Call& outer) noexcept;
/// Number of calls of all ranks that this rank has entered: MPI_Init() and collectives, without those of some ranks.
std::uint64_t calls() noexcept;
/// The heartbeat: records that this rank works, for example has computed a batch. Thread-safe.
void heartbeat() noexcept;

/// A progress counter: increases when a rank of this node joins, enters or leaves a call, or calls heartbeat().
std::uint64_t progress() noexcept;
/// Returns "Rank 1 (host, PID 7) is stopped, by a signal or a debugger. Rank 0 waits in comm->all_reduce_mean()." or,
/// for messages, "Rank 0 waits in send to 1, rank 1 in send to 0." Empty if all ranks of this node wait in calls,
/// unless one waits for a message and the job has no other node.
std::string who_is_missing();
/// True if the job is deadlocked, provided that there was no progress for a while: all ranks are on this node, and each
/// waits for something that no other does, or a rank has ended.
bool is_deadlocked();
/// A text with one line per rank of this node: its last call with number and place, and since when it is in it or has
/// left it. `language`: as in errors/language.h.
std::string table(const std::string& language);
/// Returns "Each rank of HOST has come to comm->all_reduce_mean(), but another has not: the others are on OTHER HOSTS."
/// Empty if all ranks are on this node.
std::string who_is_elsewhere();
/// Returns true to the first caller of this node only: the rank that reports a hang.
bool claim_report() noexcept;
/// The same for table().
bool claim_table() noexcept;

}  // namespace odori::rank_table
