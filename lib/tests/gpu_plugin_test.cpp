// SPDX-License-Identifier: Apache-2.0
// The CUDA backend is loaded where there is a driver, and nowhere else; what is said where it can't be; and that
// library and plug-in share one copy of everything.
#include "backend/gpu_plugin.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include "program/program.h"
#include "run_command.h"

namespace odori {
namespace {

namespace fs = std::filesystem;
using grader::run_command;

constexpr std::array of_cuda{"libcudart", "libcublas", "libcudnn", "libnccl", "libodori_cuda"};

class GpuPluginTest : public testing::Test {
 protected:
  GpuPluginTest() { fs::create_directories(folder_); }
  ~GpuPluginTest() override { fs::remove_all(folder_); }

  /// `environment`: "NAME=value NAME=value".
  static Ended run(const std::string& environment, const std::string& program = ODORI_PLUGIN_PROGRAM) {
    return run_command(environment + " '" + program + "'");
  }
  static bool loads(const Ended& ended, const char* library) {
    return ended.count(std::string("loaded: ") + library) > 0;
  }
  static void expect_cannot_be_loaded(const Ended& ended, const std::string& reason) {
    EXPECT_EQ(ended.code, 0) << ended.output;
    EXPECT_EQ(ended.count("GPUs: 0\n"), 1) << ended.output;
    // That line, and what creating pure_nccl says of it.
    for (const std::string& words :
         {std::string("the CUDA backend can't be loaded: "), reason, std::string("./odori setup")})
      EXPECT_EQ(ended.count(words), 2) << "expected: " << words << "\n" << ended.output;
  }

