// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/row_ops.h"
namespace drgpum::emulator::exec {
bool lower_video(Builder&, const ptx::Instruction&) {
  return false;
}
}  // namespace drgpum::emulator::exec
