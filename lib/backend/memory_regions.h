// SPDX-License-Identifier: Apache-2.0
// Plans the position of each tensor of a graph in one storage, for all backends.
//
//   own       values, masks, workspaces: kept from forward to backward
//   gradient  two regions, used alternately: backward of an operation reads one gradient and writes the other
//   scratch   one region for memory that is used during one pass of one operation
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace odori {

class MemoryRegions {
 public:
  struct Place {
    int region = -1;  // none
    std::size_t offset = 0;
  };
  /// Places begin at multiples of `alignment` bytes.
  explicit MemoryRegions(std::size_t alignment) : alignment_(alignment) {}

  Place own(std::size_t bytes) { return place(0, bytes_[0], bytes); }
  /// `side`: which of the two gradient regions, 0 or 1.
  Place gradient(std::size_t bytes, int side) { return place(1 + side, 0, bytes); }
  /// Scratch places since the last begin_pass() do not overlap; those of other passes may.
  void begin_pass() { scratch_used_ = 0; }
  Place scratch(std::size_t bytes) {
    const Place at = place(3, scratch_used_, bytes);
    scratch_used_ += rounded(bytes);
    return at;
  }

  /// Size of the whole storage.
  std::size_t bytes() const { return bytes_[0] + bytes_[1] + bytes_[2] + bytes_[3]; }
  /// Offset in the storage. Valid only after the last place was requested.
  std::size_t position(const Place& at) const {
    std::size_t begin = 0;
    for (int region = 0; region < at.region; ++region) begin += bytes_[static_cast<std::size_t>(region)];
    return begin + at.offset;
  }

 private:
  std::size_t rounded(std::size_t bytes) const { return (bytes + alignment_ - 1) / alignment_ * alignment_; }
  Place place(int region, std::size_t offset, std::size_t bytes) {
    std::size_t& used = bytes_[static_cast<std::size_t>(region)];
    used = std::max(used, offset + rounded(bytes));
    return {region, offset};
  }

  std::size_t alignment_;
  std::array<std::size_t, 4> bytes_{};
  std::size_t scratch_used_ = 0;
};

}  // namespace odori
