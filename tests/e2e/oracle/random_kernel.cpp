// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/oracle/random_kernel.h"

#include <iterator>
#include <sstream>

namespace drgpum::oracle {
namespace {

// The address is %at; values are in %r1 to %r4, %d1, %d2, %h1 to %h4, %f1 and %g1.
struct Access {
  const char* text;
  unsigned alignment;
  unsigned bytes;  // from the address on, all instructions together
};

constexpr Access kAccesses[] = {
    {"ld.global.u8 %h1, [%at];", 1, 1},
    {"ld.global.s16 %r1, [%at];", 2, 2},
    {"ld.global.u32 %r1, [%at];", 4, 4},
    {"ld.global.nc.u32 %r1, [%at];", 4, 4},
    {"ld.global.u64 %d1, [%at];", 8, 8},
    {"ld.u32 %r1, [%at];", 4, 4},
    {"ld.volatile.global.u32 %r1, [%at];", 4, 4},
    {"st.global.u8 [%at], %h1;", 1, 1},
    {"st.global.u16 [%at], %h1;", 2, 2},
    {"st.global.u32 [%at], %r2;", 4, 4},
    {"st.global.u64 [%at], %d1;", 8, 8},
    {"st.u32 [%at], %r2;", 4, 4},
    {"ld.global.v2.u8 {%h1, %h2}, [%at];", 2, 2},
    {"ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%at];", 8, 8},
    {"ld.global.v2.u32 {%r1, %r2}, [%at];", 8, 8},
    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%at];", 16, 16},
    {"ld.global.v2.u64 {%d1, %d2}, [%at];", 16, 16},
    {"st.global.v2.u32 [%at], {%r1, %r2};", 8, 8},
    {"st.global.v4.f32 [%at], {%f1, %f1, %f1, %f1};", 16, 16},
    {"st.global.v2.u64 [%at], {%d1, %d2};", 16, 16},
    {"atom.global.add.u32 %r1, [%at], %r2;", 4, 4},
    {"atom.global.cas.b32 %r1, [%at], %r2, %r3;", 4, 4},
    {"atom.global.exch.b64 %d1, [%at], %d2;", 8, 8},
    {"atom.global.cas.b64 %d1, [%at], %d1, %d2;", 8, 8},
    {"atom.add.u32 %r1, [%at], %r2;", 4, 4},
    {"red.global.max.u32 [%at], %r2;", 4, 4},
    {"red.global.add.f32 [%at], %f1;", 4, 4},
    {"red.global.add.f64 [%at], %g1;", 8, 8},
    {"prefetch.global.L2 [%at];", 1, 1},
    // Structs whose parts lie where no wider access may go.
    {"ld.global.u8 %h1, [%at]; ld.global.u8 %h2, [%at+1]; ld.global.u8 %h3, [%at+2];"
     " st.global.u8 [%at+2], %h1; st.global.u8 [%at+1], %h2;",
     1, 3},
    {"ld.global.u8 %h1, [%at+4]; ld.global.u8 %h2, [%at+3]; st.global.u8 [%at], %h1;"
     " st.global.u8 [%at+4], %h2; ld.global.u8 %h3, [%at+2];",
     1, 5},
    {"ld.global.u32 %r1, [%at]; ld.global.u32 %r2, [%at+4]; ld.global.u16 %h1, [%at+8];"
     " st.global.u16 [%at+8], %h1; st.global.u32 [%at+4], %r1;",
     4, 12},
    {"ld.global.u64 %d1, [%at]; ld.global.u64 %d2, [%at+16]; st.global.u64 [%at+8], %d2;", 8, 24},
    // From global to shared memory.
    {"cp.async.ca.shared.global [%tile], [%at], 4;", 4, 4},
    {"cp.async.ca.shared.global [%tile], [%at], 8;", 8, 8},
    {"cp.async.cg.shared.global [%tile], [%at], 16;", 16, 16},
    {"cp.async.ca.shared.global [%tile], [%at], 8, 0;", 8, 8},  // reads nothing
    // From within a device function.
    {"{ .param .b64 p; .param .b32 q; st.param.b64 [p], %at; call (q), helper, (p);"
     " ld.param.b32 %r1, [q]; }",
     4, 8},
};

class KernelWriter {
 public:
  explicit KernelWriter(std::mt19937& random) : random_(random) {}

