// SPDX-License-Identifier: Apache-2.0
#include "tests/support/training_trace.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace drgpum::testing {
namespace {

using Kind = TrainingLayer::Kind;
constexpr std::int64_t kFloat = 4;

// Appends layers of a convolutional network and keeps its current shape.
class Network {
 public:
  Network(std::int64_t batch, std::int64_t channels, std::int64_t side)
      : batch_(batch), channels_(channels), side_(side) {
    model_.input_bytes = output_bytes();
  }

  void conv(std::int64_t channels, std::int64_t kernel, std::int64_t stride = 1) {
    const std::int64_t weights = channels_ * channels * kernel * kernel;
    side_ /= stride;
    channels_ = channels;
    add(Kind::kConv, weights * kFloat,
        static_cast<double>(weights) * static_cast<double>(batch_ * side_ * side_) * kConvWork);
    model_.layers.back().workspace_bytes = output_bytes() / 4;
  }
  void norm() { add(Kind::kNorm, 2 * channels_ * kFloat, bytes_work(3)); }
  void relu() { add(Kind::kRelu, 0, bytes_work(2)); }
  void dropout() { add(Kind::kDropout, 0, bytes_work(2)); }
  void pool() {
    const double work = bytes_work(1.25);
    side_ /= 2;
    add(Kind::kPool, 0, work);
  }
  void dense(std::int64_t channels) {
    const std::int64_t weights = channels_ * side_ * side_ * channels;
    side_ = 1;
    channels_ = channels;
    add(Kind::kDense, weights * kFloat,
        static_cast<double>(weights * batch_) * kConvWork +
            static_cast<double>(weights) * kByteWork);
  }
  void add_skip(std::int32_t from) {
    add(Kind::kAdd, 0, bytes_work(3));
    model_.layers.back().skip_from = from;
  }
  std::int32_t last() const { return static_cast<std::int32_t>(model_.layers.size()) - 1; }
  std::int64_t channels() const { return channels_; }
  TrainingModel finish(double iteration_ns, std::int32_t operations) {
    model_.iteration_ns = iteration_ns;
    model_.operations = operations;
    return std::move(model_);
  }

 private:
  // A multiply-add against a byte moved: about 10 TFLOP/s against 400 GB/s.
  static constexpr double kConvWork = 2.0 / 10'000;
  static constexpr double kByteWork = 1.0 / 400;

  std::int64_t output_bytes() const { return batch_ * channels_ * side_ * side_ * kFloat; }
  double bytes_work(double passes) const {
    return passes * static_cast<double>(output_bytes()) * kByteWork;
  }
  void add(Kind kind, std::int64_t weight_bytes, double work) {
    constexpr std::array kNames = {"conv", "norm", "relu", "pool", "dense", "add", "dropout"};
    const std::string name =
        kNames[static_cast<std::size_t>(kind)] + std::to_string(model_.layers.size());
    model_.layers.push_back({name, kind, output_bytes(), weight_bytes, 0, 0, work, work, -1});
  }

  std::int64_t batch_, channels_, side_;
  TrainingModel model_;
};

// Writes events; a run's clock moves with each operation.
class Recorder {
 public:
  explicit Recorder(Problem& problem) : problem_(problem) {}

  std::uint32_t allocate(const std::string& id, std::int64_t size) {
    const auto object = static_cast<std::uint32_t>(problem_.objects.size());
    PlanObject made;
    made.id = id;
    made.size = size;
    made.life = {std::ssize(problem_.events), 0};
    problem_.objects.push_back(std::move(made));
    add(EventKind::kMalloc, object);
    return object;
  }
  void release(std::uint32_t object) {
    problem_.objects[object].life.upper = std::ssize(problem_.events);
    add(EventKind::kFree, object);
  }
  void read(std::uint32_t object) { add(EventKind::kRead, object); }
  void write(std::uint32_t object) { add(EventKind::kWrite, object); }
  void layer(const std::string& name) {
    problem_.layer_names.push_back(name);
    add(EventKind::kLayer, static_cast<std::uint32_t>(problem_.layer_names.size() - 1));
  }
  void iteration() { add(EventKind::kIteration, kNoObject); }
  void work(double ns) { now_ += ns; }
  void finish() {
    for (PlanObject& object : problem_.objects)
      if (object.life.upper == 0) object.life.upper = std::ssize(problem_.events);
  }

