// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random programs as text traces: objects that come, are used on several streams, and go.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace drgpum {

struct RandomProgram {
  std::uint32_t seed = 0;
  int steps = 80;
  std::string stream_prefix = "s";
  std::uint64_t first_address = 0x7f0000000000;

  std::string text() const {
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const std::size_t streams = 1 + pick(3);
    std::string out;
    for (std::size_t s = 0; s < streams; ++s)
      out += "stream " + stream(s) + (s % 2 == 0 ? " blocking" : " non-blocking") + "\n";
    std::vector<std::string> live;
    std::uint64_t address = first_address;
    int made = 0;
    const auto on = [&] { return pick(4) == 0 ? std::string() : " on=" + stream(pick(streams)); };
    for (int i = 0; i < steps; ++i) {
      const std::size_t what = pick(12);
      if (live.empty() || what < 2) {
        live.push_back("o" + std::to_string(made++));
        out += "alloc " + live.back() + " " + std::to_string(1000 - 40 * pick(4)) +
               " at=" + std::to_string(address) + "\n";
        address += 4096;
        continue;
      }
      const std::string a = live[pick(live.size())];
      const std::string b = live[pick(live.size())];
      if (what == 2) {
        out += "free " + a + "\n";
        live.erase(std::find(live.begin(), live.end(), a));
      } else if (what == 3) {
        out += "memcpy h2d " + a + (pick(2) == 0 ? " async" + on() : "") + "\n";
      } else if (what == 4) {
        out += "memcpy d2h " + a + (pick(2) == 0 ? " async" + on() : "") + "\n";
      } else if (what == 5) {
        out += "memset " + a + on() + "\n";
      } else if (what == 6) {
        out += pick(2) == 0 ? "sync device\n" : "record e" + on() + "\nwait e" + on() + "\n";
      } else {
        out += "launch k" + std::to_string(pick(3)) + " reads " + a +
               (a == b ? "" : " writes " + b) + on() + "\n";
      }
    }
    for (const std::string& name : live)
      if (pick(4) != 0) out += "free " + name + "\n";
    return out + "end exit=0\n";
  }

 private:
  std::string stream(std::size_t s) const { return stream_prefix + std::to_string(s); }
};

}  // namespace drgpum
