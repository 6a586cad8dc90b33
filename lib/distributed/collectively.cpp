// SPDX-License-Identifier: Apache-2.0
#include "distributed/collectively.h"

#include <algorithm>
#include <string>
#include <vector>

#include "errors/error.h"
#include "observe/hooks.h"
#include "program/program.h"

namespace odori {

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
