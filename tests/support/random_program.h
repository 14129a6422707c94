// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random programs as text traces: objects that come, are used on several streams, and go. `rich`
// ones also have threads, graphs, pools, two devices, parts of objects and access maps.

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace drgpum {

class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t the_seed, bool is_rich = false)
      : seed(the_seed), rich(is_rich) {}

  std::uint32_t seed = 0;
  bool rich = false;
  int steps = 80;
  std::string stream_prefix = "s";
  bool last_stream_first = false;  // declares the streams the other way round
  std::uint64_t first_address = 0x7f0000000000;

  std::string text() {
    random_.seed(seed);
    out_.clear();
    live_.clear();
    addresses_.clear();
    made_ = graphs_ = 0;
    calls_ = 0;
    address_ = first_address;
    streams_ = 1 + pick(rich ? 4 : 3);
    declare();
    for (int i = 0; i < steps; ++i)
      step();
    for (auto object = live_.rbegin(); object != live_.rend(); ++object)
      if (pick(4) != 0) call("free " + object->name);
    return out_ + "end exit=0\n";
  }

 private:
  static constexpr std::size_t kPlain = 12;  // kinds of steps that every program has
  static constexpr std::size_t kRich = 20;

  struct Live {
    std::string name;
    std::uint64_t size = 0;
    bool pool = false;
    int parts = 0;
    std::string parent;
  };

  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::string stream(std::size_t s) const { return stream_prefix + std::to_string(s); }
  std::string on() { return pick(4) == 0 ? std::string() : " on=" + stream(pick(streams_)); }
  std::string thread() { return rich && pick(5) == 0 ? " thread=1" : ""; }
  Live& any() { return live_[pick(live_.size())]; }

  void call(const std::string& text) {
    out_ += text + "\n";
    ++calls_;
  }

  void declare() {
    if (rich) out_ += "device; device\ncontext b device=1\nstream peer\ncontext a device=0\n";
    static const char* const kKinds[] = {"blocking", "non-blocking", "blocking", "per-thread"};
    for (std::size_t i = 0; i < streams_; ++i) {
      const std::size_t s = last_stream_first ? streams_ - 1 - i : i;
      out_ += "stream " + stream(s) + " " + (rich ? kKinds[s % 4] : kKinds[s % 2]) + "\n";
    }
  }

  void step() {
    const std::size_t what = pick(rich ? kRich : kPlain);
    if (live_.empty() || what < 2) return allocate();
    if (what == 2) return release();
    if (what <= 5) return copy_or_set(what);
    if (what == 6) return order();
    if (what < 14) return launch(what == 13);
    if (what == 14) return graph();
    if (what == 15) return part_of_pool();
    if (what == 16) return half();
    if (what == 17 && pick(3) == 0) return slices();
    if (what == 17 && pick(2) == 0) return other_device();
    if (what == 18 && pick(4) == 0) call("launch hidden uninstrumented" + on());
    if (what == 19) call("memcpy d2d " + any().name + " " + any().name + " async" + on());
  }

  void allocate() {
    static const char* const kKinds[] = {"", " pinned", " managed", " async"};
    const bool plain = !rich || pick(4) != 0;
    Live made{"o" + std::to_string(made_++), 1000 - 40 * pick(4), rich && pick(3) == 0, 0, ""};
    const std::string kind = plain || made.pool ? "" : kKinds[pick(4)];
    call("alloc " + made.name + " " + std::to_string(made.size) + " at=" +
         std::to_string(address_) + kind + (kind == " async" ? on() : "") + thread());
    address_ += 4096;
    addresses_.resize(static_cast<std::size_t>(made_), address_ - 4096);
    live_.push_back(made);
  }

  void part_of_pool() {
    Live& pool = any();
    if (!pool.pool || pool.parts == 3) return;
    const std::string name = "o" + std::to_string(made_++);
    const std::uint64_t at = addresses_[static_cast<std::size_t>(std::stoi(pool.name.substr(1)))] +
                             256 * static_cast<std::uint64_t>(pool.parts++);
    addresses_.resize(static_cast<std::size_t>(made_), at);
    call("alloc " + name + " 200 sub parent=" + pool.name + " at=" + std::to_string(at));
    live_.push_back({name, 200, false, 0, pool.name});
  }

  void release() {
    const std::string name = any().name;
    std::erase_if(live_, [&](const Live& object) {
      const bool goes = object.name == name || object.parent == name;
      if (goes && object.name != name) call("free " + object.name + " async" + on());
      return goes;
    });
    call("free " + name + (rich && pick(4) == 0 ? " async" + on() : thread()));
  }

  void copy_or_set(std::size_t what) {
    const std::string async = what != 5 && pick(2) == 0 ? " async" + on() : std::string();
    if (what == 5) call("memset " + any().name + on());
    if (what == 3) call("memcpy h2d " + any().name + async + thread());
    if (what == 4) call("memcpy d2h " + any().name + async + thread());
  }

  void half() {
    const Live& object = any();
    const std::string middle = std::to_string(object.size / 2);
    const std::string range = pick(2) == 0 ? "[0:" + middle + ")"
                                           : "[" + middle + ":" + std::to_string(object.size) + ")";
    static const char* const kVerbs[] = {"memcpy h2d ", "memcpy d2h ", "memset "};
    call(kVerbs[pick(3)] + object.name + range);
  }

  void order() {
    if (!rich && pick(2) == 0) {
      call("sync device");
    } else if (!rich || pick(2) == 0) {
      call("record e" + on());
      call("wait e" + on());
    } else {
      static const char* const kHow[] = {"sync device", "sync context", "sync event e",
                                         "query event e"};
      const std::size_t how = pick(6);
      const std::string of_stream = (how == 4 ? "sync stream " : "query stream ") +
                                    stream(pick(streams_));
      call((how < 4 ? kHow[how] : of_stream) + thread());
    }
  }

  void launch(bool with_map) {
    const Live a = any();
    const Live b = any();
    call("launch k" + std::to_string(pick(3)) + " reads " + a.name +
         (a.name == b.name ? "" : " writes " + b.name) + on() + thread());
    if (with_map) map_of(a, pick(2) * a.size / 2, a.size / (1 + pick(3)));
  }

  void map_of(const Live& object, std::uint64_t begin, std::uint64_t bytes) {
    const std::uint64_t end = std::min(begin + bytes, object.size);
    out_ += "map " + object.name + " cell=4 exact reads=" + std::to_string(begin) + ":" +
            std::to_string(end) + " counted=" + std::to_string((end - begin) / 4) + " mean=4" +
            " variance=" + std::to_string(pick(3)) + " hot=" + std::to_string(begin) + ":" +
            std::to_string(begin + 8) + "\n";
  }

  // An object that launches touch part by part.
  void slices() {
    allocate();
    const Live object = live_.back();
    const std::uint64_t part = object.size / (2 + pick(2));
    const std::string stream = on();
    for (std::uint64_t at = 0; at + part <= object.size; at += part) {
      call("launch slice reads " + object.name + stream);
      map_of(object, at, part);
    }
  }

  void graph() {
    const std::string stream = on();
    call("graph g" + std::to_string(graphs_++) + stream);
    const std::size_t first = calls_;
    const std::size_t nodes = 2 + pick(4);
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::string after = i == 0 || pick(3) == 0
                                    ? std::string()
                                    : " after=" + std::to_string(first + pick(i));
      call("launch k" + std::to_string(pick(3)) + " updates " + any().name + " node" + stream +
           after);
    }
  }

  // An object of the second device, filled from the first and used there.
  void other_device() {
    const std::string name = "o" + std::to_string(made_++);
    addresses_.resize(static_cast<std::size_t>(made_), address_);
    const std::string from = any().name;
    out_ += "context b\n";
    call("alloc " + name + " 500 at=" + std::to_string(address_));
    address_ += 4096;
    call("memcpy d2d " + from + " " + name + " on=peer peer=" + stream(pick(streams_)));
    call("launch k reads " + name + " on=peer");
    if (pick(2) == 0) call("launch k" + on_peer());
    if (pick(4) != 0) call("free " + name);
    out_ += "context a\n";
  }
  std::string on_peer() { return pick(2) == 0 ? " on=peer" : ""; }

  std::mt19937 random_;
  std::string out_;
  std::vector<Live> live_;
  std::vector<std::uint64_t> addresses_;  // by number of the object
  std::size_t streams_ = 0;
  std::size_t calls_ = 0;
  int made_ = 0;
  int graphs_ = 0;
  std::uint64_t address_ = 0;
};

}  // namespace drgpum
