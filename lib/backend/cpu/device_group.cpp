// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/device_group.h"

#include <algorithm>

#include "backend/cpu/vector.h"

namespace odori::cpu {

void CpuDeviceGroup::reduce(std::span<Buffer* const> buffers, float a, std::size_t slice) {
  Buffer& main = *buffers.front();
  const auto others = buffers.subspan(1);
  devices_.front()->for_pieces(odori::slice(main.size(), slice, slices(main.size())), [&](Range r) {
    for (std::size_t i = 0; i < others.size(); ++i)
      add_and_scale(i + 1 == others.size() ? a : 1.0f, others[i]->data() + r.begin, main.data() + r.begin, r.size());
    if (others.empty()) scale(a, main.data() + r.begin, r.size());
  });
}

void CpuDeviceGroup::send(std::span<Buffer* const> buffers, std::size_t slice) {
  const Buffer& main = *buffers.front();
  devices_.front()->for_pieces(odori::slice(main.size(), slice, slices(main.size())), [&](Range r) {
    for (Buffer* other : buffers.subspan(1)) std::copy_n(main.data() + r.begin, r.size(), other->data() + r.begin);
  });
}

}  // namespace odori::cpu
