#pragma once

#include <functional>
#include <span>
#include <string>

#include "dgat/train/config.h"

/// Every option of a training run, once. The flags of the command line, the YAML files, the
/// documentation and the keys of trials, checkpoints and shared inputs are made from this table.
namespace dgat::train {

/// What an option has an effect on; several may be combined with |.
enum class Affects : unsigned {
  kNothing = 0,       ///< time and safety only: jobs, checkpoint_every
  kData = 1 << 0,     ///< the data set and its splits
  kTrials = 1 << 1,   ///< which trainings are run, not the result of one: depths, splits
  kGraph = 1 << 2,    ///< eigenvectors, rewiring and edge features of a directional model
  kInput = 1 << 3,    ///< what else a model sees: features, precomputed parts
  kNetwork = 1 << 4,  ///< the shape of the network
  kProtocol = 1 << 5  ///< how it is trained and evaluated
};
constexpr Affects operator|(Affects a, Affects b) {
  return static_cast<Affects>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// One row of the table.
struct OptionInfo {
  std::string key;      ///< YAML key and, with dashes, the flag: weight_decay, --weight-decay
  std::string group;    ///< heading in --help
  std::string value;    ///< what a value looks like: FLOAT, on|off
  std::string meaning;  ///< one line, with the range
  /// Parses and checks. Throws: InputError "key: what is wrong".
  std::function<void(Config&, const std::string&)> set;
  std::function<std::string(const Config&)> get;
  Affects affects = Affects::kNothing;
  bool searchable = true;      ///< whether `dgat tune` may search it
  bool changes_result = true;  ///< false: --resume may change it
  bool is_switch = false;      ///< the flag alone means on: --directed
  char letter = 0;             ///< a short flag: -k for --eigenvectors; 0: none
  std::string usual = {};      ///< the default of most models, where that of Config{} is older

  /// The default that help and documentation show.
  std::string shown_default() const { return usual.empty() ? get(Config{}) : usual; }

  /// Whether it affects one of the parts.
  bool affects_any(Affects parts) const {
    return (static_cast<unsigned>(affects) & static_cast<unsigned>(parts)) != 0;
  }
  /// Whether it affects none but these parts.
  bool affects_only(Affects parts) const { return (affects | parts) == parts; }
};

/// The rows in the order of config.yaml.
std::span<const OptionInfo> config_options();

/// Throws: InputError for a key that is not in the table; it suggests the nearest one.
const OptionInfo& find_option(const std::string& key);

/// An option about the directions of a graph, which a model without directions does not have.
bool is_about_directions(const OptionInfo& option);

}  // namespace dgat::train
