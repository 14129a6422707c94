// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace drgpum {

// Of this process so far.
double user_seconds();

// The tables that are about swapping, to standard output.
void swap_tables();

}  // namespace drgpum
