// SPDX-License-Identifier: Apache-2.0
#include "distributed/multi_node_agreement.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "errors/error.h"
#include "errors/text.h"
#include "observe/hooks.h"
#include "program/program.h"

namespace odori {
namespace {

/// A line a parameter: "conv1/W, 64 x 3 x 3 x 3".
std::string describe_parameters(const Classifier& model) {
  std::string lines;
  for (const auto& [name, view] : model.parameters())
    lines += fmt::format("{}, {} x {} x {} x {}\n", name, view.shape.n, view.shape.c, view.shape.h, view.shape.w);
  return lines;
}

/// Where in the flat vector each number lies: backends, and oneDNN on another CPU, put them in orders of their own.
std::size_t hash_of_layout(Classifier& model) {
  Device& device = model.device();
  Buffer numbered = device.allocate(model.memory().parameters.size());
  std::vector<float> places(numbered.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(i % (1 << 23));  // exact
  device.write(numbered, 0, places);
  std::string bits;
  std::size_t hash = 0;
  for (const NamedView& parameter : model.parameters()) {
    const std::vector<float> plain = model.graph().read_parameter(numbered, parameter.view);
    bits.assign(reinterpret_cast<const char*>(plain.data()), plain.size() * sizeof(float));
    hash = hash * 31 + std::hash<std::string>()(bits);
  }
  return hash;
}

struct Fingerprint {
  std::size_t parameters = 0, layout = 0;  // hashes
  std::size_t length = 0;                  // of the parameters' description
};

}  // namespace

void agree_on_model(Classifier& model, Communicator& comm) {
  if (comm.size() == 1) return;
  const std::string own = describe_parameters(model);
  const auto all = comm.all_gather(Fingerprint{std::hash<std::string>()(own), hash_of_layout(model), own.size()});
  const auto other_than_first = [&](std::size_t Fingerprint::*member) {
    const auto differs = [&](const Fingerprint& of) { return of.*member != all.front().*member; };
    return static_cast<int>(std::find_if(all.begin(), all.end(), differs) - all.begin());
  };

  if (const int other = other_than_first(&Fingerprint::parameters); other < comm.size()) {
    std::string of_first = own, of_other = own;
    for (const auto& [text, rank] : {std::pair{&of_first, 0}, {&of_other, other}}) {
      text->resize(all[static_cast<std::size_t>(rank)].length);
      comm.broadcast(std::as_writable_bytes(std::span(*text)), rank);
    }
    std::vector<std::string> a = split_lines(of_first), b = split_lines(of_other);
    a.resize(std::max(a.size(), b.size()), "missing"), b.resize(a.size(), "missing");
    const auto at = std::mismatch(a.begin(), a.end(), b.begin());
    fail(
        "The ranks don't train the same network: parameter {} is {} on rank 0, and {} on rank {}. Give every rank the "
        "same --model, --dataset and --image-size.",
        at.first - a.begin() + 1, *at.first, *at.second, other);
  }
  const int other = other_than_first(&Fingerprint::layout);
  require(other == comm.size(),
          "The ranks' parameters lie in memory in different orders: those of rank {} otherwise than those of rank 0. "
          "Run all ranks on devices of the same kind, CPUs of the same model or GPUs.",
          other);
}

void agree_on_exchange(const std::string& words, Communicator& comm) {
  const std::vector<std::size_t> lengths = comm.all_gather(words.size());
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string own = words;
  own.resize(longest);
  const std::vector<std::byte> all = comm.all_gather(std::as_bytes(std::span(own)));
  std::map<std::string, std::vector<std::size_t>> ranks_of;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    ranks_of[{reinterpret_cast<const char*>(all.data()) + r * longest, lengths[r]}].push_back(r);
  if (ranks_of.size() == 1) return;
  std::string asked;
  for (const auto& [of, ranks] : ranks_of)
    asked += fmt::format("{}{} (rank {})", asked.empty() ? "" : "; ", of.empty() ? "all at once, in fp32" : of,
                         fmt::join(ranks, ", "));
  fail(
      "The ranks exchange gradients in different ways: {}. Give every rank the same --allreduce-dtype, --bucket-mib, "
      "--double-buffering and --sharded.",
      asked);
}

void collectively(Communicator* comm, const std::function<void()>& step) {
  if (!comm) return step();
  const observe::CollectiveScope call("Snapshot");
  std::string sentence;
  try {
    step();
  } catch (...) {
    sentence = sentence_of_current_exception();
  }
  const std::vector<std::size_t> lengths = comm->all_gather(sentence.size());
  const auto failed = std::find_if(lengths.begin(), lengths.end(), [](std::size_t length) { return length > 0; });
  if (failed == lengths.end()) return;
  const int rank = static_cast<int>(failed - lengths.begin());
  sentence.resize(*failed);
  comm->broadcast(std::as_writable_bytes(std::span(sentence)), rank);
  throw Error(sentence);
}

}  // namespace odori