 private:
  void add(EventKind kind, std::uint32_t object) {
    problem_.events.push_back({static_cast<std::int64_t>(now_), object, kind});
  }

  Problem& problem_;
  double now_ = 0;
};

class Trainer {
 public:
  Trainer(const TrainingModel& model, const TrainingRun& run, Problem& problem)
      : model_(model), run_(run), record_(problem), random_(run.seed) {
    for (const TrainingLayer& layer : model.layers) {
      forward_work_ += layer.work;
      backward_work_ += layer.backward_work;
    }
  }

  void train() {
    for (int i = 0; i < run_.prologue; ++i)
      make_temporary("start", 1000 + draw(1 << 20));
    if (model_.library_bytes > 0) make("library", model_.library_bytes);
    if (model_.statistics_bytes > 0) {
      statistics_ = make("statistics", model_.statistics_bytes);
      record_.write(statistics_);
    }
    make_parameters();
    for (iteration_ = 0; iteration_ < run_.iterations; ++iteration_) {
      if (run_.marks) record_.iteration();
      step();
      if (run_.evaluate_every > 0 && (iteration_ + 1) % run_.evaluate_every == 0) evaluate();
    }
    for (int i = 0; i < run_.prologue; ++i)
      make_temporary("end", 1000 + draw(1 << 20));
    record_.finish();
  }

 private:
  struct Parameter {
    std::uint32_t weight = kNoObject;
    std::uint32_t gradient = kNoObject;
    std::uint32_t momentum = kNoObject;
    std::uint32_t kept = kNoObject;
    std::uint32_t old_gradient = kNoObject;
  };

  std::int64_t draw(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }

  // 512 bytes or so are off now and then: a run is never quite like the one before.
  std::int64_t noisy(std::int64_t size) {
    if (run_.noise == 0 || static_cast<double>(draw(1'000'000)) >= run_.noise * 1e6) return size;
    return size + 512 * (1 + draw(64));
  }

  std::uint32_t make(const std::string& name, std::int64_t size) {
    return record_.allocate(name + '.' + std::to_string(serial_++), noisy(size));
  }

  void make_temporary(const std::string& name, std::int64_t size) {
    const std::uint32_t object = make(name, size);
    record_.write(object);
    record_.read(object);
    record_.release(object);
  }

  void make_parameters() {
    for (const TrainingLayer& layer : model_.layers) {
      Parameter& parameter = parameters_.emplace_back();
      if (layer.weight_bytes == 0) continue;
      const auto made = [&](const char* what) {
        const std::uint32_t object = record_.allocate(layer.name + what, layer.weight_bytes);
        record_.write(object);
        return object;
      };
      parameter.weight = made(".weight");
      if (!model_.fresh_gradients) parameter.gradient = made(".gradient");
      parameter.momentum = made(".momentum");
      if (layer.kept_bytes > 0) parameter.kept = make(layer.name + ".kept", layer.kept_bytes);
    }
  }

  double forward_ns(const TrainingLayer& layer) const {
    return model_.iteration_ns * model_.forward_share * layer.work / forward_work_;
  }
  double backward_ns(const TrainingLayer& layer) const {
    return model_.iteration_ns * (1 - model_.forward_share - model_.update_share) *
           layer.backward_work / backward_work_;
  }

  // Small temporaries that make the number of operations what the model says.
  void fill_up(std::size_t layer, bool forward) {
    const auto layers = static_cast<std::int64_t>(model_.layers.size());
    std::int64_t own = 2;  // the input
    for (const TrainingLayer& l : model_.layers)
      own += 4 + (l.workspace_bytes > 0 ? 4 : 0) +
             (model_.fresh_gradients && l.weight_bytes > 0 ? 2 : 0);
    const std::int64_t pairs = std::max<std::int64_t>((model_.operations - own) / 2, 0);
    const auto in_forward =
        static_cast<std::int64_t>(static_cast<double>(pairs) * model_.forward_fill);
    const std::int64_t share = forward ? in_forward : pairs - in_forward;
    const auto at = static_cast<std::int64_t>(layer);
    const std::int64_t here = share * (at + 1) / layers - share * at / layers;
    for (std::int64_t i = 0; i < here; ++i)
      make_temporary(model_.layers[layer].name + ".tmp", 256 * (1 + (at * 7 + i * 3) % 61));
  }

