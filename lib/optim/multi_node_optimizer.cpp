#include "optim/multi_node_optimizer.h"

#include "comm/device_sharing.h"
#include "optim/multi_node_agreement.h"
#include "trace/evidence.h"

namespace odori {
namespace {

class MultiNodeOptimizer : public Optimizer {
 public:
  MultiNodeOptimizer(std::unique_ptr<Optimizer> actual, Communicator& comm) : actual_(std::move(actual)), comm_(comm) {}

  void setup(Classifier& model) override {
    const evidence::Collective call("optimizer->setup()");
    agree_on_model(model, comm_);
    shares_devices_ = find_sharing(comm_, model.device()).any;
    comm_.broadcast(model.device(), model.memory().parameters);
    comm_.broadcast(model.device(), model.memory().statistics);
    for (const NamedView& parameter : model.parameters())
      pieces_.push_back({parameter.view.offset, parameter.view.offset + parameter.view.size()});
    actual_->setup(model);
  }

  void synchronize() override {
    const evidence::Collective call("optimizer->update()");
    actual_->synchronize();
    comm_.all_reduce_mean(model().device(), model().memory().gradients, pieces_);
  }

  bool synchronizes() const override { return true; }
  bool shares_devices() const override { return shares_devices_; }
  std::string link() const override { return comm_.link(); }
  using Optimizer::update;
  void update(Range range) override { actual_->update(range); }

  void add_hook(std::unique_ptr<Hook> hook) override { actual_->add_hook(std::move(hook)); }
  Classifier& model() override { return actual_->model(); }
  float learning_rate() const override { return actual_->learning_rate(); }
  void set_learning_rate(float rate) override { actual_->set_learning_rate(rate); }
  std::vector<std::vector<float>> state() override { return actual_->state(); }
  void restore(const std::vector<std::vector<float>>& state) override { actual_->restore(state); }

 private:
  std::unique_ptr<Optimizer> actual_;
  Communicator& comm_;
  std::vector<Range> pieces_;  // one a parameter
  bool shares_devices_ = false;
};

}  // namespace

std::unique_ptr<Optimizer> create_multi_node_optimizer(std::unique_ptr<Optimizer> optimizer, Communicator& comm) {
  return std::make_unique<MultiNodeOptimizer>(std::move(optimizer), comm);
}

}  // namespace odori
