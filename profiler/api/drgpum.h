/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DRGPUM_H
#define DRGPUM_H
/* Tells drgpum what it cannot see: which parts of an allocation are tensors of their own, what
   things are called, where iterations and phases begin. For C99 and C++, and nothing has to be
   linked. In a program that runs without drgpum every call is a load and a branch.

       drgpum_pool(base, bytes, "scratch");      one cudaMalloc that this program hands out itself
       drgpum_alloc(p, n, "gradients");          a piece of it, until
       drgpum_free(p);
       drgpum_iteration("step 7");
       drgpum_push("forward"); ... drgpum_pop();

   Addresses are device addresses, sizes bytes; texts are copied, in UTF-8. Any thread may call, but
   not one that is inside a callback of CUDA's. Calls about memory that drgpum does not know are
   counted in the report's coverage and have no effect. Linux; before glibc 2.34 with -ldl. */

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The tool's function of this name; null without the tool. `drgpum run` names its library in
   CUDA_INJECTION64_PATH. */
static inline void* drgpum_find_(const char* name) {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  const char* file = path == NULL ? NULL : strrchr(path, '/');
  void* library;
  if (file == NULL || strcmp(file, "/libdrgpum.so") != 0) return NULL;
  library = dlopen(path, RTLD_LAZY);
  return library == NULL ? NULL : dlsym(library, name);
}

/* Looked up once per function and source file; `none_` stands for "not there". */
#define DRGPUM_FORWARD_(symbol, parameters, arguments)         \
  do {                                                         \
    static void* known_;                                       \
    static char none_;                                         \
    void* found_ = __atomic_load_n(&known_, __ATOMIC_ACQUIRE); \
    if (found_ == NULL) {                                      \
      found_ = drgpum_find_(symbol);                           \
      if (found_ == NULL) found_ = &none_;                     \
      __atomic_store_n(&known_, found_, __ATOMIC_RELEASE);     \
    }                                                          \
    if (found_ != (void*)&none_) {                             \
      void(*call_) parameters;                                 \
      memcpy(&call_, &found_, sizeof call_);                   \
      call_ arguments;                                         \
    }                                                          \
  } while (0)

/* [address, address + bytes) of an allocation is a pool: other objects will be carved out of it.
   0 bytes: all of the allocation. Give it a name, or null. A pool that is no whole allocation is an
   object of its own, and ends with drgpum_pool_end; so do all objects in it. */
static inline void drgpum_pool(const void* address, size_t bytes, const char* name) {
  DRGPUM_FORWARD_("drgpum_v1_pool", (const void*, uint64_t, const char*), (address, bytes, name));
}
static inline void drgpum_pool_end(const void* address) {
  DRGPUM_FORWARD_("drgpum_v1_pool_end", (const void*), (address));
}
/* All objects in the pool end; the pool stays. */
static inline void drgpum_pool_reset(const void* address) {
  DRGPUM_FORWARD_("drgpum_v1_pool_reset", (const void*), (address));
}

/* An object carved out of an allocation or a pool, with a name or null. What it overlaps ends: the
   allocator has forgotten to say so. */
static inline void drgpum_alloc(const void* address, size_t bytes, const char* name) {
  DRGPUM_FORWARD_("drgpum_v1_alloc", (const void*, uint64_t, const char*), (address, bytes, name));
}
static inline void drgpum_free(const void* address) {
  DRGPUM_FORWARD_("drgpum_v1_free", (const void*), (address));
}

/* Names the object that begins at the address, or else the innermost that holds it. */
static inline void drgpum_name(const void* address, const char* name) {
  DRGPUM_FORWARD_("drgpum_v1_name", (const void*, const char*), (address, name));
}
/* A cudaStream_t or CUstream. */
static inline void drgpum_name_stream(const void* stream, const char* name) {
  DRGPUM_FORWARD_("drgpum_v1_name_stream", (const void*, const char*), (stream, name));
}

/* A phase of this thread, from push to pop; phases nest. */
static inline void drgpum_push(const char* name) {
  DRGPUM_FORWARD_("drgpum_v1_push", (const char*), (name));
}
static inline void drgpum_pop(void) {
  DRGPUM_FORWARD_("drgpum_v1_pop", (void), ());
}
/* A moment. */
static inline void drgpum_mark(const char* name) {
  DRGPUM_FORWARD_("drgpum_v1_mark", (const char*), (name));
}
/* An iteration begins here; plans for pools repeat it. */
static inline void drgpum_iteration(const char* name) {
  DRGPUM_FORWARD_("drgpum_v1_iteration", (const char*), (name));
}

/* Kernels are observed from start to stop. Without `--capture-range` they are from the beginning
   on; with `--capture-range cudaProfilerApi` only between these two, or between cudaProfilerStart
   and cudaProfilerStop. Allocations are recorded throughout. */
static inline void drgpum_start(void) {
  DRGPUM_FORWARD_("drgpum_v1_start", (void), ());
}
static inline void drgpum_stop(void) {
  DRGPUM_FORWARD_("drgpum_v1_stop", (void), ());
}

#ifdef __cplusplus
/* A phase as long as this object lives. */
class drgpum_phase {
 public:
  explicit drgpum_phase(const char* name) { drgpum_push(name); }
  ~drgpum_phase() { drgpum_pop(); }
  drgpum_phase(const drgpum_phase&) = delete;
  drgpum_phase& operator=(const drgpum_phase&) = delete;
};
#endif

#endif
