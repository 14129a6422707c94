// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small multi-layer perceptron and its training: forward, backward, update. Every tensor of an
// iteration is asked of `memory` when it is needed and given back when it is needed no more, as
// frameworks do. Weights stay.

#include <cmath>
#include <cstddef>
#include <vector>

#include "samples/check.h"

constexpr int kBatch = 32;
constexpr int kWidths[] = {128, 512, 512, 128, 16};  // of the input and of each layer's output
constexpr int kLayers = 4;
constexpr int kIterations = 6;
constexpr float kRate = 0.1f;

__global__ void linear(const float* in, const float* weight, const float* bias, float* out,
                       int width_in, int width_out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kBatch * width_out) return;
  const int row = i / width_out, column = i % width_out;
  float sum = bias[column];
  for (int k = 0; k < width_in; ++k)
    sum += in[row * width_in + k] * weight[column * width_in + k];
  out[i] = sum;
}

__global__ void relu(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(in[i], 0.0f);
}

__global__ void relu_gradient(const float* in, const float* gradient, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] > 0.0f ? gradient[i] : 0.0f;
}

// Softmax and cross-entropy of one row per thread: its loss, and the gradient of the logits.
__global__ void softmax_loss(const float* logits, const int* labels, float* loss, float* gradient,
                             int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= kBatch) return;
  float most = logits[row * width], sum = 0.0f;
  for (int k = 1; k < width; ++k)
    most = fmaxf(most, logits[row * width + k]);
  for (int k = 0; k < width; ++k)
    sum += expf(logits[row * width + k] - most);
  for (int k = 0; k < width; ++k) {
    const float share = expf(logits[row * width + k] - most) / sum;
    gradient[row * width + k] = (share - (k == labels[row] ? 1.0f : 0.0f)) / kBatch;
  }
  loss[row] = logf(sum) + most - logits[row * width + labels[row]];
}

__global__ void weight_gradient(const float* in, const float* gradient, float* out, int width_in,
                                int width_out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width_in * width_out) return;
  const int column = i / width_in, k = i % width_in;
  float sum = 0.0f;
  for (int row = 0; row < kBatch; ++row)
    sum += gradient[row * width_out + column] * in[row * width_in + k];
  out[i] = sum;
}

__global__ void bias_gradient(const float* gradient, float* out, int width) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= width) return;
  float sum = 0.0f;
  for (int row = 0; row < kBatch; ++row)
    sum += gradient[row * width + column];
  out[column] = sum;
}

__global__ void input_gradient(const float* gradient, const float* weight, float* out, int width_in,
                               int width_out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kBatch * width_in) return;
  const int row = i / width_in, k = i % width_in;
  float sum = 0.0f;
  for (int column = 0; column < width_out; ++column)
    sum += gradient[row * width_out + column] * weight[column * width_in + k];
  out[i] = sum;
}

__global__ void update(float* weight, const float* gradient, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) weight[i] -= kRate * gradient[i];
}

constexpr int kThreads = 128;

inline int blocks(int n) {
  return (n + kThreads - 1) / kThreads;
}

struct Layer {
  int in, out;
  float *weight, *bias;                    // for good
  float *weight_gradient, *bias_gradient;  // from the backward pass to the update
  float *linear, *relu;                    // from the forward to the backward pass
};

// Numbers that look random and are the same everywhere.
class Numbers {
 public:
  float next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(state_ >> 8) / static_cast<float>(1 << 24) - 0.5f;
  }

 private:
  unsigned state_ = 1;
};

// Memory has take(bytes), give_back(pointer) and begin_iteration().
template <typename Memory>
class Training {
 public:
  explicit Training(Memory& memory) : memory_(memory) {
    for (int l = 0; l < kLayers; ++l)
      layers_.push_back(make_layer(kWidths[l], kWidths[l + 1]));
  }

  ~Training() {
    for (const Layer& layer : layers_) {
      CHECK(cudaFree(layer.weight));
      CHECK(cudaFree(layer.bias));
    }
  }

