// Lanes of a graph's products: two products that share a workspace must be ordered by edges.
#pragma once

#include <cuda.h>

#include <map>
#include <string>
#include <vector>

namespace foxhunt::device::cuda {

// A product as a capture recorded it; `node` is its last node.
struct CapturedProduct {
  cuuint64_t capture = 0;  // the driver's number of the capture
  CUgraphNode node = nullptr;
  std::string lane, text;
};

// What a graph's products use.
struct LaneReport {
  std::map<std::string, std::string> uses;  // lane -> one product of it
  std::string conflict;                     // the first pair without an edge, as a sentence; empty: none

  void conflict_between(const std::string& lane, const std::string& one, const std::string& other);
};

// One node of a composed graph: what it comes after and what it uses.
struct LaneStep {
  std::vector<int> after;  // indices of earlier steps
  LaneReport report;
};

LaneReport lanes_of_steps(const std::vector<LaneStep>& steps);
// from[i] -> to[i] are the captured graph's edges.
LaneReport lanes_of_capture(const std::vector<CapturedProduct>& products, const std::vector<CUgraphNode>& from,
                            const std::vector<CUgraphNode>& to);

}  // namespace foxhunt::device::cuda
