#pragma once

#include <functional>
#include <string_view>

#include "dgat/data/text_file.h"
#include "edge_rows.h"
#include "names.h"

namespace dgat::data {

/// Reads rows of two ids and maybe a weight; `number(id)` turns an id into a node. `known` are the
/// ids that may occur, or null where every text is one.
///
/// The first row is a header when it has two words like source,target; when neither of its words is
/// a known id; or, without known ids, when its words are no numbers and those of the next row are.
/// With a header the column called weight (or w, weights, edge_weight) holds the weights; without
/// one a third column of numbers does. NetworkX writes a Python dictionary there: its 'weight' is
/// read. A notice says what was taken for a header or weights and what is not read.
/// options.unweighted leaves all weights unread.
/// Throws: InputError "file:line: ..." for a row without two ids or without a positive weight.
EdgeRows read_edge_rows(TextReader& reader, const IdTable* known, const LoadOptions& options,
                        const std::function<graph::NodeId(std::string_view)>& number);

}  // namespace dgat::data
