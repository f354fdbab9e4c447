#pragma once

#include <string>
#include <vector>

#include "dgat/study/published.h"
#include "dgat/study/study.h"
#include "dgat/train/grid.h"

/// Turns the text of a user into the rows of a study.
namespace dgat::study {

/// One line of a comparison as text:
///
///   gat                                  the model with its own defaults
///   dgat:gamma=0.1:rewire=none           with options of its own
///   dgat:gamma=0.1/0.3/1:alpha=0/1       six candidates, of which validation chooses one
///   gprgnn:extra.k=5                     an option that only this model has
///
/// `common` holds the options for all models. The line's own options replace them. Both replace the
/// model's defaults and the paper's options for the data set. Extra options go to the models that
/// have them. A model that cannot take the common options becomes a row with its failure. `grid`
/// holds several values of an option for all models: each is a candidate of every row that does not
/// set the option itself and on which it has an effect.
/// Throws: InputError for an unknown model, option or value in the line.
Row row_of(const std::string& text, const train::Settings& common, const train::DataFacts& dataset,
           const train::Grid& grid = {});

/// The settings with the defaults of the paper and of older results where they give none: preset
/// paper, and rewiring `auto` for models whose default is `advised`. For studies that are compared
/// with the paper.
train::Settings with_paper_defaults(train::Settings settings, const std::string& model);

/// "all" or "a,b,c". Throws: InputError when it is empty or names a row twice.
std::vector<Row> rows_of(const std::string& models, const train::Settings& common,
                         const train::DataFacts& dataset, const train::Grid& grid = {});

/// Every combination of "key=a/b:key=c/d"; one empty one for an empty text.
/// Throws: InputError for an unknown key or value, and for a key that cannot differ between rows.
std::vector<train::Settings> parse_grid(const std::string& text);

/// The seven rows of the paper's ablation tables for a directional model: L(alpha, gamma) or the
/// random-walk Laplacian, directional attention or plain, rewired or not. "On" means what the
/// settings (and the grid's candidates) say. The first row is the model's plain form, bit for bit.
/// Throws: InputError when the model has no plain form or the settings switch one of the three off.
std::vector<Row> rows_of_ablation(const train::Settings& settings, const std::string& grid,
                                  const train::DataFacts& dataset);

/// The model without directions: gat for dgat, gt-sep for dgt-sep; empty where there is none.
std::string plain_form(const std::string& model);

}  // namespace dgat::study