  // One iteration on a batch; returns its mean loss.
  float step(const std::vector<float>& samples, const std::vector<int>& labels) {
    memory_.begin_iteration();
    float* input = tensor(kBatch * kWidths[0]);
    CHECK(cudaMemcpy(input, samples.data(), samples.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    forward(input);
    float mean = 0;
    float* gradient = loss(labels, &mean);
    backward(input, gradient);
    update_weights();
    return mean;
  }

 private:
  float* tensor(int n) { return static_cast<float*>(memory_.take(n * sizeof(float))); }

  Layer make_layer(int in, int out) {
    Layer layer{in, out, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    std::vector<float> numbers(in * out);
    for (float& number : numbers)
      number = random_.next() * 2 * std::sqrt(6 / static_cast<float>(in));
    CHECK(cudaMalloc(&layer.weight, numbers.size() * sizeof(float)));
    CHECK(cudaMemcpy(layer.weight, numbers.data(), numbers.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&layer.bias, out * sizeof(float)));
    CHECK(cudaMemset(layer.bias, 0, out * sizeof(float)));
    return layer;
  }

  void forward(float* input) {
    for (Layer& layer : layers_) {
      const int n = kBatch * layer.out;
      layer.linear = tensor(n);
      linear<<<blocks(n), kThreads>>>(input, layer.weight, layer.bias, layer.linear, layer.in,
                                      layer.out);
      if (&layer == &layers_.back()) break;
      layer.relu = tensor(n);
      relu<<<blocks(n), kThreads>>>(layer.linear, layer.relu, n);
      input = layer.relu;
    }
  }

  float* loss(const std::vector<int>& labels, float* mean) {
    const Layer& last = layers_.back();
    int* device_labels = static_cast<int*>(memory_.take(labels.size() * sizeof(int)));
    CHECK(cudaMemcpy(device_labels, labels.data(), labels.size() * sizeof(int),
                     cudaMemcpyHostToDevice));
    float* losses = tensor(kBatch);
    float* gradient = tensor(kBatch * last.out);
    softmax_loss<<<1, kBatch>>>(last.linear, device_labels, losses, gradient, last.out);
    std::vector<float> host(kBatch);
    CHECK(cudaMemcpy(host.data(), losses, kBatch * sizeof(float), cudaMemcpyDeviceToHost));
    for (const float one : host)
      *mean += one / kBatch;
    memory_.give_back(device_labels);
    memory_.give_back(losses);
    memory_.give_back(last.linear);
    return gradient;
  }

  // Gives back the input, the gradient and all that the forward pass left.
  void backward(float* input, float* gradient) {
    for (int l = kLayers - 1; l >= 0; --l) {
      Layer& layer = layers_[l];
      float* in = l == 0 ? input : layers_[l - 1].relu;
      layer.weight_gradient = tensor(layer.in * layer.out);
      weight_gradient<<<blocks(layer.in * layer.out), kThreads>>>(
          in, gradient, layer.weight_gradient, layer.in, layer.out);
      layer.bias_gradient = tensor(layer.out);
      bias_gradient<<<blocks(layer.out), kThreads>>>(gradient, layer.bias_gradient, layer.out);
      float* next = l == 0 ? nullptr : through(layers_[l - 1], layer, gradient);
      memory_.give_back(gradient);
      memory_.give_back(in);
      gradient = next;
    }
  }

  // The gradient of a layer's input, through the activation of the layer before.
  float* through(Layer& before, const Layer& layer, const float* gradient) {
    const int n = kBatch * layer.in;
    float* of_relu = tensor(n);
    input_gradient<<<blocks(n), kThreads>>>(gradient, layer.weight, of_relu, layer.in, layer.out);
    float* of_linear = tensor(n);
    relu_gradient<<<blocks(n), kThreads>>>(before.linear, of_relu, of_linear, n);
    memory_.give_back(of_relu);
    memory_.give_back(before.linear);
    return of_linear;
  }

  void update_weights() {
    for (Layer& layer : layers_) {
      const int n = layer.in * layer.out;
      update<<<blocks(n), kThreads>>>(layer.weight, layer.weight_gradient, n);
      update<<<blocks(layer.out), kThreads>>>(layer.bias, layer.bias_gradient, layer.out);
      memory_.give_back(layer.weight_gradient);
      memory_.give_back(layer.bias_gradient);
    }
  }

  Memory& memory_;
  Numbers random_;
  std::vector<Layer> layers_;
};

// Trains on one batch; right when the loss falls to half.
template <typename Memory>
bool train(Memory& memory) {
  Numbers random;
  std::vector<float> samples(kBatch * kWidths[0]);
  std::vector<int> labels(kBatch);
  for (int row = 0; row < kBatch; ++row) {
    labels[row] = row % kWidths[kLayers];
    for (int k = 0; k < kWidths[0]; ++k) {
      const float signal = k % kWidths[kLayers] == labels[row] ? 2.0f : 0.0f;
      samples[row * kWidths[0] + k] = random.next() + signal;
    }
  }
  Training<Memory> training(memory);
  float first = 0, last = 0;
  for (int i = 0; i < kIterations; ++i) {
    last = training.step(samples, labels);
    if (i == 0) first = last;
  }
  std::printf("loss %.3f, then %.3f\n", first, last);
  return last < 0.5f * first;
}
