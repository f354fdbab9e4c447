#pragma once

#include "dgat/synth/csbm.h"

namespace dgat::test {

/// Features that name the class, joined by edges that have nothing to do with it: a network without
/// another way to keep a node's own features does best where edges are dropped.
inline data::Dataset misleading_edges(int splits = 1) {
  synth::CsbmOptions o;
  o.nodes = 240;
  o.classes = 3;
  o.degree = 6;
  o.homophily = 1.0 / 3;
  o.features = 8;
  o.signal = 3;
  o.splits = splits;
  o.seed = 9;
  return synth::csbm(o);
}

}  // namespace dgat::test