  std::string write(const std::string& name) {
    out_ << ".version 8.0\n.target sm_80\n.address_size 64\n"
         << ".func (.param .b32 result) helper(.param .b64 from)\n{\n"
         << ".reg .b64 %p; .reg .b32 %v;\nld.param.b64 %p, [from];\n"
         << "ld.u32 %v, [%p];\nst.u32 [%p+4], %v;\nst.param.b32 [result], %v;\nret;\n}\n"
         << ".visible .entry " << name << '(';
    for (unsigned i = 0; i < kBuffers; ++i)
      out_ << ".param .u64 a" << i << ", ";
    for (unsigned i = 0; i < kBuffers; ++i)
      out_ << ".param .u32 s" << i << (i + 1 < kBuffers ? ", " : ")\n{\n");
    out_ << ".reg .b32 %r<6>; .reg .b32 %t, %n, %i, %trip, %lane, %size<" << kBuffers << ">;\n"
         << ".reg .b64 %d<3>, %at, %off, %buffer<" << kBuffers << ">; .reg .b16 %h<5>;\n"
         << ".reg .f32 %f<2>; .reg .f64 %g<2>; .reg .pred %p<8>; .reg .b32 %tile;\n"
         << ".shared .align 16 .b8 tiles[4096];\n";
    for (unsigned i = 0; i < kBuffers; ++i)
      out_ << "ld.param.u64 %buffer" << i << ", [a" << i << "]; ld.param.u32 %size" << i << ", [s"
           << i << "];\n";
    out_ << "mov.u32 %t, %tid.x; and.b32 %r1, %t, 255; mov.u32 %tile, tiles;"
         << " mad.lo.u32 %tile, %r1, 16, %tile;\n"
         << "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %t, %r1, %r2, %t;\n"
         << "mov.u32 %lane, %laneid; mov.u32 %i, 0;\n"
         << "mov.u32 %r1, 1; mov.u32 %r2, 7; mov.u32 %r3, 3; mov.u32 %r4, 4; mov.b64 %d1, 5;\n"
         << "mov.b64 %d2, 9; mov.u16 %h1, 1; mov.u16 %h2, 2; mov.u16 %h3, 3; mov.u16 %h4, 4;\n"
         << "mov.f32 %f1, 0f3F800000; mov.f64 %g1, 0d3FF0000000000000;\n";
    statements(2 + pick(5), 0);
    out_ << "ret;\n}\n";
    return out_.str();
  }

 private:
  unsigned pick(unsigned count) {
    return std::uniform_int_distribution<unsigned>(0, count - 1)(random_);
  }

  void statements(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned kind = depth < 3 ? pick(6) : 0;
      if (kind == 4)
        branch(depth);
      else if (kind == 5)
        loop(depth);
      else
        access();
    }
  }

  // The address of one element of a buffer, at a place that depends on the thread and the round.
  void access() {
    const Access& chosen = kAccesses[pick(std::size(kAccesses))];
    const unsigned buffer = pick(kBuffers);
    const unsigned step =
        chosen.bytes % chosen.alignment == 0 && pick(2) == 0 ? chosen.bytes : chosen.alignment;
    constexpr unsigned kStrides[] = {0, 1, 1, 1, 2, 3, 17, 64};
    out_ << "sub.u32 %n, %size" << buffer << ", " << chosen.bytes << "; div.u32 %n, %n, " << step
         << "; add.u32 %n, %n, 1;\n"
         << "mad.lo.u32 %r5, %t, " << kStrides[pick(std::size(kStrides))] << ", " << pick(100)
         << "; mad.lo.u32 %r5, %i, " << pick(40) << ", %r5; rem.u32 %r5, %r5, %n;\n"
         << "mul.wide.u32 %off, %r5, " << step << "; add.u64 %at, %buffer" << buffer << ", %off;\n";
    const std::string text = chosen.text;
    const bool one = text.find(';') + 1 == text.size() && text[0] != '{';
    if (one && pick(3) == 0) {
      condition(0);
      out_ << "@%p0 ";
    }
    out_ << text << '\n';
  }

  void condition(unsigned predicate) {
    constexpr const char* kTests[] = {"and.b32 %n, %t, 1;", "and.b32 %n, %lane, 12;",
                                      "and.b32 %n, %t, 32;", "shr.u32 %n, %lane, 4;",
                                      "rem.u32 %n, %t, 5;"};
    out_ << kTests[pick(std::size(kTests))] << " setp." << (pick(2) == 0 ? "eq" : "ne") << ".u32 %p"
         << predicate << ", %n, 0;\n";
  }

  void branch(unsigned depth) {
    const unsigned label = labels_++;
    condition(1 + depth);
    out_ << "@%p" << 1 + depth << " bra ELSE" << label << ";\n";
    statements(1 + pick(2), depth + 1);
    out_ << "bra END" << label << ";\nELSE" << label << ":\n";
    if (pick(2) == 0) statements(1 + pick(2), depth + 1);
    out_ << "END" << label << ":\n";
  }

  // Lanes go round between once and five times. Inner loops count on with the same register.
  void loop(unsigned depth) {
    const unsigned label = labels_++;
    out_ << ".reg .b32 %last" << label << "; rem.u32 %last" << label << ", %t, " << 1 + pick(5)
         << "; add.u32 %last" << label << ", %last" << label << ", %i;\nLOOP" << label << ":\n";
    statements(1 + pick(2), depth + 1);
    out_ << "add.u32 %i, %i, 1; setp.le.u32 %p" << 4 + depth << ", %i, %last" << label << "; @%p"
         << 4 + depth << " bra LOOP" << label << ";\n";
  }

  std::mt19937& random_;
  std::ostringstream out_;
  unsigned labels_ = 0;
};

}  // namespace

std::string random_kernel(std::mt19937& random, const std::string& name) {
  return KernelWriter(random).write(name);
}

}  // namespace drgpum::oracle
