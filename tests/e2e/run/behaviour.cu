// SPDX-License-Identifier: Apache-2.0
// One program for many ways to end: behaviour WORD [NUMBER]. It allocates, runs one kernel, copies
// back and then does what the word says. Everything it prints it prints without the tool as well.

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kCount = 1000;

__global__ void fill(int* out, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) out[i] = value + i;
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

int* device_numbers = nullptr;

// Allocates, fills and sums; leaves the object alive.
long compute(int value, int** numbers) {
  check(cudaMalloc(numbers, kCount * sizeof(int)), "cudaMalloc");
  fill<<<4, 256>>>(*numbers, value);
  std::vector<int> host(kCount);
  check(cudaMemcpy(host.data(), *numbers, kCount * sizeof(int), cudaMemcpyDeviceToHost), "copy");
  long sum = 0;
  for (const int number : host) sum += number;
  return sum;
}

// Frees when the program's static objects are destroyed, after main.
struct LateFree {
  ~LateFree() {
    if (armed) std::printf("late free: %s\n", cudaGetErrorName(cudaFree(device_numbers)));
  }
  bool armed = false;
} late_free;

// Launches when the program's static objects are destroyed, and does not wait for the last one.
struct LateLaunch {
  ~LateLaunch() {
    if (!armed) return;
    int* numbers = nullptr;
    std::printf("late sum %ld\n", compute(3, &numbers));
    fill<<<4, 256>>>(numbers, 5);
  }
  bool armed = false;
} late_launch;

void in_threads(int rounds) {
  std::vector<long> sums(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&sums, t, rounds] {
      for (int round = 0; round < rounds; ++round) {
        int* numbers = nullptr;
        sums[t] += compute(t, &numbers);
        check(cudaFree(numbers), "cudaFree");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const long sum : sums) std::printf("%ld\n", sum);
}

void in_child(bool exec) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (exec) {
      execl("/proc/self/exe", "behaviour", "exit", "5", static_cast<char*>(nullptr));
      _exit(9);
    }
    std::printf("child\n");
    std::exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child ended with %d\n", WEXITSTATUS(status));
}

// A copy of the process that no fork handler hears of.
void in_copy() {
  std::fflush(stdout);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) std::exit(4);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("copy ended with %d\n", WEXITSTATUS(status));
}

// Three threads launch without a pause; the word's work happens beside them, and they end with the
// process.
void beside_threads(int children) {
  static std::atomic<int> running{0};
  for (int t = 0; t < 3; ++t) {
    std::thread([] {
      int* numbers = nullptr;
      if (cudaMalloc(&numbers, kCount * sizeof(int)) != cudaSuccess) return;
      for (++running;;) {
        fill<<<4, 256>>>(numbers, 1);
        if (cudaDeviceSynchronize() != cudaSuccess) return;
      }
    }).detach();
  }
  while (running < 3) usleep(1000);
  for (int i = 0; i < children; ++i) in_child(false);
}

std::atomic<bool> may_go_on{false};

void CUDART_CB wait_for_main(void*) {
  while (!may_go_on) usleep(1000);
}

// A host function holds one stream until this thread has launched much on another.
void with_held_stream() {
  cudaStream_t held, other;
  int* numbers = nullptr;
  check(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking), "stream");
  check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "stream");
  check(cudaMalloc(&numbers, kCount * sizeof(int)), "cudaMalloc");
  fill<<<4, 256, 0, held>>>(device_numbers, 1);
  check(cudaLaunchHostFunc(held, wait_for_main, nullptr), "host function");
  for (int i = 0; i < 300; ++i) fill<<<4, 256, 0, other>>>(numbers, i);
  may_go_on = true;
  check(cudaDeviceSynchronize(), "synchronize");
}