  const fs::path folder_ = fs::temp_directory_path() / ("odori_gpu_plugin_test_" + std::to_string(getpid()));
};

TEST_F(GpuPluginTest, NoProgramIsLinkedToCuda) {
  for (const char* program : {ODORI_TRAINING, ODORI_GRADER}) {
    const Ended ldd = run_command(std::string("ldd '") + program + "'");
    EXPECT_EQ(ldd.count("libodori.so =>"), 1) << ldd.output;
    for (const char* library : of_cuda) EXPECT_EQ(ldd.count(library), 0) << program << ":\n" << ldd.output;
  }
}

TEST_F(GpuPluginTest, ATrainingOnTheCpuLoadsNothingOfCuda) {
  const std::string data = folder_ / "data";
  const Ended trained =
      run_command("'" ODORI_MAKE_SYNTHETIC "' --train 40 --test 20 --out '" + data +
                  "' && LD_DEBUG=files '" ODORI_TRAINING "' --dataset '" + data + "' --out '" + data +
                  "' --model tiny --epoch 1 --batchsize 20 --no-snapshot" + (has_gpu_driver() ? " --device cpu" : ""));
  EXPECT_EQ(trained.code, 0) << trained.output;
  EXPECT_GT(trained.count("libodori.so"), 0) << trained.output;  // what is loaded is listed
  for (const char* library : of_cuda) EXPECT_EQ(trained.count(std::string(library) + ".so"), 0) << library;
}

TEST_F(GpuPluginTest, IsLoadedWhereThereIsADriver) {
  const Ended here = run("");
  EXPECT_EQ(here.code, 0) << here.output;
  for (const char* library : of_cuda)
    EXPECT_EQ(loads(here, library), built_for_gpus() && has_gpu_driver()) << here.output;
  if (!built_for_gpus()) {
    EXPECT_EQ(here.count("why none: this build has the CPU backend alone"), 1) << here.output;
  } else if (!has_gpu_driver()) {
    EXPECT_EQ(here.count("why none: no NVIDIA driver was found on this machine"), 1) << here.output;
    EXPECT_EQ(
        here.count("refused with exit code 2: The communicator pure_nccl needs GPUs and NCCL, but no NVIDIA driver "
                   "was found on this machine."),
        1)
        << here.output;
  }

  const Ended there = run("LD_LIBRARY_PATH='" ODORI_EMPTY_DRIVER "'");
  EXPECT_EQ(there.code, 0) << there.output;
  EXPECT_EQ(there.count("GPUs: 0\n"), 1) << there.output;
  for (const char* library : of_cuda) EXPECT_EQ(loads(there, library), built_for_gpus()) << there.output;
}

/// The plug-in's errors are the program's.
TEST_F(GpuPluginTest, ItsErrorsAreCaughtAsTheLibrarysOwn) {
  const Ended emulated = run("ODORI_GPU_PLUGIN='" ODORI_EMULATED_GPU "' ODORI_EMULATED_GPUS=2");
  EXPECT_EQ(emulated.count("GPUs: 2\nwhy none: \n"), 1) << emulated.output;
  EXPECT_EQ(emulated.count("refused with exit code 1: There is no GPU 1000: this machine has 2"), 1) << emulated.output;
  if (!built_for_gpus()) return;
  const Ended real = run("LD_LIBRARY_PATH='" ODORI_EMPTY_DRIVER "'");
  EXPECT_EQ(real.count("refused with exit code 1: There is no GPU 1000: "), 1) << real.output;
}

TEST_F(GpuPluginTest, MissingOrDamagedItIsSaidWhichFileAndWhatToDo) {
  const fs::path file = folder_ / "plugin.so";
  const std::string asked = "ODORI_GPU_PLUGIN='" + file.string() + "'";
  expect_cannot_be_loaded(run(asked), file.string() + ": cannot open shared object file");
  std::ofstream(file) << "cut off";
  expect_cannot_be_loaded(run(asked), file.string() + ": file too short");
  std::ofstream(file) << std::string(10'000, 'x');
  expect_cannot_be_loaded(run(asked), file.string() + ": invalid ELF header");
  fs::copy_file(library_file(), file, fs::copy_options::overwrite_existing);  // another library
  expect_cannot_be_loaded(run(asked), "undefined symbol: odori_gpu_plugin");
}

/// Its libraries, from CUDA's own to the plug-in, are looked for beside the program, wherever that was moved to.
TEST_F(GpuPluginTest, ABuildMayBeMoved) {
  fs::create_directories(folder_ / "library");
  fs::create_directories(folder_ / "tests");
  fs::copy_file(library_file(), folder_ / "library" / "libodori.so");
  fs::copy_file(ODORI_PLUGIN_PROGRAM, folder_ / "tests" / "program");
  const Ended moved = run("LD_LIBRARY_PATH='" ODORI_EMPTY_DRIVER "'", folder_ / "tests" / "program");
  EXPECT_EQ(moved.count("library: " + (folder_ / "tests/../library/libodori.so").string() + "\n"), 1) << moved.output;
  if (built_for_gpus()) expect_cannot_be_loaded(moved, "library/libodori_cuda.so: cannot open shared object file");
}

/// What others can use of it, but for what templates leave in each.
std::set<std::string> symbols_of(const fs::path& library) {
  std::istringstream lines(run_command("nm -D --defined-only '" + library.string() + "'").output);
  std::set<std::string> symbols;
  for (std::string address, kind, name; lines >> address >> kind >> name;)
    if (kind == "T" || kind == "D" || kind == "B" || kind == "R") symbols.insert(name);
  return symbols;
}

/// The event stream, the evidence, who is told of a failure: each is there once in a process.
TEST_F(GpuPluginTest, HoldsNoCopyOfWhatTheLibraryHolds) {
  const std::set<std::string> of_library = symbols_of(library_file());
  EXPECT_EQ(
      of_library.count("_ZN5odori20set_failure_listenerEPFvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiE"),
      1u);
  for (const fs::path& plugin : {fs::path(ODORI_EMULATED_GPU), gpu_plugin_file()}) {
    if (plugin.empty()) continue;
    const std::set<std::string> of_plugin = symbols_of(plugin);
    EXPECT_EQ(of_plugin.count("odori_gpu_plugin"), 1u) << plugin;
    for (const std::string& symbol : of_plugin) EXPECT_EQ(of_library.count(symbol), 0u) << symbol << " in " << plugin;
  }
}

}  // namespace
}  // namespace odori
