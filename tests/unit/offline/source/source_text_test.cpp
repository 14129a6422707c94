// SPDX-License-Identifier: Apache-2.0
// Lines and statements of files that are here, or are somewhere else than they were.
#include "offline/source/source_text.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace drgpum {
namespace {

class SourceTextTest : public testing::Test {
 protected:
  SourceTextTest() : root_("/tmp/drgpum-source-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(root_ + "/src/app");
    std::ofstream(root_ + "/src/app/main.cu")
        << "int main() {\n"                                               // 1
           "  float* a;  // cudaMalloc(&wrong, 1);\n"                     // 2
           "  cudaMalloc(&a, 4);\n"                                       // 3
           "  CHECK(cudaMalloc(\n"                                        // 4
           "      (void**)&b,\n"                                          // 5
           "      n));\n"                                                 // 6
           "  for (int i = 0; i < n; ++i) {\n"                            // 7
           "    cudaMalloc(&c[i], 4); }\n"                                // 8
           "  cudaMalloc(&d, 1); cudaMalloc(&e, 1);\n"                    // 9
           "  printf(\"cudaMalloc( ; %d\", 3); f = alloc(7) /* ; */ ;\n"  // 10
           "}";                                                           // 11
  }
  ~SourceTextTest() override { std::filesystem::remove_all(root_); }
  std::string file() const { return root_ + "/src/app/main.cu"; }
  std::string root_;
};

TEST_F(SourceTextTest, LinesAreCountedFromOne) {
  SourceText text({});
  EXPECT_EQ(text.line(file(), 1), "int main() {");
  EXPECT_EQ(text.line(file(), 11), "}");
  EXPECT_EQ(text.line(file(), 0), "");
  EXPECT_EQ(text.line(file(), 12), "");
  EXPECT_EQ(text.line(root_ + "/none", 1), "");
  EXPECT_EQ(text.line(root_, 1), "");
}

TEST_F(SourceTextTest, StatementsSpanLines) {
  SourceText text({});
  EXPECT_EQ(text.statement(file(), 3), "cudaMalloc(&a, 4)");
  for (const std::uint32_t line : {4u, 5u, 6u})
    EXPECT_EQ(text.statement(file(), line), "CHECK(cudaMalloc( (void**)&b, n))");
  EXPECT_EQ(text.statement(file(), 8), "cudaMalloc(&c[i], 4)");
}

TEST_F(SourceTextTest, AllocationsOnALineAreCounted) {
  SourceText text({});
  EXPECT_EQ(text.allocations_on(file(), 2), 0);
  EXPECT_EQ(text.allocations_on(file(), 3), 1);
  EXPECT_EQ(text.allocations_on(file(), 9), 2);
  EXPECT_EQ(text.allocations_on(file(), 10), 1);
}

TEST_F(SourceTextTest, FilesThatMovedAreFound) {
  SourceText by_root({{root_ + "/src"}, {}, {}});
  EXPECT_EQ(by_root.line("/build/machine/src/app/main.cu", 1), "int main() {");
  EXPECT_EQ(by_root.line("app/main.cu", 1), "int main() {");
  SourceText by_map({{}, {{"/build/machine", root_}}, {}});
  EXPECT_EQ(by_map.line("/build/machine/src/app/main.cu", 1), "int main() {");
  SourceText neither({});
  EXPECT_EQ(neither.line("/build/machine/src/app/main.cu", 1), "");
}

}  // namespace
}  // namespace drgpum
