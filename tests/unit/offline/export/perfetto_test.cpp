// SPDX-License-Identifier: Apache-2.0
// Perfetto's packets, read with protobuf's own code and a schema with the published numbers.

#include <map>
#include <set>

#include "offline/export/perfetto_packets.h"
#include "perfetto.pb.h"
#include "tests/support/random_program.h"
#include "tests/unit/offline/export/exported.h"

namespace drgpum {
namespace {

enum Type { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

struct ReadTrace {
  perfetto::Trace trace;
  std::map<std::uint64_t, perfetto::TrackDescriptor> tracks;

  explicit ReadTrace(const std::string& bytes) {
    EXPECT_TRUE(trace.ParseFromString(bytes));
    put_texts_in_place();
    for (const auto& packet : trace.packet())
      if (packet.has_track_descriptor()) {
        const auto& track = packet.track_descriptor();
        EXPECT_TRUE(tracks.emplace(track.uuid(), track).second)
            << "uuid " << track.uuid() << " twice";
        EXPECT_EQ(track.sibling_merge_behavior(), 2);  // none
      }
  }

  // Texts that events name by number, from this packet or one before.
  void put_texts_in_place() {
    using Texts = std::map<std::uint64_t, std::string>;
    Texts categories, names, annotation_names, annotation_texts;
    const auto learn = [](const auto& entries, Texts& texts) {
      for (const auto& entry : entries)
        EXPECT_TRUE(entry.iid() != 0 && texts.emplace(entry.iid(), entry.text()).second);
    };
    for (auto& packet : *trace.mutable_packet()) {
      const auto& interned = packet.interned_data();
      learn(interned.event_categories(), categories);
      learn(interned.event_names(), names);
      learn(interned.debug_annotation_names(), annotation_names);
      learn(interned.debug_annotation_string_values(), annotation_texts);
      if (!packet.has_track_event()) continue;
      EXPECT_NE(packet.sequence_flags() & 2, 0u);  // needs what came before
      auto& event = *packet.mutable_track_event();
      if (event.has_name_iid()) event.set_name(names.at(event.name_iid()));
      for (const std::uint64_t iid : event.category_iids())
        event.add_categories(categories.at(iid));
      for (auto& annotation : *event.mutable_debug_annotations()) {
        if (annotation.has_name_iid())
          annotation.set_name(annotation_names.at(annotation.name_iid()));
        if (annotation.has_string_value_iid())
          annotation.set_string_value(annotation_texts.at(annotation.string_value_iid()));
      }
    }
    EXPECT_EQ(trace.packet(0).sequence_flags() & 1, 1u);  // nothing came before the first
  }

  // What every reader takes for granted.
  void check() const {
    std::uint64_t now = 0;
    std::map<std::uint64_t, std::vector<std::uint64_t>> open;
    for (const auto& packet : trace.packet()) {
      EXPECT_EQ(packet.trusted_packet_sequence_id(), 1u);
      if (!packet.has_track_event()) continue;
      EXPECT_GE(packet.timestamp(), now) << "timestamps fall";
      now = packet.timestamp();
      const auto& event = packet.track_event();
      ASSERT_TRUE(tracks.contains(event.track_uuid()));
      EXPECT_EQ(tracks.at(event.track_uuid()).has_counter(), event.type() == kCounter);
      if (event.type() == kBegin) open[event.track_uuid()].push_back(now);
      if (event.type() != kEnd) continue;
      ASSERT_FALSE(open[event.track_uuid()].empty()) << "an end without a begin";
      open[event.track_uuid()].pop_back();
    }
    for (const auto& [track, begins] : open)
      EXPECT_TRUE(begins.empty()) << tracks.at(track).name() << " has an open slice";
    for (const auto& [uuid, track] : tracks)
      EXPECT_TRUE(!track.has_parent_uuid() || tracks.contains(track.parent_uuid()));
  }

  std::string name_of_track(const perfetto::TrackEvent& event) const {
    return tracks.at(event.track_uuid()).name();
  }

  // "name [begin, end) on track", in the order of their ends.
  std::vector<std::string> slices() const {
    std::map<std::uint64_t, std::vector<std::pair<std::string, std::uint64_t>>> open;
    std::vector<std::string> found;
    for (const auto& packet : trace.packet()) {
      const auto& event = packet.track_event();
      auto& of_track = open[event.track_uuid()];
      if (event.type() == kBegin) of_track.emplace_back(event.name(), packet.timestamp());
      if (event.type() != kEnd) continue;
      found.push_back(of_track.back().first + " [" + std::to_string(of_track.back().second) + ", " +
                      std::to_string(packet.timestamp()) + ") on " + name_of_track(event));
      of_track.pop_back();
    }
    return found;
  }

  std::uint64_t highest(const std::string& counter) const {
    std::int64_t value = 0;
    for (const auto& packet : trace.packet())
      if (packet.track_event().type() == kCounter &&
          name_of_track(packet.track_event()).starts_with(counter))
        value = std::max(value, packet.track_event().counter_value());
    return static_cast<std::uint64_t>(value);
  }

