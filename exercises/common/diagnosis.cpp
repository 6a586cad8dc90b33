// SPDX-License-Identifier: Apache-2.0
#include "diagnosis.h"

#include "diagnosis_cases.h"
#include "observe/hooks.h"
#include "test_cases.h"

namespace odori {

bool report_diagnoses(const std::vector<ChooseDiagnosis>& diagnoses) {
  if (test_cases() != ask_for_diagnoses) return false;
  std::vector<float> shown;
  for (const ChooseDiagnosis& choose : diagnoses) {
    const Diagnosis diagnosis = choose();
    for (const int choice :
         {static_cast<int>(diagnosis.ranks), static_cast<int>(diagnosis.line), static_cast<int>(diagnosis.why)})
      shown.push_back(static_cast<float>(choice));
  }
  observe::on_values(shown);
  return true;
}

}  // namespace odori
