// SPDX-License-Identifier: Apache-2.0
// What the ranks of one node know of each other without MPI, so that a hang can be explained while MPI hangs: a small
// table in shared memory. Each rank writes its own row, in a few nanoseconds; watches (threads/watch.h) read all rows.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace odori::rank_table {

/// This process takes its row, before MPI_Init. False for a job of one rank. Open MPI's variables say who is who
/// (PMIX_NAMESPACE, OMPI_COMM_WORLD_...); where they are missing, or shared memory is, each rank knows of itself alone.
bool join();
/// All `size` ranks of the job have joined: the table loses its name, and so can't outlive them.
void all_joined(int size);
/// Where the ranks of other nodes are, for the message.
void set_other_hosts(const std::string& hosts);

/// In the place of a message's other rank: any of them, or several.
inline constexpr int several = -2;

/// A call in which a rank waits for others: one that all ranks have to make, or a message.
struct Call {
  const char* name = nullptr;   // must outlive the call
  int to = -1, from = -1;       // a message's other ranks; -1: none
  std::source_location site{};  // of the program's call; line 0: unknown
  bool is_message() const noexcept { return to != -1 || from != -1; }
};
/// Of a rank whose program has come to its end.
inline constexpr const char* last_call = "MPI_Finalize()";
/// " (train.cpp:58)", or empty if the place is unknown.
std::string in_words(const std::source_location& site);
/// "Rank 1", "Ranks 0, 2 and 3"; in a sentence "rank 1".
std::string in_words(const std::vector<std::size_t>& ranks, bool first = true);

/// This rank makes this call. Returns the one that it is part of, or one without a name; leave() wants that back. Of
/// the thread that talks to the other ranks.
Call enter(const Call& call) noexcept;
void leave(const Call& outer) noexcept;
/// How many calls other than messages this rank has entered.
std::uint64_t calls() noexcept;
/// This rank is at work: a batch was computed. From any thread.
void at_work() noexcept;

/// Changes whenever a rank of this node joins, enters or leaves a call, or is at work.
std::uint64_t moves() noexcept;
/// "Rank 1 (host, PID 7) is stopped, by a signal or a debugger. Rank 0 waits in comm->all_reduce_mean().", or, of
/// messages, "Rank 0 waits in send to 1, rank 1 in send to 0." Empty if none of this node's ranks is missing, and if a
/// message's other rank may be on another node.
std::string who_is_missing();
/// True if each rank of the job is on this node, and waits for what no other one does: where nothing has moved for a
/// while, nothing will. Also true if one has ended.
bool waits_for_ever();
/// Each rank of this node: its last call with number and place, and since when it is there or has left it. In this
/// language (language.h).
std::string table(const std::string& language);
/// "Each rank of HOST has come to comm->all_reduce_mean(), but another has not: the others are on OTHER HOSTS." Empty
/// if there are no others.
std::string who_is_elsewhere();
/// True once a node: the one that may tell what all of them have found.
bool may_speak() noexcept;
/// The same for the table.
bool may_show_table() noexcept;

}  // namespace odori::rank_table