// Captures two kernels on one stream and a copy after them; replays the graph twice.
void with_graph() {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int* other = nullptr;
  check(cudaMalloc(&other, kCount * sizeof(int)), "cudaMalloc");
  check(cudaStreamCreate(&stream), "stream");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  fill<<<4, 256, 0, stream>>>(device_numbers, 1);
  fill<<<4, 256, 0, stream>>>(other, 2);
  check(cudaMemcpyAsync(device_numbers, other, 400, cudaMemcpyDeviceToDevice, stream), "copy");
  check(cudaStreamEndCapture(stream, &graph), "end of capture");
  check(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
  for (int replay = 0; replay < 2; ++replay) check(cudaGraphLaunch(exec, stream), "launch");
  check(cudaStreamSynchronize(stream), "synchronize");
  std::vector<int> host(kCount);
  check(cudaMemcpy(host.data(), device_numbers, kCount * sizeof(int), cudaMemcpyDeviceToHost),
        "copy back");
  std::printf("graph gave %d and %d\n", host[99], host[100]);
}

void out_of_memory() {
  void* much = nullptr;
  const cudaError_t error = cudaMalloc(&much, std::size_t{1} << 50);
  std::printf("asked for a pebibyte: %s\n", cudaGetErrorName(error));
}

// Takes memory in blocks of 8 MiB until there is none, with a kernel after each.
void fill_memory() {
  std::vector<int*> blocks;
  for (int* block = nullptr; cudaMalloc(&block, 8 << 20) == cudaSuccess;) {
    fill<<<4, 256>>>(block, static_cast<int>(blocks.size()));
    blocks.push_back(block);
  }
  long sum = 0;
  for (int* block : blocks) {
    int number = 0;
    check(cudaMemcpy(&number, block + 10, sizeof number, cudaMemcpyDeviceToHost), "copy");
    sum += number;
  }
  std::printf("%zu blocks, sum %ld\n", blocks.size(), sum);
}

// The same with memory of other kinds: what is left to the program beside a tool is all of it.
void fill_memory_with(const std::string& kind) {
  constexpr std::size_t kBlock = 4 << 20;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "stream");
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  std::size_t blocks = 0;
  for (bool took = true; took; blocks += took ? 1 : 0) {
    int* numbers = device_numbers;
    cudaArray_t array;
    void* tiny = nullptr;
    if (kind == "async") took = cudaMallocAsync(&numbers, kBlock, stream) == cudaSuccess;
    if (kind == "arrays") took = cudaMallocArray(&array, &floats, 1024, 1024) == cudaSuccess;
    if (kind == "tiny") took = cudaMalloc(&tiny, 1) == cudaSuccess;
    if (!took || (kind == "tiny" && blocks % 10000 != 0)) continue;
    fill<<<4, 256, 0, stream>>>(numbers, static_cast<int>(blocks));
  }
  std::printf("%zu of %s\n", blocks, kind.c_str());
}

// A pool keeps most of the device's memory; a graph allocates more than the tool leaves.
void fill_memory_by_graph() {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int* numbers = nullptr;
  check(cudaStreamCreate(&stream), "stream");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  check(cudaMallocAsync(&numbers, 60 << 20, stream), "cudaMallocAsync");
  fill<<<4, 256, 0, stream>>>(numbers, 1);
  check(cudaFreeAsync(numbers, stream), "cudaFreeAsync");
  check(cudaStreamEndCapture(stream, &graph), "end of capture");
  for (int i = 0; i < 18; ++i) {
    check(cudaMalloc(&numbers, 10 << 20), "cudaMalloc");
    fill<<<4, 256>>>(numbers, i);
  }
  check(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
  for (int i = 0; i < 3; ++i) check(cudaGraphLaunch(exec, stream), "launch");
  check(cudaStreamSynchronize(stream), "synchronize");
}

[[noreturn]] void end(const std::string& word, int number) {
  std::fflush(stdout);
  if (word == "_exit") _exit(number);
  if (word == "quick_exit") std::quick_exit(number);
  if (word == "abort") std::abort();
  if (word == "signal") raise(number);
  if (word == "null") *static_cast<volatile int*>(nullptr) = 1;
  std::exit(number);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "exit";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  if (word == "no-cuda") return number;
  std::printf("sum %ld\n", compute(7, &device_numbers));
  std::fprintf(stderr, "to stderr\n");
  if (word == "threads") in_threads(number != 0 ? number : 20);
  if (word == "fork") in_child(false);
  if (word == "exec") in_child(true);
  if (word == "oom") out_of_memory();
  if (word == "full") fill_memory();
  for (const char* kind : {"async", "arrays", "tiny"})
    if (word == std::string("full-") + kind) fill_memory_with(kind);
  if (word == "full-graph") fill_memory_by_graph();
  if (word == "graph") with_graph();
  if (word == "clone") in_copy();
  if (word == "beside") beside_threads(number);
  if (word == "held") with_held_stream();
  if (word == "late-launch") late_launch.armed = true;
  if (word == "late-free") late_free.armed = true;
  if (word == "free") check(cudaFree(device_numbers), "cudaFree");
  if (word == "wait") {
    std::printf("waiting\n");
    std::fflush(stdout);
    pause();
  }
  end(word, word == "threads" || word == "beside" ? 0 : number);
}