  std::size_t count(Type type, const std::string& category) const {
    std::size_t found = 0;
    for (const auto& packet : trace.packet()) {
      const auto& event = packet.track_event();
      if (event.type() == type && event.categories_size() > 0 && event.categories(0) == category)
        ++found;
    }
    return found;
  }
};

TEST(Perfetto, HoldsWorkObjectsAndLiveBytesInIssueOrder) {
  const Exported exported(
      "alloc a 1M\nalloc b 2M\nlaunch k writes a reads b\nfree a\nfree b\nend exit=0\n");
  const ReadTrace read(exported.as("perfetto"));
  read.check();
  EXPECT_EQ(read.slices(),
            (std::vector<std::string>{"k [2000, 3000) on stream 0 (default)",
                                      "a [0, 3000) on objects 1", "b [1000, 4000) on objects 2"}));
  EXPECT_EQ(read.highest("live bytes"), 3u << 20);
  EXPECT_EQ(read.highest("live bytes"), exported.report.peak_bytes());
}

TEST(Perfetto, UsesTheTimeOfTheDevice) {
  const Exported exported(
      "stream s\nstream t\nalloc a 1M\nlaunch k writes a on=s time=5000,9000\nlaunch l writes a "
      "on=t time=6000,7000\n"
      "launch m reads a on=s time=8000,9500\nfree a\nend exit=0\n");
  const ReadTrace read(exported.as("perfetto"));
  read.check();
  // m overlaps k on its stream (as nodes of a graph may), so it stands beside it.
  EXPECT_EQ(read.slices(),
            (std::vector<std::string>{"l [1000, 2000) on stream 2", "k [0, 4000) on stream 1",
                                      "m [3000, 4500) on stream 1, beside it 1",
                                      "a [0, 4500) on objects 1"}));
}

TEST(Perfetto, TellsWhatTheAxisIs) {
  const Exported plain("alloc a 1\nend\n");
  EXPECT_NE(ReadTrace(plain.as("perfetto")).tracks.at(1).description().find("issue order"),
            std::string::npos);
  const Exported timed("alloc a 1\nlaunch k writes a time=1,2\nend\n");
  EXPECT_NE(ReadTrace(timed.as("perfetto")).tracks.at(1).description().find("time of the device"),
            std::string::npos);
}

TEST(Perfetto, RandomProgramsCloseEverySlice) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const Exported exported(RandomProgram(seed, true).text());
    const ReadTrace read(exported.as("perfetto"));
    read.check();
    const auto lives = [](const Object& o) { return o.alloc < o.end; };
    const auto& objects = exported.report.evidence.objects;
    EXPECT_EQ(read.count(kBegin, "object"),
              static_cast<std::size_t>(std::count_if(objects.begin(), objects.end(), lives)));
    EXPECT_EQ(read.count(kInstant, "finding"), exported.report.findings.size());
  }
}

TEST(Perfetto, PhasesNestWhateverTheProgramDoes) {
  const ReadTrace read(
      Exported(
          "push outer\npush inner\nmark x\npop\npush crossing\npop outer\nmark y\npop\npush open\n"
          "alloc a 1\nend\n")
          .as("perfetto"));
  read.check();
  EXPECT_EQ(read.slices(),
            (std::vector<std::string>{
                "inner [1000, 3000) on host thread 0", "outer [0, 5000) on host thread 0",
                "crossing [4000, 7000) on host thread 0, beside it 1",
                "a [9000, 10000) on objects 1", "open [8000, 10000) on host thread 0"}));
}

TEST(Perfetto, TracksOfOneNameStayApart) {
  const ReadTrace read(
      Exported("stream a name=\"x\"\nstream b name=\"x\"\nalloc o 1\nlaunch k writes o on=a\n"
               "launch k writes o on=b\nend\n")
          .as("perfetto"));
  std::set<std::uint64_t> tracks;
  for (const auto& packet : read.trace.packet())
    if (packet.track_event().name() == "k") tracks.insert(packet.track_event().track_uuid());
  EXPECT_EQ(tracks.size(), 2u);
}

TEST(Perfetto, NamesAreCleanText) {
  const ReadTrace read(Exported(evil_records(), kEvilName).as("perfetto"));
  read.check();
  std::size_t names = 0;
  for (const auto& packet : read.trace.packet()) {
    names += packet.track_event().name().size() > 10;
    EXPECT_TRUE(is_clean(packet.track_descriptor().name()));
    EXPECT_TRUE(is_clean(packet.track_event().name())) << packet.track_event().name();
    for (const auto& annotation : packet.track_event().debug_annotations())
      EXPECT_TRUE(is_clean(annotation.string_value())) << annotation.string_value();
  }
  EXPECT_GT(names, 4u);
}

// Beyond the most texts that are numbered, events have them in place.
TEST(Perfetto, ManyNamesAreStillThere) {
  std::ostringstream out;
  {
    PerfettoPackets packets(out);
    packets.track({1, 0, "track", "", 0, false});
    for (int i = 0; i < 70'000; ++i) {
      packets.begin_event(PerfettoEvent::kInstant, 1, 5);
      packets.name("name " + std::to_string(i));
      packets.annotate_repeated("key", "text " + std::to_string(i));
      packets.end_event();
    }
  }
  const ReadTrace read(out.str());
  read.check();
  const auto& last = read.trace.packet(70'000).track_event();
  EXPECT_EQ(last.name(), "name 69999");
  EXPECT_EQ(last.debug_annotations(0).string_value(), "text 69999");
  EXPECT_EQ(read.trace.packet(1).track_event().name(), "name 0");
}

TEST(Perfetto, AnEmptyTraceIsATrace) {
  const ReadTrace read(Exported("end exit=0\n").as("perfetto"));
  read.check();
  EXPECT_TRUE(read.slices().empty());
}

}  // namespace
}  // namespace drgpum
