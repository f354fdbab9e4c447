#pragma once

#include <string>
#include <vector>

#include "dgat/study/published.h"
#include "dgat/study/study.h"

/// From what a user writes to the rows of a study.
namespace dgat::study {

/// One line of a comparison as text:
///
///   gat                                  the model with its own defaults
///   dgat:gamma=0.1:rewire=none           with options of its own
///   dgat:gamma=0.1/0.3/1:alpha=0/1       six candidates, of which validation chooses one
///   gprgnn:extra.k=5                     an option that only this model has
///
/// `common` holds what was given for all models; the line's own options win over it, and both win
/// over the model's defaults and the presets of the data set. Extra options reach the models that
/// know them. A model that cannot take the common options becomes a row with its failure.
/// Throws: InputError for an unknown model, option or value in the line.
Row row_of(const std::string& text, const train::Settings& common, const std::string& dataset);

/// "all" or "a,b,c". Throws: InputError when it is empty or names a row twice.
std::vector<Row> rows_of(const std::string& models, const train::Settings& common,
                         const std::string& dataset);

/// Every combination of "key=a/b:key=c/d"; one empty one for an empty text.
/// Throws: InputError for an unknown key or value, and for a key that cannot differ between rows.
std::vector<train::Settings> parse_grid(const std::string& text);

/// The seven rows of the paper's ablation tables for a directional model: L(alpha, gamma) or the
/// random-walk Laplacian, directional attention or plain, rewired or not. "On" means what the
/// settings (and the grid's candidates) say. The first row is the model's plain form, bit for bit.
/// Throws: InputError when the model has no plain form or the settings switch one of the three off.
std::vector<Row> rows_of_ablation(const train::Settings& settings, const std::string& grid,
                                  const std::string& dataset);

/// The model without directions: gat for dgat, gt-sep for dgt-sep; empty where there is none.
std::string plain_form(const std::string& model);

}  // namespace dgat::study
