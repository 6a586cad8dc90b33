// SPDX-License-Identifier: Apache-2.0
// What a profiler is to NVTX: a library that it loads, here one that prints the ranges.
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>

namespace {

int push(const char* name) { return std::printf("begin %s\n", name); }
int pop() { return std::printf("end\n"); }

template <typename Function>
void listen(NvtxFunctionTable table, unsigned call, Function* function) {
  *table[call] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
  listen(table, NVTX_CBID_CORE_RangePushA, push);
  listen(table, NVTX_CBID_CORE_RangePop, pop);
  return 1;
}
