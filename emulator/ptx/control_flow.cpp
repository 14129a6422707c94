// SPDX-License-Identifier: Apache-2.0
// Basic blocks and immediate post-dominators.

#include "emulator/ptx/control_flow.h"

#include <algorithm>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>

namespace drgpum::emulator::ptx {
namespace {

bool leaves(Opcode opcode) {
  return opcode == Opcode::kRet || opcode == Opcode::kExit || opcode == Opcode::kTrap;
}

bool ends_block(Opcode opcode) {
  return leaves(opcode) || opcode == Opcode::kBra || opcode == Opcode::kBrx;
}

// The instructions that a jump may go to; the end of the function is the number after the last.
std::vector<std::uint32_t> targets_of(const Function& function, const Instruction& instruction) {
  if (instruction.opcode == Opcode::kBra) return {instruction.sources[0].index};
  if (instruction.opcode == Opcode::kBrx)
    return function.label_tables[instruction.sources[1].index];
  return {};
}

std::vector<std::uint32_t> block_starts(const Function& function) {
  const auto size = static_cast<std::uint32_t>(function.instructions.size());
  std::vector<std::uint32_t> starts = {0};
  for (std::uint32_t i = 0; i < size; ++i) {
    const Instruction& instruction = function.instructions[i];
    if (!ends_block(instruction.opcode)) continue;
    starts.push_back(i + 1);
    for (const std::uint32_t target : targets_of(function, instruction))
      starts.push_back(target);
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  starts.erase(std::lower_bound(starts.begin(), starts.end(), size), starts.end());
  return starts;
}

void make_blocks(Function& function) {
  const std::vector<std::uint32_t> starts = block_starts(function);
  function.blocks.clear();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    BasicBlock& block = function.blocks.emplace_back();
    block.begin = starts[i];
    block.end = i + 1 < starts.size() ? starts[i + 1]
                                      : static_cast<std::uint32_t>(function.instructions.size());
  }
}

// Where control goes after the last instruction of a block; the function's end is left out.
std::vector<std::uint32_t> next_instructions(const Function& function, const BasicBlock& block) {
  const Instruction& last = function.instructions[block.end - 1];
  std::vector<std::uint32_t> next = targets_of(function, last);
  if (!ends_block(last.opcode) || last.guard != kNoRegister) next.push_back(block.end);
  std::erase_if(next, [&](std::uint32_t i) { return i >= function.instructions.size(); });
  return next;
}

void link_blocks(Function& function) {
  for (std::uint32_t b = 0; b < function.blocks.size(); ++b) {
    BasicBlock& block = function.blocks[b];
    for (const std::uint32_t instruction : next_instructions(function, block)) {
      const std::uint32_t successor = block_of(function, instruction);
      auto& successors = block.successors;
      if (std::find(successors.begin(), successors.end(), successor) != successors.end()) continue;
      successors.push_back(successor);
      function.blocks[successor].predecessors.push_back(b);
    }
  }
}

// Whether a path leaves the function at the end of this block.
bool can_leave(const Function& function, const BasicBlock& block) {
  const Instruction& last = function.instructions[block.end - 1];
  if (leaves(last.opcode)) return true;
  const auto size = static_cast<std::uint32_t>(function.instructions.size());
  const bool falls = !ends_block(last.opcode) || last.guard != kNoRegister;
  if (falls && block.end == size) return true;
  const auto targets = targets_of(function, last);
  return std::find(targets.begin(), targets.end(), size) != targets.end();
}

// The blocks from which some path leaves the function; the others would mislead the dominators.
std::vector<bool> blocks_that_end(const Function& function) {
  std::vector<bool> ends(function.blocks.size());
  std::vector<std::uint32_t> open;
  const auto mark = [&](std::uint32_t b) {
    if (!ends[b]) open.push_back(b);
    ends[b] = true;
  };
  for (std::uint32_t b = 0; b < ends.size(); ++b) {
    if (can_leave(function, function.blocks[b])) mark(b);
  }
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    open.pop_back();
    for (const std::uint32_t predecessor : function.blocks[b].predecessors)
      mark(predecessor);
  }
  return ends;
}

// Dominators of the reversed graph, with one more vertex for the function's exit as its root.
void find_post_dominators(Function& function) {
  const std::vector<bool> ends = blocks_that_end(function);
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  const std::size_t exit = function.blocks.size();
  Graph reversed(exit + 1);
  for (std::size_t b = 0; b < exit; ++b) {
    for (const std::uint32_t s : function.blocks[b].successors) {
      if (ends[s]) boost::add_edge(s, b, reversed);
    }
    if (can_leave(function, function.blocks[b])) boost::add_edge(exit, b, reversed);
  }
  std::vector<std::size_t> dominators(exit + 1, boost::graph_traits<Graph>::null_vertex());
  boost::lengauer_tarjan_dominator_tree(
      reversed, exit,
      boost::make_iterator_property_map(dominators.begin(),
                                        boost::get(boost::vertex_index, reversed)));
  for (std::size_t b = 0; b < exit; ++b) {
    const std::size_t d = dominators[b];
    function.blocks[b].post_dominator = d < exit ? static_cast<std::uint32_t>(d) : kNoBlock;
  }
}

}  // namespace

void analyze_control_flow(Function& function) {
  if (function.instructions.empty()) return function.blocks.clear();
  make_blocks(function);
  link_blocks(function);
  find_post_dominators(function);
}

std::uint32_t block_of(const Function& function, std::uint32_t instruction) {
  const auto after =
      std::upper_bound(function.blocks.begin(), function.blocks.end(), instruction,
                       [](std::uint32_t i, const BasicBlock& block) { return i < block.begin; });
  return static_cast<std::uint32_t>(after - function.blocks.begin() - 1);
}

}  // namespace drgpum::emulator::ptx
