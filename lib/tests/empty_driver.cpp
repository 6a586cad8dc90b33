// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVIDIA's driver, libcuda.so.1, that has nothing in it: see gpu_plugin_test.
extern const int odori_nothing = 0;
