/* SPDX-License-Identifier: Apache-2.0 */
/* drgpum.h in C99, without the tool: every call does nothing. */
#include "profiler/api/drgpum.h"

int main(void) {
  int pool[4] = {0, 0, 0, 0};
  drgpum_pool(pool, sizeof pool, "pool");
  drgpum_alloc(pool, 4, NULL);
  drgpum_name(pool, "name");
  drgpum_name_stream(NULL, "stream");
  drgpum_free(pool);
  drgpum_pool_reset(pool);
  drgpum_pool_end(pool);
  drgpum_push("phase");
  drgpum_pop();
  drgpum_mark("mark");
  drgpum_iteration(NULL);
  drgpum_stop();
  drgpum_start();
  return 0;
}
