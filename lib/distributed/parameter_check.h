// SPDX-License-Identifier: Apache-2.0
// Checks every N updates that all ranks have the same parameters (--check-every N).
#pragma once

#include <cstdint>
#include <string>

#include "comm/communicator.h"
#include "train/extension.h"

namespace odori {

/// Throws Error on all ranks, which names the ranks and the parameter, unless the parameters are equal on all ranks,
/// bit by bit. Runs every `every` updates, collectively. `comm` must outlive it.
class ParameterCheck : public Extension {
 public:
  ParameterCheck(Communicator& comm, int every) : comm_(&comm), every_(every) {}
  Trigger trigger() const override { return Trigger::iteration; }
  int priority() const override { return writer + 1; }  // before anything uses this model
  std::string name() const override { return "ParameterCheck"; }
  std::string setting(Trainer& trainer) const override;
  void run(Trainer& trainer) override;
  void finalize(Trainer& trainer) noexcept override;  // rank 0 prints the number of checks without a difference

 private:
  Communicator* comm_;
  int every_;
  std::int64_t compared_ = 0, equal_ = 0;  // checks
};

}  // namespace odori
