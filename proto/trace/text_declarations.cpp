// SPDX-License-Identifier: Apache-2.0
// Declarations in a text trace: devices, contexts, streams, names, paths, modules.
#include <tuple>
#include <utility>

#include "proto/trace/text_parser.h"

namespace drgpum::trace {

void TextParser::begin_process() {
  if (std::exchange(process_begun_, true)) return;
  ProcessRecord process;
  process.executable = "/app";
  process.argv = {"app"};
  process.mode = "object";
  records_.push_back(process);
}

void TextParser::begin_device_if_none() {
  begin_process();
  if (std::exchange(has_device_, true)) return;
  DeviceRecord device;
  device.kind = DeviceKind::kEmulated;
  device.name = "test device";
  device.memory_bytes = kDefaultDeviceMemory;
  records_.push_back(device);
}

void TextParser::begin_context(const std::string& name, DeviceId device) {
  begin_device_if_none();
  context_ = {contexts_made_};
  device_ = device;
  cubin_ = {contexts_made_++};
  contexts_[name] = {context_, device_};
  default_streams_[context_.value] = {streams_made_++};
  records_.push_back(ContextRecord{context_, device_});
  records_.push_back(
      StreamRecord{default_streams_[context_.value], context_, StreamKind::kLegacyDefault, ""});
  records_.push_back(CubinRecord{cubin_, context_, 0, "", ""});
}

void TextParser::begin_context_if_none() {
  if (contexts_made_ == 0) begin_context("0", {});
}

Status TextParser::process(Words& words) {
  if (process_begun_) return bad_text("the process comes first");
  ProcessRecord process;
  process.executable = words.option("exe").value_or("/app");
  process.mode = words.option("mode").value_or("object");
  process.rank = words.option("rank").value_or("");
  ASSIGN_OR_RETURN(process.pid, words.number_option("pid", 0));
  while (auto argument = words.option("arg"))
    process.argv.push_back(*argument);
  process_begun_ = true;
  records_.push_back(process);
  return Ok{};
}

Status TextParser::device(Words& words) {
  begin_process();
  DeviceRecord device;
  device.id = {has_device_ ? device_.value + 1 : 0};
  device_ = device.id;
  has_device_ = true;
  device.kind = words.flag("gpu") ? DeviceKind::kGpu : DeviceKind::kEmulated;
  device.name = words.option("name").value_or("test device");
  ASSIGN_OR_RETURN(device.memory_bytes, words.number_option("memory", kDefaultDeviceMemory));
  records_.push_back(device);
  return Ok{};
}

Status TextParser::context(Words& words) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the context's name"));
  ASSIGN_OR_RETURN(const std::uint64_t device, words.number_option("device", 0));
  const auto known = contexts_.find(name);
  if (known == contexts_.end())
    begin_context(name, {static_cast<std::uint32_t>(device)});
  else
    std::tie(context_, device_) = known->second;
  cubin_ = {context_.value};
  return Ok{};
}

Status TextParser::cubin(Words& words) {
  constexpr std::uint32_t kFirst = 1 << 16;  // those before belong to the contexts
  begin_context_if_none();
  cubin_ = {kFirst + cubins_made_++};
  const std::string hash = words.option("hash").value_or("");
  records_.push_back(CubinRecord{cubin_, context_, 0, hash, words.option("saved").value_or("")});
  return Ok{};
}

Status TextParser::stream(Words& words) {
  StreamRecord stream{{streams_made_++}, context_, StreamKind::kBlocking, ""};
  ASSIGN_OR_RETURN(const std::string name, words.take("the stream's name"));
  for (std::size_t k = 0; k < kEnumNames<StreamKind>.size(); ++k)
    if (words.flag(kEnumNames<StreamKind>[k])) stream.kind = static_cast<StreamKind>(k);
  stream.name = words.option("name").value_or("");
  streams_[name] = stream.id;
  records_.push_back(stream);
  return Ok{};
}

Status TextParser::end_stream(Words& words) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the stream's name"));
  ASSIGN_OR_RETURN(const StreamId id, find_stream(name));
  records_.push_back(StreamEndRecord{id, {next_api_}});
  return Ok{};
}

Status TextParser::end_context(Words& words) {
  ContextId id = context_;
  if (!words.empty()) {
    ASSIGN_OR_RETURN(const std::string name, words.take("the context's name"));
    const auto known = contexts_.find(name);
    if (known == contexts_.end()) return bad_text("there is no context '" + name + "'");
    id = known->second.first;
  }
  records_.push_back(ContextEndRecord{id, {next_api_}});
  return Ok{};
}

Status TextParser::end_object(Words& words) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the object"));
  ASSIGN_OR_RETURN(const Object found, object(name));
  records_.push_back(ObjectEndRecord{found.id, {next_api_}});
  return Ok{};
}

Status TextParser::name(Words& words) {
  ASSIGN_OR_RETURN(const std::string what, words.take("the object"));
  ASSIGN_OR_RETURN(const Object found, object(what));
  ASSIGN_OR_RETURN(const std::string text, words.take("the name"));
  records_.push_back(ObjectNameRecord{found.id, text});
  return Ok{};
}

Status TextParser::global(Words& words) {
  ASSIGN_OR_RETURN(const ObjectRecord made, new_object(words, ObjectKind::kModuleGlobal));
  records_.push_back(made);
  return Ok{};
}

Status TextParser::path(Words& words) {
  CallPathRecord path;
  ASSIGN_OR_RETURN(const std::string name, words.take("the path's name"));
  path.id = {static_cast<std::uint32_t>(paths_.size() + 1)};
  while (!words.empty()) {
    ASSIGN_OR_RETURN(const std::string frame, words.take("a frame"));
    ASSIGN_OR_RETURN(const std::uint64_t address, parse_number(frame));
    path.frames.push_back(address);
  }
  paths_[name] = path.id;
  records_.push_back(path);
  return Ok{};
}

Status TextParser::module(Words& words) {
  HostModuleRecord module;
  module.id = {static_cast<std::uint32_t>(modules_.size())};
  ASSIGN_OR_RETURN(const std::string name, words.take("the module's name"));
  ASSIGN_OR_RETURN(const std::string begin, words.take("the begin"));
  ASSIGN_OR_RETURN(const std::string end, words.take("the end"));
  ASSIGN_OR_RETURN(module.begin, parse_number(begin));
  ASSIGN_OR_RETURN(module.end, parse_number(end));
  ASSIGN_OR_RETURN(module.load_bias, words.number_option("bias", module.begin));
  module.path = words.option("path").value_or("/" + name);
  module.build_id = words.option("build-id").value_or("");
  module.loaded_at = {next_api_};
  modules_[name] = module.id;
  records_.push_back(module);
  return Ok{};
}

Status TextParser::end_module(Words& words) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the module's name"));
  if (!modules_.contains(name)) return bad_text("there is no module '" + name + "'");
  records_.push_back(HostModuleEndRecord{modules_[name], {next_api_}});
  return Ok{};
}

}  // namespace drgpum::trace
