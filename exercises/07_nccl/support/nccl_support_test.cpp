// SPDX-License-Identifier: Apache-2.0
// The network on emulated GPUs, and errors of CUDA and NCCL.
#include "nccl_support.h"

#include <gtest/gtest.h>

#include <string>

#include "backend/emulated/emulator.h"
#include "errors/error.h"
#include "gpu/memory.h"
#include "gpu/reference.h"

namespace odori {
namespace {

template <typename Call>
std::string sentence(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

class NcclSupport : public testing::Test {
 protected:
  NcclSupport() { emulator::set_machine({.gpus = 2}); }
};

TEST_F(NcclSupport, ErrorsNameTheCall) {
  EXPECT_EQ(sentence([] { CUDA_CHECK(cudaSetDevice(0)); }), "none");
  EXPECT_EQ(sentence([] { CUDA_CHECK(cudaSetDevice(2)); }),
            "cudaSetDevice(2) failed: this process sees 2 GPUs, which count from 0.");
  const std::string not_allocated = sentence([] {
    int on_host = 0;
    CUDA_CHECK(cudaFree(&on_host));
  });
  EXPECT_EQ(not_allocated, "cudaFree(&on_host) failed: invalid argument (cudaErrorInvalidValue).");
  const std::string outside = sentence([] {
    ncclUniqueId id;
    NCCL_CHECK(ncclGetUniqueId(&id));
    ncclComm_t comm = nullptr;
    NCCL_CHECK(ncclCommInitRank(&comm, 2, id, 2));
  });
  EXPECT_NE(outside.find("ncclCommInitRank(&comm, 2, id, 2) failed"), std::string::npos) << outside;
  EXPECT_NE(outside.find("the rank must be from 0"), std::string::npos) << outside;
}

/// The gradient of the loss, by differences, for one weight of each layer.
TEST_F(NcclSupport, GradientsAreThoseOfTheLoss) {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    Perceptron network(0, 1);
    const auto loss = [&] {
      network.forward(0, stream);
      return to_host(network.loss(), 1)[0];
    };
    loss();
    for (int layer = Perceptron::layers - 1; layer >= 0; --layer) network.backward(layer, stream);
    for (int layer = 0; layer < Perceptron::layers; ++layer) {
      const float gradient = to_host(network.gradients(layer), 1)[0];
      float* const weight = network.memory().parameters + network.memory().begin(layer);
      const float before = to_host(weight, 1)[0];
      const auto loss_at = [&](float value) {
        CUDA_CHECK(cudaMemcpy(weight, &value, sizeof value, cudaMemcpyHostToDevice));
        return loss();
      };
      const float difference = (loss_at(before + 5e-3f) - loss_at(before - 5e-3f)) / 1e-2f;
      loss_at(before);
      EXPECT_NEAR(gradient, difference, 2e-3) << layer;
    }
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST_F(NcclSupport, TheReferenceAveragesOverRanks) {
  const Reference one = train_on_one_gpu(1, 3, 1), two = train_on_one_gpu(2, 3, 0.5f), sum = train_on_one_gpu(2, 3, 1);
  EXPECT_EQ(one.losses.size(), 3u);
  EXPECT_EQ(two.losses.size(), 6u);
  EXPECT_EQ(one.losses[0], two.losses[0]);  // the same first weights
  EXPECT_NE(one.weights, two.weights);
  EXPECT_NE(sum.weights, two.weights);
  EXPECT_EQ(two.weights.size(), Perceptron::Memory::all_parameters());
}

}  // namespace
}  // namespace odori