  std::uint32_t input_of(std::size_t layer) const {
    return layer == 0 ? input_ : outputs_[layer - 1];
  }

  void forward(bool training) {
    input_ = make("input", model_.input_bytes);
    record_.write(input_);
    if (training && model_.statistics_bytes > 0) record_.read(statistics_);
    outputs_.assign(model_.layers.size(), kNoObject);
    for (std::size_t l = 0; l < model_.layers.size(); ++l) {
      const TrainingLayer& layer = model_.layers[l];
      record_.layer(layer.name);
      outputs_[l] = make(layer.name, layer.output_bytes);
      with_workspace(layer, [&] {
        record_.read(input_of(l));
        if (layer.skip_from >= 0) record_.read(outputs_[static_cast<std::size_t>(layer.skip_from)]);
        if (layer.weight_bytes > 0) record_.read(parameters_[l].weight);
        if (layer.kept_bytes > 0) record_.write(parameters_[l].kept);
        record_.write(outputs_[l]);
        record_.work(forward_ns(layer));
      });
      if (training) fill_up(l, true);
    }
  }

  template <typename Compute>
  void with_workspace(const TrainingLayer& layer, Compute&& compute) {
    const bool needed = layer.workspace_bytes > 0;
    const std::uint32_t workspace = needed ? make(layer.name + ".ws", layer.workspace_bytes) : 0;
    if (needed) record_.write(workspace);
    compute();
    if (needed) record_.release(workspace);
  }

  void backward() {
    const std::size_t n = model_.layers.size();
    std::uint32_t gradient = make("loss.gradient", model_.layers[n - 1].output_bytes);
    record_.write(gradient);
    for (std::size_t l = n; l-- > 0;) {
      const TrainingLayer& layer = model_.layers[l];
      record_.layer(layer.name + ".backward");
      const bool first = l == 0;
      const std::uint32_t next =
          first ? 0 : make(layer.name + ".gradient", model_.layers[l - 1].output_bytes);
      with_workspace(layer, [&] {
        record_.read(gradient);
        if (layer.kept_bytes > 0) transform_weights(parameters_[l]);
        if (model_.fresh_gradients && layer.weight_bytes > 0) renew_gradient(l);
        record_.read(input_of(l));
        record_.read(outputs_[l]);
        if (layer.weight_bytes > 0) {
          if (layer.kept_bytes == 0) record_.read(parameters_[l].weight);
          record_.write(parameters_[l].gradient);
        }
        if (!first) record_.write(next);
        record_.work(backward_ns(layer));
      });
      record_.release(gradient);
      record_.release(outputs_[l]);
      fill_up(l, false);
      gradient = next;
    }
    record_.release(input_);
    drop_old_gradients();
  }

  void transform_weights(const Parameter& parameter) {
    record_.read(parameter.weight);
    record_.write(parameter.kept);
  }

  void renew_gradient(std::size_t layer) {
    Parameter& parameter = parameters_[layer];
    parameter.old_gradient = parameter.gradient;
    parameter.gradient =
        make(model_.layers[layer].name + ".new_gradient", model_.layers[layer].weight_bytes);
  }

  // They are touched once more before they go: until then they could be away.
  void drop_old_gradients() {
    for (std::size_t l = parameters_.size(); l-- > 0;) {
      Parameter& parameter = parameters_[l];
      if (parameter.old_gradient == kNoObject) continue;
      record_.write(parameter.old_gradient);
      record_.release(parameter.old_gradient);
      parameter.old_gradient = kNoObject;
    }
  }

  void update() {
    double weights = 0;
    for (const TrainingLayer& layer : model_.layers)
      weights += static_cast<double>(layer.weight_bytes);
    for (std::size_t l = 0; l < model_.layers.size(); ++l) {
      const TrainingLayer& layer = model_.layers[l];
      if (layer.weight_bytes == 0) continue;
      if (model_.fresh_gradients) decay(parameters_[l]);
      record_.read(parameters_[l].gradient);
      record_.write(parameters_[l].momentum);
      record_.write(parameters_[l].weight);
      record_.work(model_.iteration_ns * model_.update_share *
                   static_cast<double>(layer.weight_bytes) / weights);
    }
  }

