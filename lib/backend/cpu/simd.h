// SPDX-License-Identifier: Apache-2.0
// Function multiversioning: hot loops are compiled for several vector widths, and the dynamic loader picks the version
// for this CPU.
#pragma once

// ThreadSanitizer is not initialised yet when the loader picks.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define ODORI_SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ODORI_SIMD_CLONES
#endif
