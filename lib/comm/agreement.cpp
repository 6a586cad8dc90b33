// SPDX-License-Identifier: Apache-2.0
#include "comm/agreement.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/mpi_check.h"
#include "errors/error.h"
#include "errors/language.h"
#include "observe/hooks.h"
#include "observe/refusal.h"
#include "program/rank_table.h"

namespace odori {
namespace {

MPI_Comm job_to_agree = MPI_COMM_NULL;  // all ranks; nothing else is sent there
bool checks_all = false, waits_asleep = false;

/// A rank's plan, for the others. Longer texts are cut.
struct Said {
  std::array<char, 64> call{}, inner{}, site{};
  std::int64_t length = -1, root = -1;
};

template <std::size_t n>
void copy_text(std::array<char, n>& to, std::string_view text) {
  text.substr(0, n - 1).copy(to.data(), n - 1);
}

/// `call`: the outermost call in progress, such as scatter_dataset(), or the planned one.
Said say(const CollectiveCall& plan) {
  Said said{.length = plan.length, .root = plan.root};
  const observe::CollectiveScope* const outer = observe::CollectiveScope::outermost();
  copy_text(said.call, outer ? outer->name() : plan.name);
  copy_text(said.inner, plan.name);
  copy_text(said.site, rank_table::in_words(outer ? outer->site() : plan.site));
  return said;
}

std::uint64_t hash_of(const Said& said) {
  return std::hash<std::string>()(
      fmt::format("{} {} {} {}", said.call.data(), said.inner.data(), said.length, said.root));
}

bool all_equal(MPI_Comm comm, std::uint64_t own) {
  std::array<std::uint64_t, 2> least{own, ~own};  // the least complement is that of the greatest
  MPI_Request request = MPI_REQUEST_NULL;
  if (waits_asleep) {
    ODORI_MPI(MPI_Iallreduce(MPI_IN_PLACE, least.data(), 2, MPI_UINT64_T, MPI_MIN, comm, &request));
    await({&request, 1});
  } else {
    ODORI_MPI(MPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_UINT64_T, MPI_MIN, comm));
  }
  return least[0] == ~least[1];
}

/// "Rank 0 is in scatter_dataset() (train.cpp:58), rank 1 in comm->barrier() (train.cpp:80), both as collective 7: ..."
Text different_calls(const std::vector<Said>& all, const std::vector<int>& ranks, std::uint64_t number, bool inner) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> places;  // by their lowest rank
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::string place = fmt::format("{}{}", (inner ? all[r].inner : all[r].call).data(), all[r].site.data());
    const auto known = std::ranges::find(places, place, [](const auto& entry) { return entry.first; });
    auto& those = known == places.end() ? places.emplace_back(place, std::vector<std::size_t>{}).second : known->second;
    those.push_back(static_cast<std::size_t>(ranks[r]));
  }
  Text text;
  for (const auto& [place, those] : places) {
    const bool first = text.english.empty(), ended = place == rank_table::last_call;
    text.english += fmt::format("{}{} {}in {}{}", first ? "" : ", ", rank_table::in_words(those, first),
                                !first              ? ""
                                : those.size() == 1 ? "is "
                                                    : "are ",
                                place, ended ? ", at the end of the program" : "");
    text.japanese += fmt::format("{}ランク {} は {}{}", first ? "" : "、", fmt::join(those, ", "), place,
                                 ended ? "（プログラムの終わり）" : "");
  }
  text.english += fmt::format(", {} as collective {}: all ranks must make the same calls in the same order.",
                              all.size() == 2 ? "both" : "all", number);
  text.japanese += fmt::format(
      " を呼び出しました（いずれも {} 番目の集団通信）。すべてのランクが同じ呼び出しを同じ順序で行う必要があります。",
      number);
  return text;
}

}  // namespace

void start_agreements(bool check) {
  checks_all = check;
  ODORI_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &job_to_agree));
}

void agree_asleep() { waits_asleep = true; }
bool checks_all_calls() noexcept { return checks_all; }

void agree(MPI_Comm comm, const std::vector<int>& ranks, std::uint64_t number, const CollectiveCall& own) {
  if (ranks.size() == 1) return;
  const Said said = say(own);
  if (all_equal(comm, hash_of(said))) return;
  std::vector<Said> all(ranks.size());
  ODORI_MPI(MPI_Allgather(&said, sizeof said, MPI_BYTE, all.data(), sizeof said, MPI_BYTE, comm));
  const auto differing = [&all](auto Said::*member) {
    const auto differs = [&](const Said& one) { return one.*member != all.front().*member; };
    return static_cast<std::size_t>(std::ranges::find_if(all, differs) - all.begin());
  };
  const bool same_call = differing(&Said::call) == all.size();
  if (!same_call || differing(&Said::inner) < all.size())
    throw Error(different_calls(all, ranks, number, same_call), exit_code::hang);
  const std::string_view full = own.name, name = full.substr(0, full.find('('));
  const bool length = differing(&Said::length) < all.size();
  const std::size_t r = differing(length ? &Said::length : &Said::root);
  const Said &first = all.front(), &other = all[r];
  const char* const unit = own.unit == std::string_view("bytes") ? "バイト" : "要素";
  if (length) observe::on_refusal(refusal::other_length);
  const Text text =
      length
          ? Text{fmt::format("{}: rank {} gave {} {}, and rank {} gave {}. Give the same number on every rank{}.", name,
                             ranks[0], first.length, own.unit, ranks[r], other.length, first.site.data()),
                 fmt::format("{}: ランク {} は {} {}、ランク {} は {} {}です。すべてのランクで同じ数にしてください{}。",
                             name, ranks[0], first.length, unit, ranks[r], other.length, unit, first.site.data())}
          : Text{
                fmt::format("{}: rank {} names the root {}, and rank {} names {}. Name the same root on every rank{}.",
                            name, ranks[0], first.root, ranks[r], other.root, first.site.data()),
                fmt::format("{}: ルートとして、ランク {} は {} を、ランク {} は {} を指定しました。すべてのランクで同じ"
                            "ルートを指定してください{}。",
                            name, ranks[0], first.root, ranks[r], other.root, first.site.data())};
  throw Error(text);
}

void agree(const CollectiveCall& own) {
  static const std::vector<int> ranks = [] {
    int size = 0;
    ODORI_MPI(MPI_Comm_size(job_to_agree, &size));
    std::vector<int> all(static_cast<std::size_t>(size));
    for (int r = 0; r < size; ++r) all[static_cast<std::size_t>(r)] = r;
    return all;
  }();
  agree(job_to_agree, ranks, rank_table::calls(), own);
}

}  // namespace odori
