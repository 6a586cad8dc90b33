// SPDX-License-Identifier: Apache-2.0
#include "classroom/unseen.h"

#include <unicode/uchar.h>
#include <unicode/utf.h>

namespace odori::grader {

bool is_unseen(char32_t character) {
  if (character >= 0xFE00 && character <= 0xFE0F) return false;  // how the emoji before it looks
  const auto code = static_cast<UChar32>(character);
  const bool annotates = code >= 0xFFF9 && code <= 0xFFFB;
  return (U_GET_GC_MASK(code) & (U_GC_CC_MASK | U_GC_ZL_MASK | U_GC_ZP_MASK)) != 0 || annotates ||
         U_IS_UNICODE_NONCHAR(code) || u_hasBinaryProperty(code, UCHAR_DEFAULT_IGNORABLE_CODE_POINT);
}

}  // namespace odori::grader
