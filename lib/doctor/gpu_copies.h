// SPDX-License-Identifier: Apache-2.0
// Copies from each GPU to the next. PCIe's access control services (ACS) and IOMMUs redirect what GPUs send to each
// other: such copies arrive changed, never, or slowly.
#pragma once

namespace odori::doctor {

/// Times and compares 1 MB from each GPU to the next one, and prints a line each, which parse_gpu_copies() reads. Can
/// wait for ever on a machine where copies never arrive.
void copy_between_gpus();

}  // namespace odori::doctor
