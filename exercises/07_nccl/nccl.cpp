// Task 7: data parallel training by hand: CUDA streams, events and NCCL.
//
// Goal:    average gradients while backward computes the next ones, and without a wait of the host. Libraries such as
//          PyTorch make the same calls of CUDA and NCCL for you.
// Time:    45 minutes.
// Reading: streams, events and copies in docs.nvidia.com/cuda/cuda-runtime-api; the questions' functions, and group
//          calls, in docs.nvidia.com/deeplearning/nccl; exercises/07_nccl/support/nccl_support.h.
// Command: ./odori run nccl --ranks 2
// Output:  which GPUs the ranks use (emulated ones without a GPU), whether the weights are right, and when each
//          operation of the two streams runs.
//
// Each rank has one GPU. A call of CUDA or NCCL only queues work on a stream. Work of one stream runs in order. Work of
// two streams runs in any order, unless an event is recorded on one of them and the other one waits for it.
// CUDA_CHECK and NCCL_CHECK throw an Error if a call fails. Write each call inside one of them.
//
// Fill in the blanks: replace each PUT_YOUR_CODE by your own code.
#include "nccl_support.h"
#include "odori.h"

using namespace odori;

/// Chooses this process's GPU, of the `gpus` that it sees: 0, 1, ... gpus - 1.
void choose_gpu(const Communicator& comm, int gpus) {
  // BLANK 1: Which GPU does this process use? On each node, each rank uses another GPU. A node has at least as many
  //          GPUs as ranks. With CUDA_VISIBLE_DEVICES of length 1 a process sees only one of them, as number 0.
  PUT_YOUR_CODE;
  // END BLANK
}

/// Connects the GPUs of all ranks. Collective.
ncclComm_t connect(Communicator& comm) {
  ncclUniqueId id{};
  // BLANK 2: All ranks need one and the same id, made by ncclGetUniqueId(&id). How does each of them get it?
  PUT_YOUR_CODE;
  // END BLANK
  ncclComm_t nccl = nullptr;
  // BLANK 3: Create the NCCL communicator `nccl` of all ranks, by ncclCommInitRank.
  PUT_YOUR_CODE;
  // END BLANK
  return nccl;
}

/// Trains on this process's GPU. Each iteration queues all its work before the GPU has done it.
void train(Perceptron& network, ncclComm_t nccl, int iterations) {
  // A stream without the flag cudaStreamNonBlocking waits for the default stream, and that one waits for it: any work
  // on the default stream would end the overlap, and the weights would still be right.
  cudaStream_t compute, communication, reading;
  for (cudaStream_t* stream : {&compute, &communication, &reading})
    CUDA_CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
  cudaEvent_t ready[Perceptron::layers], exchanged, forward_done, loss_copied;
  for (cudaEvent_t& event : ready) CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (cudaEvent_t* event : {&exchanged, &forward_done, &loss_copied})
    CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  float* host_loss = nullptr;  // pinned: a copy to other host memory makes the host wait
  CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&host_loss), sizeof(float)));

  for (int iteration = 0; iteration < iterations; ++iteration) {
    network.forward(iteration, compute);
    CUDA_CHECK(cudaEventRecord(forward_done, compute));
    for (int layer = Perceptron::layers - 1; layer >= 0; --layer) {
      network.backward(layer, compute);
      // BLANK 4: What is queued on `communication` from here on starts after this layer's backward, and needs no later
      //          work of `compute`. The host waits for nothing. The event ready[layer] is free.
      PUT_YOUR_CODE;
      // END BLANK
      float* const gradients = network.gradients(layer);
      const std::size_t length = network.length(layer);  // elements
      // BLANK 5: Queue on `communication`: the `length` gradients of this layer become, in place, their mean over all
      //          ranks (ncclAllReduce).
      PUT_YOUR_CODE;
      // END BLANK
    }
    // BLANK 6: The update, queued on `compute` below, starts after all this iteration's all-reduces. The host waits for
    //          nothing. The event `exchanged` is free.
    PUT_YOUR_CODE;
    // END BLANK
    network.update(compute);
    // BLANK 7: Copy network.loss(), one float on the GPU, to host_loss. Forward writes it, before the event
    //          forward_done. Then let the host wait for this copy, but not for backward or update. The stream
    //          `reading` and the event loss_copied are free.
    PUT_YOUR_CODE;
    // END BLANK
    network.report_loss(iteration, host_loss);
  }
  CUDA_CHECK(cudaDeviceSynchronize());
}

/// Averages gradients over several GPUs of one process. Each GPU's backward is queued on its `compute`, and its
/// `communication` waits for that.
void all_reduce_in_one_process(std::span<const Gpu> gpus) {
  // BLANK 8: Queue on each GPU's `communication`: its gradients (gpu.length elements at gpu.gradients) become, in
  //          place, the mean over all these GPUs. One thread makes all the calls: what would the first one wait for?
  //          Then make each GPU's `compute` wait. The event gpu.exchanged is free. The host waits for nothing.
  PUT_YOUR_CODE;
  // END BLANK
}

int main(int argc, char** argv) try {
  const MpiSession mpi(argc, argv);
  int iterations = 3;
  const Arguments args = parse_arguments(argc, argv,
                                         {.name = "nccl",
                                          .about = "Task 7: data parallel training by CUDA streams, events and NCCL.",
                                          .trains = false,
                                          .network = false,
                                          .chooses_device = true,
                                          .own = {{"--iterations", "Updates", &iterations, 1, 100}}});
  const std::unique_ptr<Communicator> comm = create_communicator("flat");  // of the ranks, by MPI
  choose_gpu(*comm, visible_gpus(*comm, args.devices.request));
  report_gpus(*comm);

  ncclComm_t nccl = connect(*comm);
  Perceptron network(comm->rank(), iterations);
  train_and_compare(network, nccl, *comm, train);
  NCCL_CHECK(ncclCommDestroy(nccl));
  try_one_process(*comm, all_reduce_in_one_process);
  return 0;
} catch (...) {
  return report_failure();
}
