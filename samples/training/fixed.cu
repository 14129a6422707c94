// SPDX-License-Identifier: Apache-2.0
// The same training from one planned pool. plan.h is what `drgpum plan` writes for the trace of
// naive.cu:
//   drgpum run --device emulated -o naive.drgp ./naive && drgpum plan naive.drgp -o plan.h

#include "samples/training/plan.h"

#include "samples/planned_pool.h"
#include "samples/training/network.h"

int main() {
  PlannedPool memory;
  return verdict(train(memory));
}
