#include "presets.h"

#include "dgat/data/catalogue.h"

namespace dgat::train {
namespace {

struct Preset {
  const char *dataset, *lr, *weight_decay, *dropout, *epsilon, *gamma, *alpha, *hidden;
};

constexpr Preset kPaper[] = {
    {"chameleon", "0.005", "0.0005", "0.4", "1e-07", "0.0", "0.9", "48"},
    {"squirrel", "0.05", "5e-05", "0.2", "1e-07", "0.2", "0.1", "48"},
    {"actor", "1e-05", "1e-07", "0.3", "1e-07", "0.2", "0.2", "32"},
    {"cornell", "0.005", "0.0005", "0.2", "5e-06", "0.3", "0.8", "32"},
    {"wisconsin", "0.005", "5e-06", "0.5", "1e-06", "0.3", "0.7", "32"},
    {"texas", "5e-05", "0.005", "0.4", "1e-05", "0.2", "0.8", "32"},
    {"cora", "0.005", "0.0005", "0.4", "5e-07", "0.9", "0.8", "16"},
    {"citeseer", "0.05", "5e-05", "0.6", "1e-05", "0.5", "0.2", "16"},
    {"pubmed", "0.01", "0.05", "0.6", "1e-06", "1.0", "0.3", "64"},
};

}  // namespace

Settings classic_defaults() {
  return {{"layers", "2"}, {"hidden", "64"},          {"heads", "8"},       {"dropout", "0.1"},
          {"lr", "0.01"},  {"weight_decay", "0.001"}, {"optimizer", "adam"}};
}

Settings paper_preset(const std::string& dataset) {
  const data::CatalogueEntry* entry = data::find_in_catalogue(dataset);  // cornell_old is cornell
  for (const Preset& p : kPaper) {
    if (entry == nullptr || std::string_view(entry->name) != p.dataset) continue;
    return {{"lr", p.lr},           {"weight_decay", p.weight_decay},
            {"dropout", p.dropout}, {"epsilon", p.epsilon},
            {"gamma", p.gamma},     {"alpha", p.alpha},
            {"hidden", p.hidden}};
  }
  return {};
}

}  // namespace dgat::train
