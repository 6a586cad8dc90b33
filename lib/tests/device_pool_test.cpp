// SPDX-License-Identifier: Apache-2.0
// Devices by number: which there are, which is current, and what is said where there is none.
#include "backend/device_pool.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <thread>

#include "errors/error.h"
#include "threads/cores.h"

namespace odori {
namespace {

TEST(DevicePool, HasAsManyCpuDevicesAsAreAskedForAndEachIsOne) {
  DevicePool pool({.request = DeviceRequest::cpu, .threads_per_device = 3});
  EXPECT_EQ(&pool.device(2), &pool.device(2));
  EXPECT_NE(&pool.device(0), &pool.device(2));
  EXPECT_EQ(pool.device(2).id(), 2);
  EXPECT_EQ(pool.device(2).description(), "CPU device 2 (3 threads)");
  EXPECT_EQ(pool.device(2).kind(), DeviceKind::cpu);
}

TEST(DevicePool, TheCurrentDeviceIsTheOneLastUsedAndTheFirstBeforeThat) {
  DevicePool pool({.request = DeviceRequest::cpu});
  EXPECT_EQ(pool.current().id(), 0);
  pool.use(1);
  EXPECT_EQ(pool.current().id(), 1);
}

TEST(DevicePool, WarnsOfMoreThreadsThanCores) {
  const int cores = usable_cores();
  const DevicePool pool({.request = DeviceRequest::cpu}),
      wide({.request = DeviceRequest::cpu, .threads_per_device = 2});
  EXPECT_FALSE(pool.warning(cores).has_value());
  ASSERT_TRUE(pool.warning(cores + 1).has_value());
  EXPECT_NE(pool.warning(cores + 1)->find(std::to_string(cores)), std::string::npos) << *pool.warning(cores + 1);
  EXPECT_TRUE(wide.warning(cores).has_value());  // twice as many threads as devices
}

TEST(DevicePool, RefusesANumberThatNoDeviceHas) {
  DevicePool pool({.request = DeviceRequest::cpu});
  EXPECT_THROW(pool.device(-1), Error);
  EXPECT_THROW(pool.use(-1), Error);
  EXPECT_THROW(DevicePool({.request = DeviceRequest::cpu, .threads_per_device = 0}).device(0), Error);
}

// oneDNN's threads would wait for ever for those that OpenMP didn't give.
TEST(CpuDevice, RefusesFewerThreadsThanItAsksFor) {
  std::string sentence;
  std::thread([&] {
    omp_set_max_active_levels(0);
    try {
      DevicePool pool({.request = DeviceRequest::cpu, .threads_per_device = 2});
      pool.use(0);
    } catch (const Error& error) {
      sentence = error.what();
    }
  }).join();
  EXPECT_NE(sentence.find("asked OpenMP for 2 threads and got 1"), std::string::npos) << sentence;
}

TEST(CpuDevice, HasItsThreadsAlsoWhereOpenMpMayGiveFewer) {
  std::thread([] {
    omp_set_dynamic(1);
    DevicePool pool({.request = DeviceRequest::cpu, .threads_per_device = 64});  // more than there are cores
    pool.use(0);
    EXPECT_FALSE(omp_get_dynamic());
  }).join();
}

TEST(CpuDevice, SaysHowMuchMemoryIsMissing) {
  DevicePool pool({.request = DeviceRequest::cpu});
  try {
    pool.device(0).allocate(std::size_t{1} << 44);  // 64 TiB
    FAIL() << "allocated";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("67108866 MB of memory are needed, and "), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("--batchsize"), std::string::npos) << error.what();
  }
}

/// "", or the sentence that refuses it.
std::string refusal_of(Precision precision) {
  try {
    const DevicePool pool({.request = DeviceRequest::cpu, .precision = precision});
    EXPECT_EQ(pool.kind(), DeviceKind::cpu);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(DevicePool, CpuDevicesHaveFp32AndBf16WhereTheProcessorDoes) {
  EXPECT_EQ(refusal_of(Precision::fp32), "");
  EXPECT_EQ(refusal_of(Precision::tf32), "--precision tf32 needs a GPU, but this runs on CPU devices.");
  EXPECT_EQ(refusal_of(Precision::bf16).empty(), cpu_has_bf16());
  if (!cpu_has_bf16()) return;
  DevicePool pool({.request = DeviceRequest::cpu, .precision = Precision::bf16});
  EXPECT_EQ(pool.use(0).precision(), Precision::bf16);
}

TEST(DevicePoolDeathTest, RefusesBf16WhereOneDnnMayNotUseAmx) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // oneDNN asks once a process
  EXPECT_EXIT(
      {
        setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
        fprintf(stderr, "%s\n", refusal_of(Precision::bf16).c_str());
        exit(0);
      },
      testing::ExitedWithCode(0), "needs a GPU, or a processor with AMX .* in fp32\\.");
}

/// Whichever holds for this build and machine.
TEST(DevicePool, TakesGpusWhereTheyAreAndSaysWhatToDoWhereThereAreNone) {
  const DevicePool automatic({.request = DeviceRequest::automatic});
  if (gpu_count() > 0) {
    EXPECT_EQ(automatic.kind(), DeviceKind::cuda);
    EXPECT_EQ(why_no_gpu(), "");
    return;
  }
  EXPECT_EQ(automatic.kind(), DeviceKind::cpu);
  EXPECT_EQ(automatic.warning(1).has_value(), built_for_gpus());
  try {
    const DevicePool pool({.request = DeviceRequest::cuda});
    FAIL() << "accepted";
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("--device cuda needs a GPU"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(why_no_gpu()), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("--device cpu"), std::string::npos) << sentence;
  }
}

}  // namespace
}  // namespace odori
