// SPDX-License-Identifier: Apache-2.0
// An iterative program that is no deep learning: each iteration of k-means allocates and frees.

#include "samples/device_memory.h"
#include "samples/kmeans/clustering.h"

int main() {
  DeviceMemory memory;
  return verdict(cluster(memory));
}
