// NAME: what one update of data-parallel training uses and sends.
//
// Goal:    two formulas: how many images an update uses, and how many bytes of gradients each device contributes.
// Time:    5 minutes; the program itself takes less than a second.
// Reading: lib/predict/README.md.
// Command: ./odori run NAME --n-devices 4
// Output:  one line with both values.
#include "NAME_support.h"
#include "odori.h"

using namespace odori;

/// Each device computes the gradients of its own batch.
int images_of_update(int batchsize, int n_devices) {
  // BLANK 1: How many images does one update of all devices use?
  return batchsize * n_devices;
  // END BLANK
}

/// Gradients are float32, one for each parameter.
double gradient_bytes(double parameters) {
  // BLANK 2: How many bytes does one device contribute to the exchange of gradients?
  const double bytes = 4 * parameters;
  // END BLANK
  return bytes;
}

int main(int argc, char** argv) try {
  int n_devices = 2;
  const Arguments args = parse_arguments(argc, argv,
                                         {.name = "NAME",
                                          .about = "NAME: what one update uses and sends.",
                                          .trains = false,
                                          .own = {{"--n-devices", "Devices that share the update", &n_devices, 1}}});
  if (const auto warning = DevicePool(args.devices).warning(n_devices)) fmt::print("{}\n", *warning);
  const NetworkCost network = cost_of(create_network(args.model, 10, args.image_size));
  show_NAME({args.batchsize, n_devices, network.parameters}, images_of_update, gradient_bytes);
  return 0;
} catch (...) {
  return report_failure();
}
