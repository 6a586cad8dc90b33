// SPDX-License-Identifier: Apache-2.0
#include "distributed/parameter_check.h"

#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <span>
#include <vector>

#include "errors/error.h"
#include "observe/hooks.h"
#include "train/terminal.h"
#include "train/trainer.h"

namespace odori {
namespace {

/// One checksum a parameter.
std::vector<std::uint32_t> checksums(Classifier& model) {
  const Buffer& parameters = model.memory().parameters;
  std::vector<float> numbers(parameters.size());
  model.device().read(parameters, 0, numbers);
  std::vector<std::uint32_t> sums;
  for (const NamedView& parameter : model.parameters())
    sums.push_back(static_cast<std::uint32_t>(::crc32_z(
        0, reinterpret_cast<const Bytef*>(&numbers[parameter.view.offset]), parameter.view.size() * sizeof(float))));
  return sums;
}

}  // namespace

std::string ParameterCheck::setting(Trainer&) const {
  return fmt::format("The ranks' parameters are compared after {}.",
                     every_ == 1 ? "each update" : fmt::format("every {} updates", every_));
}

void ParameterCheck::finalize(Trainer&) noexcept {
  if (comm_->rank() != 0 || equal_ != compared_) return;  // else an error tells of it
  print_line(compared_ > 0
                 ? fmt::format("The ranks' parameters were compared {} time{}, and no difference was found.", compared_,
                               compared_ == 1 ? "" : "s")
                 : fmt::format("The ranks' parameters were not compared: there were fewer than {} updates.", every_));
}

void ParameterCheck::run(Trainer& trainer) {
  if (trainer.updater().iteration() % every_ != 0) return;
  const observe::CollectiveScope call("ParameterCheck");
  ++compared_;
  Classifier& model = trainer.updater().model();
  const std::vector<std::uint32_t> own = checksums(model);
  const std::size_t n = own.size();
  std::vector<std::uint32_t> all(n * static_cast<std::size_t>(comm_->size()));
  const std::vector<std::byte> gathered = comm_->all_gather(std::as_bytes(std::span(own)));
  std::copy(gathered.begin(), gathered.end(), std::as_writable_bytes(std::span(all)).begin());

  std::vector<int> others;
  std::size_t first = n;
  for (int rank = 1; rank < comm_->size(); ++rank) {
    const auto of_rank = all.begin() + static_cast<std::ptrdiff_t>(n) * rank;
    const auto at = static_cast<std::size_t>(
        std::mismatch(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), of_rank).first - all.begin());
    if (at < n) others.push_back(rank);
    first = std::min(first, at);
  }
  require(
      others.empty(),
      "After update {} the ranks no longer have the same parameters: {} {} from rank 0, first in {}. The gradients of "
      "all ranks must be averaged before each update: is the optimizer wrapped by create_multi_node_optimizer(), "
      "with a communicator other than dummy?",
      trainer.updater().iteration(),
      fmt::format("{} {}", others.size() == 1 ? "rank" : "ranks", fmt::join(others, ", ")),
      others.size() == 1 ? "differs" : "differ", first < n ? model.parameters()[first].name : "");
  ++equal_;
}

}  // namespace odori
