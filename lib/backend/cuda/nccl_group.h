// SPDX-License-Identifier: Apache-2.0
// The plug-in's half of ../nccl_group.h.
#pragma once

#include <memory>

#include "backend/nccl_group.h"

namespace odori::cuda {

std::unique_ptr<NcclGroup> make_nccl_group(Device& device, int size, int rank, const NcclGroup::BringId& bring_id);

}  // namespace odori::cuda