  void decay(const Parameter& parameter) {
    record_.read(parameter.weight);
    record_.write(parameter.gradient);
  }

  void step() {
    forward(true);
    backward();
    update();
    if (model_.statistics_bytes > 0) record_.write(statistics_);
  }

  void evaluate() {
    forward(false);
    for (const std::uint32_t output : outputs_)
      record_.release(output);
    record_.release(input_);
  }

  const TrainingModel& model_;
  const TrainingRun& run_;
  Recorder record_;
  std::mt19937_64 random_;
  double forward_work_ = 0;
  double backward_work_ = 0;
  int iteration_ = 0;
  std::int64_t serial_ = 0;
  std::vector<Parameter> parameters_;
  std::vector<std::uint32_t> outputs_;
  std::uint32_t input_ = 0;
  std::uint32_t statistics_ = 0;
};

}  // namespace

TrainingModel alexnet_like(std::int64_t batch) {
  Network net(batch, 3, 32);
  for (const std::int64_t channels : {32, 32, 64}) {
    net.conv(channels, 5);
    net.relu();
    net.pool();
  }
  net.dense(10);
  return net.finish(12e6, 188);
}

TrainingModel vgg_like(int depth, std::int64_t batch, std::int64_t dense) {
  const std::array<int, 5> blocks = depth <= 11   ? std::array{1, 1, 2, 2, 2}
                                    : depth == 13 ? std::array{2, 2, 2, 2, 2}
                                    : depth == 16 ? std::array{2, 2, 3, 3, 3}
                                                  : std::array{2, 2, 4, 4, 4};
  Network net(batch, 3, 32);
  std::int64_t channels = 64;
  for (const int convs : blocks) {
    for (int i = 0; i < convs; ++i) {
      net.conv(channels, 3);
      net.norm();
      net.relu();
      if (i == 0 && channels == 512) net.dropout();
    }
    net.pool();
    channels = std::min<std::int64_t>(2 * channels, 512);
  }
  net.dense(dense);
  net.norm();
  net.relu();
  net.dense(10);
  return net.finish(84e6 * static_cast<double>(batch) / 128, depth == 16 ? 1020 : 64 * depth);
}

TrainingModel resnet_like(int depth, std::int64_t batch) {
  Network net(batch, 3, 32);
  net.conv(16, 3);
  net.norm();
  net.relu();
  const int blocks = (depth - 2) / 6;
  for (const std::int64_t channels : {16, 32, 64}) {
    for (int i = 0; i < blocks; ++i) {
      const bool shrinks = i == 0 && channels != 16;
      net.conv(channels, 3, shrinks ? 2 : 1);
      net.norm();
      net.relu();
      const std::int32_t from = net.last() - 2;
      net.conv(channels, 3);
      net.norm();
      net.add_skip(from);
      net.relu();
    }
  }
  net.dense(10);
  return net.finish(40e6 * static_cast<double>(batch) / 128, depth == 32 ? 1268 : 40 * depth);
}

Problem training_trace(const TrainingModel& model, const TrainingRun& run) {
  Problem problem;
  problem.source = "training look-alike";
  problem.has_times = true;
  Trainer(model, run, problem).train();
  return problem;
}

std::string events_as_csv(const Problem& problem) {
  std::string csv = "time_ns,op,id,size\n";
  constexpr std::array kOps = {"malloc", "free", "read", "write", "iteration", "layer"};
  for (const PlanEvent& event : problem.events) {
    csv += std::to_string(event.time_ns) + ',' + kOps[static_cast<std::size_t>(event.kind)] + ',';
    if (event.kind == EventKind::kLayer)
      csv += problem.layer_names[event.object];
    else if (event.object != kNoObject)
      csv += problem.objects[event.object].id;
    csv += ',';
    if (event.kind == EventKind::kMalloc) csv += std::to_string(problem.objects[event.object].size);
    csv += '\n';
  }
  return csv;
}

}  // namespace drgpum::testing
