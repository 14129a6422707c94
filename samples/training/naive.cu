// SPDX-License-Identifier: Apache-2.0
// A training loop without a plan: every tensor of every iteration is allocated and freed, and each
// cudaFree waits for the device.

#include "samples/device_memory.h"
#include "samples/training/network.h"

int main() {
  DeviceMemory memory;
  return verdict(train(memory));
}
