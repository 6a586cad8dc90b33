// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "comm/algorithm.h"
#include "errors/error.h"

namespace odori {
namespace {

/// The last one that listed itself, in no order that could be told.
constinit const Algorithm* last_listed = nullptr;

class MessageCommunicator : public MpiCommunicator {
 public:
  MessageCommunicator(const char* name, ByMessages all_reduce)
      : MpiCommunicator(Cut::whole), name_(name), all_reduce_(all_reduce) {}
  std::string name() const override { return name_; }

 protected:
  void all_reduce(std::span<float> values) override { all_reduce_(values, *this, dtype(), memory_); }

 private:
  const char* name_;
  ByMessages all_reduce_;
  std::vector<float> memory_;
};

}  // namespace

Algorithm::Algorithm(const char* its_name, Make its_make, Seconds its_seconds, Takes takes, Check check) noexcept
    : name(its_name),
      seconds(its_seconds),
      check_machine(check),
      takes_half_precision(takes == Takes::half_precision_too),
      make_(its_make),
      by_messages_(nullptr),
      next_(std::exchange(last_listed, this)) {}

Algorithm::Algorithm(const char* its_name, ByMessages its_messages, Seconds its_seconds) noexcept
    : name(its_name),
      seconds(its_seconds),
      check_machine(nullptr),
      takes_half_precision(true),
      make_(nullptr),
      by_messages_(its_messages),
      next_(std::exchange(last_listed, this)) {}

std::unique_ptr<Communicator> Algorithm::create() const {
  if (by_messages_) return std::make_unique<MessageCommunicator>(name, by_messages_);
  return make_();
}

AllReduce Algorithm::all_reduce() const {
  require(by_messages_, "{} calls collectives of MPI or NCCL. Algorithms of messages alone: ring, tree.", name);
  return [by_messages = by_messages_](std::span<float> values, Communicator& comm) {
    std::vector<float> memory;
    by_messages(values, comm, Dtype::fp32, memory);
  };
}

const Algorithm* Algorithm::find(const std::string& name) {
  const Algorithm* one = last_listed;
  while (one && name != one->name) one = one->next_;
  return one;
}

const Algorithm& Algorithm::named(const std::string& name) {
  if (const Algorithm* one = find(name)) return *one;
  throw UsageError(
      fmt::format("There is no communicator \"{}\". There are: {}.", name, fmt::join(communicator_names(), ", ")));
}

std::vector<std::string> communicator_names() {
  std::vector<std::string> names;
  for (const Algorithm* one = last_listed; one; one = one->next_) names.emplace_back(one->name);
  std::ranges::sort(names);
  return names;
}

bool takes_half_precision(const std::string& name) {
  const Algorithm* one = Algorithm::find(name);
  return one && one->takes_half_precision;
}

std::unique_ptr<Communicator> create_communicator(const std::string& name) {
  const Algorithm& algorithm = Algorithm::named(name);
  // Told of a program that isn't under mpirun, too.
  if (algorithm.check_machine) algorithm.check_machine();
  agree_on_communicator(name);
  return algorithm.create();
}

}  // namespace odori
