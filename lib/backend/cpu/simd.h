// SPDX-License-Identifier: Apache-2.0
// The kit is built for any processor of its kind; hot loops are compiled once for each width of vectors, and the one
// that fits is chosen when the program is loaded.
#pragma once

// The thread sanitizer isn't ready yet when that choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define ODORI_SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ODORI_SIMD_CLONES
#endif
