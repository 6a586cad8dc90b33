// SPDX-License-Identifier: Apache-2.0
// A diagnosis of a program with a fault, chosen from lists: which ranks, which line, and why.
#pragma once

#include <functional>
#include <vector>

namespace odori {

/// The ranks that do something else than they should.
enum class Who {
  all,                 // each rank does the same, and it is wrong
  rank_0,              // rank 0 alone
  all_but_rank_0,      // every rank but rank 0
  with_larger_shards,  // those with an image more than the others
  on_further_nodes     // those on other nodes than the first
};

/// The line that is wrong, by the letter at its end; where a line is missing, the last lettered line above the gap. A
/// wrong branch counts as its first line.
enum class Line { A, B, C, D, E, F };

enum class Why {
  not_all_ranks_call,         // a collective call that only some ranks make
  calls_in_different_orders,  // all ranks make the same collective calls, in different orders
  other_number_of_updates,    // some ranks make an update more in an epoch than others
  other_lengths,              // ranks give buffers of different lengths
  another_root,               // ranks name different roots, or a root that doesn't have the data
  parameters_differ,          // ranks start with different parameters
  gradients_stay_local,       // each rank updates by its own gradients
  sum_is_no_mean,             // ranks update by the sum of their gradients
  rate_not_scaled,            // the learning rate doesn't fit the number of ranks
  images_in_several_shards,   // ranks train on the same images
  order_repeats,              // every epoch has the same order of images
  number_of_the_job,          // a number that counts over all nodes, where one within the node is needed
  read_before_written         // a rank reads a file that another one is still writing
};

struct Diagnosis {
  Who ranks;
  Line line;
  Why why;
};

using ChooseDiagnosis = std::function<Diagnosis()>;

/// Shows the diagnoses if ./odori check asks for them, and returns true. Returns false if it does not.
bool report_diagnoses(const std::vector<ChooseDiagnosis>& diagnoses);

}  // namespace odori
