// SPDX-License-Identifier: Apache-2.0
#pragma once
// Serves one page and its data to this machine: on 127.0.0.1, to who holds the printed address.

#include "offline/cli/page_output.h"

namespace drgpum {

struct ViewOptions {
  int port = 0;  // 0: a free one
  bool opens_browser = true;
};

// Prints the address on standard output and serves until the process is ended. Returns an exit
// status when the port cannot be taken.
int serve_page(const ViewSource& source, const ViewOptions& options);

}  // namespace drgpum
