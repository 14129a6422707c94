# SPDX-License-Identifier: Apache-2.0
"""Writes CUDA programs whose line tables differ in shape: inlining of every depth, macros, templates, lambdas,
functions kept apart, code from headers, several kernels, two units linked. The same seed gives the same programs.

    make_programs.py FOLDER [COUNT] [SEED]

Program NN is NN.cu with its header NN.cuh, and NN_far.cu, the second unit of the linked form.
"""

import pathlib
import random
import sys

STATEMENTS = [
    "x = x * {a} + {b};",
    "if (i % {n} == 0) {{\n    x += {f}(x, i);\n  }} else {{\n    x -= {b};\n  }}",
    "for (int k = 0; k < {n}; ++k) {{\n    x = {f}(x, k);\n  }}",
    "x = {f}({g}(x, i),\n        i + {n});",
    "switch (i & 3) {{\n    case 0:\n      x += {a};\n      break;\n    case 1:\n      x *= {b};\n      break;\n    default:\n      x = {f}(x, i);\n  }}",
    "SCALE(x, {a});",
    "x += [=](float y) {{\n    return y * {a} + {f}(y, i);\n  }}(x);",
    "out[i] += x;",
    "atomicAdd(&out[i & {n}], x);",
    "x += shared[(threadIdx.x + {n}) & 31];\n  __syncthreads();",
    "x = sqrtf(fabsf(x) + {a}) + __sinf(x);",
    "while (x > {a} && i < {n}) {{\n    x *= 0.5f;\n    ++i;\n  }}",
    "x = Chain<{n}>::of(x);",
    "{{\n    Pair p{{x, {b}}};\n    p.swap();\n    x = p.sum();\n  }}",
    "x = __shfl_xor_sync(0xffffffffu, x, {n});",
    "if (x != x) asm volatile(\"trap;\");",
]

HEADER = """#pragma once
// Header of program {name}.
#define SCALE(v, by) \\
  do {{             \\
    v = v * (by);   \\
    v = v + 1.0f;   \\
  }} while (0)

struct Pair {{
  float a;
  float b;
  __device__ void swap() {{
    float c = a;
    a = b;
    b = c;
  }}
  __device__ float sum() const {{ return a + b; }}
}};

template <int depth>
struct Chain {{
  static __device__ __forceinline__ float of(float x) {{
    return Chain<depth - 1>::of(x * 1.5f)
           + depth;
  }}
}};
template <>
struct Chain<0> {{
  static __device__ __forceinline__ float of(float x) {{
    return x;
  }}
}};
"""


class Program:
    def __init__(self, name, seed):
        self.name, self.random = name, random.Random(seed)
        self.functions = []

    def statement(self):
        pick = lambda: self.random.choice(self.functions or ["fmaxf"])
        return self.random.choice(STATEMENTS).format(
            a=f"{self.random.uniform(0.5, 4):.3f}f", b=f"{self.random.uniform(0.5, 9):.3f}f", n=self.random.randrange(1, 8),
            f=pick(), g=pick())

    def function(self, index, qualifier, prefix):
        plain = [s for s in (self.statement() for _ in range(6))
                 if "out[" not in s and "shared[" not in s and "__shfl" not in s][: self.random.randrange(1, 4)]
        name = f"{prefix}{index}"
        body = "\n  ".join(plain)
        self.functions.append(name)
        gap = "\n" * self.random.randrange(0, 4)
        return (f"{gap}{qualifier} float {name}(float x, int i) {{\n  {body}\n  return x + i;\n}}\n")

    def kernel(self, index):
        count = self.random.randrange(3, 9)
        body = "\n  ".join(self.statement() for _ in range(count))
        is_template = self.random.random() < 0.3
        head = "template <typename T>\n" if is_template else ""
        kind = "T" if is_template else "float"
        name = f"kernel{index}"
        text = (f"\n{head}__global__ void {name}(const {kind}* in, {kind}* out, int n) {{\n"
                f"  __shared__ float shared[32];\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                f"  if (i >= n) return;\n  float x = in[i];\n  shared[threadIdx.x & 31] = x;\n  {body}\n  out[i] = x;\n}}\n")
        if is_template:
            text += f"template __global__ void {name}<float>(const float*, float*, int);\n"
        return text

    def write(self, folder):
        header = HEADER.format(name=self.name)
        for index in range(self.random.randrange(1, 4)):
            header += self.function(index, "static __device__ __forceinline__", "head")
        (folder / f"{self.name}.cuh").write_text(header)
        source = f'// Program {self.name}.\n#include "{self.name}.cuh"\n'
        for index in range(self.random.randrange(1, 5)):
            qualifier = self.random.choice(["__device__ static", "__device__ inline", "static __device__ __noinline__"])
            source += self.function(index, qualifier, "own")
        kernels = "".join(self.kernel(index) for index in range(self.random.randrange(1, 4)))
        (folder / f"{self.name}.cu").write_text(source + kernels)
        far = (f'#include "{self.name}.cuh"\n\n__device__ float far_away(float x, int i) {{\n  x = head0(x, i);\n  SCALE(x, 2.0f);\n'
               f'  return x;\n}}\n\n__global__ void far_kernel(float* out) {{\n  out[threadIdx.x] = far_away(out[threadIdx.x], 3);\n}}\n')
        (folder / f"{self.name}_far.cu").write_text(far)


def main():
    folder = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(count):
        Program(f"p{index:02}", seed * 1000 + index).write(folder)


if __name__ == "__main__":
    main()
