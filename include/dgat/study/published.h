#pragma once

#include <optional>
#include <span>
#include <string>

/// The numbers printed in the paper, in percent, for comparison with ours.
namespace dgat::study {

struct Published {
  double mean = 0;
  double std = 0;  ///< NaN where the paper gives none
};

/// Names of data sets as in the catalogue (film, cornell_old and case are accepted), models as in
/// `dgat models`. Nothing where the paper has no number.
std::optional<Published> published_result(const std::string& dataset, const std::string& model);

/// The three switches of the ablation tables.
struct AblationSwitches {
  bool laplacian = false, directional = false, rewire = false;
};
/// The seven rows, in the order of the paper's table on the heterophily data sets: first none of
/// the three (GAT), last all of them (DGAT). L(alpha, gamma) alone changes nothing and has no row.
std::span<const AblationSwitches> ablation_rows();
std::optional<Published> published_ablation(const std::string& dataset,
                                            const AblationSwitches& switches);

/// Data sets of a table, in its order; models of the heterophily table in its order.
std::span<const char* const> heterophily_datasets();
std::span<const char* const> small_datasets();
std::span<const char* const> heterophily_models();
std::span<const char* const> small_models();

/// One line of the table on synthetic graphs.
struct PublishedSynthetic {
  double mu, gat, gatv2;
  double dgat_best, gamma_best;  ///< the best test accuracy over gamma, and where
  double dgat_worst, gamma_worst;
};
std::span<const PublishedSynthetic> published_synthetic();

/// A classic network with options found by Luo, Shi and Wu (Classic GNNs are Strong Baselines,
/// NeurIPS 2024), in recipe deep.
struct TunedNetwork {
  const char *dataset, *model;
  const char* options;  ///< as in a line of a comparison: "lr=0.01:hidden=64"
  Published published;
};
std::span<const TunedNetwork> tuned_networks();

/// (ours - published) in standard deviations: of the paper where it gives one, else of ours.
double difference_in_deviations(double ours, double our_std, const Published& published);

}  // namespace dgat::study
