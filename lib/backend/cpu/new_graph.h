// SPDX-License-Identifier: Apache-2.0
// What CPU devices make graphs of: operations of oneDNN (graph.h), or, in a kit that is built without it
// (-DODORI_ONEDNN=OFF), the plain loops of ../reference.
#pragma once

#include <memory>

#include "backend/graph.h"
#include "backend/precision.h"

namespace odori::cpu {

/// Computes on the calling thread, with `threads` OpenMP threads.
std::unique_ptr<Graph> new_graph(int threads, Precision precision, ModelMemory& memory, AlgorithmTable& algorithms);

}  // namespace odori::cpu
