// SPDX-License-Identifier: Apache-2.0
// Traces whose records say what cannot be: every form is written whole, or refused with a reason.

#include <random>

#include <nlohmann/json.hpp>

#include "tests/support/random_program.h"
#include "tests/unit/offline/export/exported.h"

namespace drgpum {
namespace {

class Damage {
 public:
  explicit Damage(std::uint32_t seed) : random_(seed) {}

  std::vector<trace::Record> of(std::vector<trace::Record> records) {
    for (int i = 0; i < 12; ++i)
      std::visit([&](auto& record) { change(record); }, records[pick(records.size())]);
    // Some are lost, some are there twice.
    for (int i = 0; i < 3; ++i)
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(pick(records.size())));
    if (pick(4) == 0) records.push_back(records[pick(records.size())]);
    return records;
  }

 private:
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::uint64_t number() {
    static constexpr std::uint64_t kNumbers[] = {
        0, 1, 1000, 4096, 1u << 31, std::uint64_t{1} << 62, std::uint64_t{1} << 63, UINT64_MAX};
    return kNumbers[pick(std::size(kNumbers))];
  }

  void change(trace::ObjectRecord& object) {
    switch (pick(5)) {
      case 0:
        object.size = number();
        break;
      case 1:
        object.address = number();
        break;
      case 2:
        object.kind = static_cast<trace::ObjectKind>(pick(11));
        break;
      case 3:
        object.allocated_by = ApiId{number()};
        break;
      default:
        object.device = DeviceId{static_cast<std::uint32_t>(pick(9))};
    }
  }
  void change(trace::GpuApi& call) {
    if (pick(2) == 0) call.host_begin_ns = number();
    if (auto* copy = std::get_if<trace::MemcpyApi>(&call.payload))
      copy->source.width = copy->destination.height = number();
  }
  void change(trace::TimeRecord& time) { (pick(2) == 0 ? time.begin_ns : time.end_ns) = number(); }
  void change(trace::StreamRecord& stream) { stream.name = std::to_string(number()); }
  template <typename Other>
  void change(Other&) {}

  std::mt19937 random_;
};

// Random programs, with device times for some of the work.
std::vector<trace::Record> timed_program(std::uint32_t seed) {
  const auto untimed = trace::trace_from_text(RandomProgram(seed, true).text());
  std::vector<trace::Record> records;
  for (const trace::Record& record : *untimed) {
    records.push_back(record);
    const auto* call = std::get_if<trace::GpuApi>(&record);
    if (call == nullptr || call->kind != trace::ApiKind::kLaunch || call->id.value % 3 == 0)
      continue;
    const std::uint64_t begin = 100 * call->id.value % 1700;
    records.push_back(trace::TimeRecord{call->id, begin, begin + 250});
  }
  return records;
}

TEST(Hostile, ImpossibleRecordsBreakNoForm) {
  std::size_t refused = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Exported exported(Damage(seed).of(timed_program(seed)));
    for (const ExportFormat& format : export_formats()) {
      std::ostringstream out;
      const Status status = format.write(exported.input(), out);
      refused += !status;
      EXPECT_TRUE(status || !status.error().message.empty()) << format.name;
      if (format.name == "chrome" || format.name == "speedscope") {
        EXPECT_TRUE(nlohmann::json::accept(out.str())) << format.name;
      }
    }
    std::ostringstream published;
    EXPECT_TRUE(export_chrome_published(exported.input(), published));
    EXPECT_TRUE(nlohmann::json::accept(published.str()));
  }
  EXPECT_LT(refused, 10u) << "only databases refuse, ids that are there twice";
}

}  // namespace
}  // namespace drgpum
