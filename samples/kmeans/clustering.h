// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lloyd's k-means. Each iteration asks `memory` for what it needs, and for new centroids, which
// live on into the next iteration until the new ones there are about to take their place.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "samples/check.h"

constexpr int kPoints = 4096;
constexpr int kDimensions = 4;
constexpr int kClusters = 8;
constexpr int kIterations = 12;
constexpr int kThreads = 128;
constexpr int kParts = 16;  // of the points, summed up each by itself

__global__ void distances(const float* points, const float* centroids, float* distance) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kPoints * kClusters) return;
  float sum = 0.0f;
  for (int d = 0; d < kDimensions; ++d) {
    const float difference = points[i / kClusters * kDimensions + d] -
                             centroids[i % kClusters * kDimensions + d];
    sum += difference * difference;
  }
  distance[i] = sum;
}

__global__ void choose(const float* distance, int* nearest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kPoints) return;
  int best = 0;
  for (int c = 1; c < kClusters; ++c)
    if (distance[i * kClusters + c] < distance[i * kClusters + best]) best = c;
  nearest[i] = best;
}

// One thread for each part, cluster and dimension; one more dimension counts.
__global__ void sum_up(const float* points, const int* nearest, float* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kParts * kClusters * (kDimensions + 1)) return;
  const int d = i % (kDimensions + 1), c = i / (kDimensions + 1) % kClusters;
  const int part = i / (kDimensions + 1) / kClusters;
  float sum = 0.0f;
  for (int p = part; p < kPoints; p += kParts)
    if (nearest[p] == c) sum += d == kDimensions ? 1.0f : points[p * kDimensions + d];
  sums[i] = sum;
}

__global__ void take_means(const float* sums, float* centroids) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kClusters * kDimensions) return;
  const int d = i % kDimensions, c = i / kDimensions;
  float sum = 0.0f, count = 0.0f;
  for (int part = 0; part < kParts; ++part) {
    const float* of_cluster = sums + (part * kClusters + c) * (kDimensions + 1);
    sum += of_cluster[d];
    count += of_cluster[kDimensions];
  }
  centroids[i] = sum / fmaxf(count, 1.0f);
}

inline int blocks(int n) {
  return (n + kThreads - 1) / kThreads;
}

// Memory has take(bytes), give_back(pointer) and begin_iteration().
template <typename Memory>
float* iterate(Memory& memory, const float* points, float* centroids) {
  memory.begin_iteration();
  auto* distance = static_cast<float*>(memory.take(kPoints * kClusters * sizeof(float)));
  distances<<<blocks(kPoints * kClusters), kThreads>>>(points, centroids, distance);
  auto* nearest = static_cast<int*>(memory.take(kPoints * sizeof(int)));
  choose<<<blocks(kPoints), kThreads>>>(distance, nearest);
  memory.give_back(distance);
  memory.give_back(centroids);
  constexpr int kSums = kParts * kClusters * (kDimensions + 1);
  auto* sums = static_cast<float*>(memory.take(kSums * sizeof(float)));
  sum_up<<<blocks(kSums), kThreads>>>(points, nearest, sums);
  memory.give_back(nearest);
  centroids = static_cast<float*>(memory.take(kClusters * kDimensions * sizeof(float)));
  take_means<<<1, kThreads>>>(sums, centroids);
  memory.give_back(sums);
  return centroids;
}

// Points around eight corners; right when each corner gets a centroid.
template <typename Memory>
bool cluster(Memory& memory) {
  std::vector<float> points(kPoints * kDimensions), centroids(kClusters * kDimensions);
  unsigned state = 7;
  for (int i = 0; i < kPoints * kDimensions; ++i) {
    state = state * 1664525u + 1013904223u;
    const float noise = static_cast<float>(state >> 8) / static_cast<float>(1 << 24) - 0.5f;
    const int d = i % kDimensions, corner = i / kDimensions % kClusters;
    points[i] = (d < 3 && (corner >> d & 1) != 0 ? 10.0f : 0.0f) + noise;
  }
  for (int i = 0; i < kClusters * kDimensions; ++i)
    centroids[i] = points[i] + (i % kDimensions == 0 ? 2.0f : 0.0f);

  float *device_points = nullptr, *device_centroids = nullptr;
  CHECK(cudaMalloc(&device_points, points.size() * sizeof(float)));
  CHECK(cudaMemcpy(device_points, points.data(), points.size() * sizeof(float),
                   cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&device_centroids, centroids.size() * sizeof(float)));
  CHECK(cudaMemcpy(device_centroids, centroids.data(), centroids.size() * sizeof(float),
                   cudaMemcpyHostToDevice));
  for (int i = 0; i < kIterations; ++i)
    device_centroids = iterate(memory, device_points, device_centroids);
  CHECK(cudaMemcpy(centroids.data(), device_centroids, centroids.size() * sizeof(float),
                   cudaMemcpyDeviceToHost));
  memory.give_back(device_centroids);
  CHECK(cudaFree(device_points));

  bool right = true;
  for (int i = 0; i < kClusters * kDimensions; ++i) {
    const int d = i % kDimensions, corner = i / kDimensions;
    const float expected = d < 3 && (corner >> d & 1) != 0 ? 10.0f : 0.0f;
    right = right && std::fabs(centroids[i] - expected) < 0.2f;
  }
  return right;
}
