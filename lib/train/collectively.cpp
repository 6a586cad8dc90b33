#include "train/collectively.h"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "core/error.h"
#include "trace/evidence.h"

namespace odori {

void collectively(Communicator* comm, const std::function<void()>& step) {
  if (!comm) return step();
  const evidence::Collective call("Snapshot");
  std::string sentence;
  try {
    step();
  } catch (const std::exception& error) {
    sentence = error.what();
  }
  // Place r holds the length of rank r's sentence, or nothing.
  std::vector<double> lengths(static_cast<std::size_t>(comm->size()));
  lengths[static_cast<std::size_t>(comm->rank())] = static_cast<double>(sentence.size());
  comm->sum(lengths);
  const auto failed = std::find_if(lengths.begin(), lengths.end(), [](double length) { return length > 0; });
  if (failed == lengths.end()) return;
  const int rank = static_cast<int>(failed - lengths.begin());
  sentence.resize(static_cast<std::size_t>(*failed));
  comm->broadcast(std::as_writable_bytes(std::span(sentence)), rank);
  throw Error(sentence);
}

}  // namespace odori
