#pragma once

#include "dgat/data/dataset.h"
#include "dgat/data/splits.h"

namespace dgat::synth {

/// The minesweeper data set of Platonov et al. 2023 for any size of the board.
struct MinesweeperOptions {
  graph::NodeId height = 100, width = 100;
  double mines = 0.2;    ///< share of the cells with a mine (label 1), exact up to rounding
  double unknown = 0.5;  ///< share of the cells whose count is hidden, exact up to rounding
  data::SplitFractions split{.train = 0.5, .val = 0.25, .test = 0.25};
  int splits = 10;  ///< how many; 0 for none
  uint64_t seed = 0;
};

/// Cell (r, c) is node r * width + c, joined to its up to 8 neighbours. Seven 0/1 features, one of
/// which is set: column 0 "unknown", columns 1..6 "0, 1, 2, 3, 4, 5 or more neighbours have a
/// mine". Which cells are unknown does not depend on where the mines are.
///
/// Cost:   O(cells).
/// Throws: InputError when an option is out of range.
data::Dataset minesweeper(const MinesweeperOptions& options);

}  // namespace dgat::synth
