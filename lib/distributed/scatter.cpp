// SPDX-License-Identifier: Apache-2.0
// What travels to a rank, its shard: a Header, then for each example a Label and its pixels.
#include "distributed/scatter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/sub_dataset.h"
#include "errors/error.h"
#include "observe/hooks.h"
#include "observe/refusal.h"

namespace odori {
namespace {

struct Header {
  Transform transform;
  std::int32_t n_classes;
};
struct Label {
  std::int64_t id;
  std::int32_t label;
  bool counted;
};
static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<Label>);
constexpr std::size_t example_bytes = sizeof(Label) + Example::bytes;

/// A data set that stands on the bytes that this rank received, and on nothing else.
class Shard : public Dataset {
 public:
  explicit Shard(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {
    std::memcpy(&header_, bytes_.data(), sizeof header_);
    storage_->parts.emplace_back(reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size());
  }
  std::size_t size() const override { return (bytes_.size() - sizeof(Header)) / example_bytes; }
  Example operator[](std::size_t i) const override {
    const std::byte* at = bytes_.data() + sizeof(Header) + i * example_bytes;
    Label label;
    std::memcpy(&label, at, sizeof label);
    return {.pixels = reinterpret_cast<const std::uint8_t*>(at + sizeof label),
            .label = label.label,
            .id = label.id,
            .counted = label.counted};
  }
  int n_classes() const override { return header_.n_classes; }
  const Transform& transform() const override { return header_.transform; }
  ImageStoragePtr storage() const override { return storage_; }

 private:
  std::vector<std::byte> bytes_;
  Header header_;
  std::shared_ptr<ImageStorage> storage_ = std::make_shared<ImageStorage>();
};

/// Every rank learns who has a data set, and its size; all throw the same Error if that is not the root alone.
std::size_t agree_on_size(const DatasetPtr& dataset, Communicator& comm, const ScatterOptions& options) {
  struct Said {
    std::size_t size;
    int root;
    bool given, equal;
  };
  const std::vector<Said> said = comm.all_gather(
      Said{dataset ? dataset->size() : 0, options.root, dataset != nullptr, options.force_equal_length});
  for (std::size_t r = 1; r < said.size(); ++r)
    refusal::require(refusal::other_data, said[r].root == said[0].root && said[r].equal == said[0].equal,
                     "scatter_dataset needs the same root and force_equal_length on every rank: rank 0 gave {} and {}, "
                     "rank {} gave {} and {}.",
                     said[0].root, said[0].equal, r, said[r].root, said[r].equal);
  refusal::require(refusal::other_data, options.root >= 0 && options.root < comm.size(),
                   "scatter_dataset: there is no root {} among {} ranks.", options.root, comm.size());
  const auto root = static_cast<std::size_t>(options.root);
  refusal::require(refusal::other_data, said[root].given,
                   "scatter_dataset: rank {} is the root and gave no data set; it has to load it.", root);
  std::vector<std::size_t> others;
  for (std::size_t r = 0; r < said.size(); ++r)
    if (r != root && said[r].given) others.push_back(r);
  refusal::require(refusal::other_data, others.empty(),
                   "scatter_dataset: only the root, rank {}, loads the data set and gives it; rank {} gave one too. "
                   "Theirs has to be empty.",
                   root, fmt::join(others, ", "));
  return said[root].size;
}

/// The root's side: every rank's shard, one behind the other.
std::vector<std::byte> pack(const Dataset& dataset, int size, const ScatterOptions& options, std::size_t total) {
  const std::size_t n = dataset.size();
  std::vector<std::int64_t> order;
  if (options.shuffle) {
    order = whole_set_order(n, options.seed);
  } else {
    order.resize(n);
    std::iota(order.begin(), order.end(), 0);
  }

  std::vector<std::byte> all(total);
  std::byte* to = all.data();
  const auto append = [&to](const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    to += bytes;
  };
  const Header header{dataset.transform(), dataset.n_classes()};
  for (int rank = 0; rank < size; ++rank) {
    const Range shard = shard_range(n, rank, size, options.force_equal_length);
    const Range owned = owned_range(n, rank, size, options.force_equal_length);
    append(&header, sizeof header);
    for (std::size_t i = shard.begin; i < shard.end; ++i) {
      const Example example = dataset[static_cast<std::size_t>(order[i])];
      const Label label{example.id, example.label, example.counted && i >= owned.begin && i < owned.end};
      append(&label, sizeof label);
      append(example.pixels, Example::bytes);
    }
  }
  return all;
}

}  // namespace

Range shard_range(std::size_t n, int rank, int size, bool force_equal_length) {
  const auto r = static_cast<std::size_t>(rank), parts = static_cast<std::size_t>(size);
  if (!force_equal_length) return owned_range(n, rank, size, false);
  const std::size_t begin = n * r / parts;
  return {begin, begin + (n + parts - 1) / parts};
}

Range owned_range(std::size_t n, int rank, int size, bool force_equal_length) {
  const auto r = static_cast<std::size_t>(rank), parts = static_cast<std::size_t>(size);
  if (force_equal_length) return {n * r / parts, n * (r + 1) / parts};
  const auto boundary = [&](std::size_t k) { return n / parts * k + std::min(k, n % parts); };
  return {boundary(r), boundary(r + 1)};
}

DatasetPtr scatter_dataset(const DatasetPtr& dataset, Communicator& comm, const ScatterOptions& options,
                           CallSite site) {
  const observe::CollectiveScope call("scatter_dataset()", site);
  observe::on_scatter_dataset(options.root);
  const std::size_t n = agree_on_size(dataset, comm, options);
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < comm.size(); ++rank)
    counts.push_back(sizeof(Header) +
                     shard_range(n, rank, comm.size(), options.force_equal_length).size() * example_bytes);

  std::vector<std::byte> all;
  if (dataset)
    all = pack(*dataset, comm.size(), options, std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  auto shard = std::make_shared<Shard>(comm.scatter(all, counts, options.root));
  const Range owned = owned_range(n, comm.rank(), comm.size(), options.force_equal_length);
  trace::instant("shard_received", trace::Args()
                                       .add("examples", static_cast<std::int64_t>(shard->size()))
                                       .add("owned", static_cast<std::int64_t>(owned.size()))
                                       .add("of", static_cast<std::int64_t>(n)));
  return shard;
}

}  // namespace odori
