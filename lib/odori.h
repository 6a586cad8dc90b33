// SPDX-License-Identifier: Apache-2.0
// The training library in one header, precompiled. Training programs include this and the support header of their
// exercise. A blank cannot include anything, so the parts of the standard library that answers use are here as well.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/device_pool.h"
#include "comm/communicator.h"
#include "comm/session.h"
#include "data/cifar.h"
#include "data/serial_iterator.h"
#include "data/sub_dataset.h"
#include "distributed/multi_node_evaluator.h"
#include "distributed/multi_node_optimizer.h"
#include "distributed/parameter_check.h"
#include "distributed/scatter.h"
#include "distributed/snapshot.h"
#include "errors/blank.h"
#include "errors/error.h"
#include "flags/arguments.h"
#include "horovod/horovod.h"
#include "model/classifier.h"
#include "model/networks.h"
#include "optim/adam.h"
#include "optim/momentum_sgd.h"
#include "optim/optimizers.h"
#include "optim/weight_decay.h"
#include "predict/measure.h"
#include "program/program.h"
#include "trace/trace.h"
#include "train/evaluator.h"
#include "train/learning_rate.h"
#include "train/log_report.h"
#include "train/parallel_updater.h"
#include "train/print_report.h"
#include "train/progress_bar.h"
#include "train/standard_updater.h"
#include "train/throughput.h"
#include "train/trainer.h"
