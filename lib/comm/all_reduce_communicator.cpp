// A communicator whose algorithm is a function.
#include "comm/collective.h"
#include "comm/mpi_communicator.h"
#include "core/error.h"

namespace odori {
namespace {

class AllReduceCommunicator : public MpiCommunicator {
 public:
  AllReduceCommunicator(AllReduce all_reduce, std::string name)
      : all_reduce_(std::move(all_reduce)), name_(std::move(name)) {}

  std::string name() const override { return name_; }

  void mean(Device& device, Buffer& gradients, std::span<const Range>) override {
    require(!runs_, "The all-reduce of {} called comm.mean(), which calls that all-reduce.", name_);
    const Running running(runs_);
    const Collective call("comm->mean()");
    const trace::Span span("allreduce");  // its messages say how many bytes
    on_host(device, gradients, {0, gradients.size()}, gradients.size(),
            [this](std::span<float> numbers) { all_reduce_(numbers, *this); });
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

std::unique_ptr<Communicator> make_all_reduce_communicator(AllReduce all_reduce, std::string name) {
  return std::make_unique<AllReduceCommunicator>(std::move(all_reduce), std::move(name));
}

std::unique_ptr<Communicator> create_communicator(AllReduce all_reduce, std::string name) {
  require(static_cast<bool>(all_reduce), "The communicator {} was given an all-reduce that is null.", name);
  const auto own = [all_reduce = std::move(all_reduce)](std::span<float> numbers, Communicator& comm) {
    const evidence::OwnAlgorithm learners;
    all_reduce(numbers, comm);
  };
  return make_all_reduce_communicator(own, std::move(name));
}

}  // namespace odori
