// SPDX-License-Identifier: Apache-2.0
// Reads and checks the environment.

#include "emulator/machine/settings.h"

#include <charconv>
#include <string_view>

namespace drgpum::emulator {
namespace {

constexpr std::uint64_t kMaxDevices = 16;
constexpr std::uint64_t kMaxWorkers = 1024;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error refuse(const char* name, const char* value, const std::string& wanted) {
  return {ErrorCode::kInvalidArgument,
          std::string(name) + "=" + value + ": this must be " + wanted};
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos) return parse_number(text);
  const auto number = parse_number(text.substr(0, digits));
  const std::string_view unit = text.substr(digits);
  const std::size_t power = std::string_view("KMGT").find(unit.front());
  if (!number || power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  if (!rest.empty() && rest != "B" && rest != "iB") return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (*number > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return *number << shift;
}

Result<Settings> read_settings(const std::function<const char*(const char*)>& variable) {
  Settings settings;
  const auto number = [&](const char* name, std::uint64_t least, std::uint64_t most,
                          auto& target) -> Status {
    const char* value = variable(name);
    if (value == nullptr || *value == 0) return Ok{};
    const auto parsed = parse_number(value);
    if (!parsed || *parsed < least || *parsed > most)
      return refuse(name, value,
                    "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    target = static_cast<std::remove_reference_t<decltype(target)>>(*parsed);
    return Ok{};
  };
  RETURN_IF_ERROR(number("DRGPUM_EMULATOR_DEVICES", 1, kMaxDevices, settings.devices));
  RETURN_IF_ERROR(number("DRGPUM_EMULATOR_WORKERS", 1, kMaxWorkers, settings.workers));
  RETURN_IF_ERROR(
      number("DRGPUM_EMULATOR_SCHEDULE_SEED", 0, ~std::uint64_t{0}, settings.schedule_seed));
  if (const char* value = variable("DRGPUM_EMULATOR_DEVICE_MEMORY"); value != nullptr && *value) {
    settings.device_memory = parse_size(value);
    if (!settings.device_memory || *settings.device_memory == 0)
      return refuse("DRGPUM_EMULATOR_DEVICE_MEMORY", value, "a size such as 24GiB or 25769803776");
  }
  if (const char* value = variable("DRGPUM_EMULATOR_PRESET"); value != nullptr && *value)
    settings.preset = value;
  if (const char* value = variable("DRGPUM_EMULATOR_STATUS"); value != nullptr)
    settings.status_file = value;
  if (const char* value = variable("DRGPUM_EMULATOR_ACCESS_LOG"); value != nullptr)
    settings.access_log = value;
  const char* log = variable("DRGPUM_EMULATOR_LOG");
  settings.log = log != nullptr && *log != 0 && std::string_view(log) != "0";
  return settings;
}

}  // namespace drgpum::emulator
