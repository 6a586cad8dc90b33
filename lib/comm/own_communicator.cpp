// SPDX-License-Identifier: Apache-2.0
// A communicator whose algorithm is a user-defined function.
#include "comm/communicator.h"
#include "comm/mpi_communicator.h"
#include "errors/error.h"
#include "observe/hooks.h"

namespace odori {
namespace {

class OwnCommunicator : public MpiCommunicator {
 public:
  OwnCommunicator(AllReduce all_reduce, std::string name)
      : MpiCommunicator(Cut::whole), all_reduce_(std::move(all_reduce)), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  const AllReduce& function() const { return all_reduce_; }

 protected:
  bool takes_packed() const override { return false; }
  void all_reduce(std::span<float> values) override {
    require(!runs_, "The all-reduce of {} called comm.all_reduce_mean(), which calls that all-reduce.", name_);
    const Running running(runs_);
    const observe::LearnerScope learner;
    all_reduce_(values, *this);
  }

 private:
  struct Running {
    explicit Running(bool& runs) : runs_(runs) { runs_ = true; }
    ~Running() { runs_ = false; }
    bool& runs_;
  };

  AllReduce all_reduce_;
  std::string name_;
  bool runs_ = false;
};

}  // namespace

std::unique_ptr<Communicator> create_communicator(AllReduce all_reduce, std::string name) {
  require(static_cast<bool>(all_reduce), "The communicator {} was given an all-reduce that is null.", name);
  agree_on_communicator(name);
  return std::make_unique<OwnCommunicator>(std::move(all_reduce), std::move(name));
}

const AllReduce& all_reduce_of(const Communicator& comm) {
  const auto* own = dynamic_cast<const OwnCommunicator*>(&comm);
  require(own, "{} has no all-reduce of its own: create_communicator(all_reduce, name) makes one that has.",
          comm.name());
  return own->function();
}

}  // namespace odori
