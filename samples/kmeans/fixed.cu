// SPDX-License-Identifier: Apache-2.0
// The same clustering from one planned pool. plan.h is what `drgpum plan` writes for the trace of
// naive.cu:
//   drgpum run --device emulated -o naive.drgp ./naive && drgpum plan naive.drgp -o plan.h

#include "samples/kmeans/plan.h"

#include "samples/kmeans/clustering.h"
#include "samples/planned_pool.h"

int main() {
  PlannedPool memory;
  return verdict(cluster(memory));
}
