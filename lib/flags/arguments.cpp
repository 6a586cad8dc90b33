#include "flags/arguments.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "data/cifar.h"
#include "model/networks.h"

namespace odori {
namespace {

/// Refuses with a sentence what isn't a number, or not one of those that `accepts` takes.
template <typename Number, typename Accepts>
CLI::Validator number(const std::string& expected, Accepts accepts) {
  return CLI::Validator(
      [expected, accepts](const std::string& text) {
        Number value{};
        const bool fits = CLI::detail::lexical_cast(text, value) && !text.starts_with('-') && accepts(value);
        return fits ? std::string() : fmt::format("{} was expected, not \"{}\"", expected, text);
      },
      "");
}

CLI::Validator whole_number(int least, int most) {
  return number<int>(fmt::format("a whole number from {} to {}", least, most),
                     [least, most](int value) { return least <= value && value <= most; });
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  return CLI::Validator(
      [names](const std::string& text) {
        const bool known = std::find(names.begin(), names.end(), text) != names.end();
        return known ? std::string() : fmt::format("one of {} was expected, not \"{}\"", fmt::join(names, ", "), text);
      },
      "");
}

const char* name_of(Program program) {
  switch (program) {
    case Program::single_gpu:
      return "single_gpu";
    case Program::multi_gpu:
      return "multi_gpu";
    case Program::multi_node:
      return "multi_node";
  }
  return "";
}

const char* about(Program program) {
  switch (program) {
    case Program::single_gpu:
      return "Train a CIFAR classifier on one device: the baseline.";
    case Program::multi_gpu:
      return "Task 1: train a CIFAR classifier on several devices of one node, from one process.";
    case Program::multi_node:
      return "Task 2: train a CIFAR classifier on several nodes, one MPI rank a device. Start it with "
             "mpirun.";
  }
  return "";
}

void add_training_flags(CLI::App& app, Arguments& args) {
  app.add_option("--dataset", args.dataset,
                 "cifar10, cifar100, synthetic, or a folder with files in CIFAR's binary format; auto: cifar10 if it "
                 "is there, else synthetic")
      ->capture_default_str();
  app.add_option("--epoch", args.epoch, "How often to go through the training data")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  app.add_option("--batchsize", args.batchsize, "Pictures a device and iteration")
      ->check(whole_number(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--learnrate", args.learnrate, "Learning rate")
      ->check(number<float>("a number above 0", [](float rate) { return rate > 0 && std::isfinite(rate); }))
      ->capture_default_str();
  app.add_option("--model", args.model, fmt::format("The network: {}", fmt::join(network_names(), ", ")))
      ->check(one_of(network_names()))
      ->capture_default_str();
  app.add_option("--image_size", args.image_size, "Pictures are enlarged to this height and width, a multiple of 32")
      ->check(whole_number(32, 1024))
      ->capture_default_str();
  app.add_option("--fraction", args.fraction, "Use this part of the data, in (0, 1]")
      ->check(number<double>("a number above 0 and up to 1", [](double part) { return part > 0 && part <= 1; }))
      ->capture_default_str();
  app.add_flag("--augment", args.augment, "Random crop and flip of the training pictures");
  app.add_option("--seed", args.seed, "Seed of everything that is random")
      ->check(number<std::uint64_t>("a whole number from 0", [](std::uint64_t) { return true; }))
      ->capture_default_str();
}

void add_algorithm_flags(CLI::App& app, Arguments& args) {
  static const std::map<std::string, Precision> precisions{
      {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}};
  app.add_option_function<std::string>(
         "--precision", [&args](const std::string& name) { args.devices.precision = precisions.at(name); },
         "Numbers to compute with on GPUs: fp32, tf32 (fp32 in memory, products on tensor cores) or bf16 (mixed, with "
         "fp32 weights); without it, tf32. CPU devices have fp32 alone")
      ->check(one_of({"fp32", "tf32", "bf16"}));
  app.add_flag("--autotune", args.autotune.measure, "Measure which convolution algorithm is the fastest, at set-up");
  app.add_option("--workspace_mib", args.devices.workspace_mib,
                 "GPUs: memory that a convolution may take besides its tensors, in MiB; some fast algorithms need much")
      ->check(whole_number(0, 1 << 20))
      ->capture_default_str();
  app.add_flag("--show_algorithms", args.autotune.show,
               "Print each operation's algorithm, with --autotune the times that were measured");
}

void add_device_flags(CLI::App& app, Arguments& args, Program program) {
  static const std::map<std::string, DeviceRequest> requests{
      {"auto", DeviceRequest::automatic}, {"cpu", DeviceRequest::cpu}, {"cuda", DeviceRequest::cuda}};
  app.add_option_function<std::string>(
         "--device", [&args](const std::string& name) { args.devices.request = requests.at(name); },
         "auto, cpu or cuda; auto takes GPUs where there are any")
      ->check(one_of({"auto", "cpu", "cuda"}))
      ->default_str("auto");
  if (program == Program::multi_gpu) {
    app.add_option("--n_gpus", args.n_gpus, "Devices of this process: GPUs, or CPU devices where there are none")
        ->check(whole_number(1, 1024))
        ->capture_default_str();
    app.add_option_function<std::string>(
           "--compat", [&args](const std::string&) { args.gradient_rule = GradientRule::sum; },
           "chainer: sum the gradients and divide the learning rate by the number of devices, as the "
           "original does; "
           "without it, the mean gradient")
        ->check(one_of({"chainer"}));
  }
  if (program == Program::multi_node)
    app.add_option("--communicator", args.communicator,
                   "naive, flat or pure_nccl; without it, pure_nccl on GPUs and flat on CPU devices");
  app.add_option("--threads_per_device", args.devices.threads_per_device, "Threads of a CPU device")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  app.add_flag("--share_devices", args.devices.share_devices, "Let several devices stand on one GPU");
  add_algorithm_flags(app, args);
}

void add_output_flags(CLI::App& app, Arguments& args) {
  app.add_option("--out", args.out, "Folder for the log, the result and the snapshots")->capture_default_str();
  app.add_flag("--no_snapshot", args.no_snapshot, "Write no snapshot at the end of each epoch");
  app.add_flag("--keep_going", args.keep_going, "Train on when the loss is nan or infinite");
  app.add_option("--resume", args.resume, "Continue from this snapshot: its folder, or a folder of snapshots");
  app.add_option("--trace", args.trace,
                 "Write the event stream into this folder, one file a rank; ui.perfetto.dev shows it");
}

}  // namespace

Arguments parse_arguments(int argc, char** argv, Program program) {
  Arguments args;
  args.out = fmt::format("out/{}", name_of(program));
  const std::string command = fmt::format("./odori run {}", name_of(program));
  CLI::App app(about(program), command);
  app.get_formatter()->column_width(30);
  add_training_flags(app, args);
  add_device_flags(app, args, program);
  add_output_flags(app, args);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ArgumentMismatch& error) {  // "--epoch: 1 required INT missing"
    const std::string text = error.what();
    throw UsageError(
        fmt::format("{} needs a value.\n{} --help lists all flags.", text.substr(0, text.find(':')), command));
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> extras = app.remaining();
    throw UsageError(fmt::format("There is no flag {}.\n{} --help lists all flags.", fmt::join(extras, " "), command));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}.\n{} --help lists all flags.", error.what(), command));
  }
  args.dataset = resolve_dataset(args.dataset);
  create_network(args.model, 1, args.image_size);  // throws if this image size can't be used
  if (args.communicator.empty())
    args.communicator = args.devices.request != DeviceRequest::cpu && gpu_count() > 0 ? "pure_nccl" : "flat";
  return args;
}

}  // namespace odori
