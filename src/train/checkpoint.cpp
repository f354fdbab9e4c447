#include "checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/progress.h"
#include "dgat/dist/communicator.h"
#include "dgat/train/option_table.h"
#include "dgat/train/results_version.h"

namespace dgat::train {
namespace fs = std::filesystem;
namespace {
using Metadata = std::map<std::string, std::string>;

template <class Number>
Number read_number(const Metadata& metadata, const std::string& key, const std::string& source) {
  const auto at = metadata.find(key);
  Number value{};
  if (at != metadata.end()) {
    const std::string& text = at->second;
    if (std::is_floating_point_v<Number> && text.find("nan") != std::string::npos) {
      return std::numeric_limits<Number>::quiet_NaN();
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
  }
  throw_input("{}: not a checkpoint of dgat ({} is missing); delete it to start this split again",
              source, key);
}

void restore_moments(const SafeTensors& file, nn::Model<float>& model, LoopState& state,
                     const std::string& source) {
  state.moments.clear();
  for (const auto& entry : model.parameters().entries()) {
    tensor::AdamMoments<float>& moments = state.moments.emplace_back();
    for (auto [prefix, matrix] :
         {std::pair{"adam_first/", &moments.first}, std::pair{"adam_second/", &moments.second}}) {
      const NamedTensor* tensor = file.find(prefix + entry.parameter.name);
      if (tensor == nullptr) continue;  // never updated
      const auto& value = entry.parameter.value;
      if (static_cast<int64_t>(tensor->values.size()) != value.size()) {
        throw_input("{}: tensor {} has another size than the model", source, tensor->name);
      }
      *matrix = tensor::Matrix<float>(value.rows(), value.cols());
      nn::assign_file_values(entry.parameter, tensor->values, *matrix);
    }
  }
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, nn::Model<float>& model,
                     const LoopState& state, const std::string& identity) {
  TensorList tensors;
  if (!state.finished) {
    tensors.add_model(model, "now/");
    size_t next = 0;
    for (const auto& entry : model.parameters().entries()) {
      const tensor::AdamMoments<float>& moments = state.moments.at(next++);
      if (moments.first.empty()) continue;
      tensors.add("adam_first/" + entry.parameter.name, entry.shape,
                  nn::file_values(entry.parameter, moments.first));
      tensors.add("adam_second/" + entry.parameter.name, entry.shape,
                  nn::file_values(entry.parameter, moments.second));
    }
  }
  if (!state.best_weights.empty()) {
    const Snapshot now(model);
    state.best_weights.restore(model);
    tensors.add_model(model, "best/");
    now.restore(model);
  }
  Metadata metadata = {{"options", identity},
                       {"step", fmt::format("{}", state.step)},
                       {"finished", state.finished ? "1" : "0"},
                       {"best_step", fmt::format("{}", state.best.step)},
                       {"best_loss", fmt::format("{}", state.best.loss)},
                       {"best_train", fmt::format("{}", state.best.train)},
                       {"best_val", fmt::format("{}", state.best.val)},
                       {"best_test", fmt::format("{}", state.best.test)},
                       {"seconds", fmt::format("{}", state.seconds)}};
  if (state.unevaluated_loss) {
    metadata["unevaluated_loss"] = fmt::format("{}", *state.unevaluated_loss);
  }
  write_atomically(path, [&](std::ostream& out) { tensors.write(out, metadata); });
}

void load_checkpoint(const std::filesystem::path& path, nn::Model<float>& model, LoopState& state,
                     const std::string& identity) {
  const SafeTensors file = read_safetensors(path);
  const std::string source = path.string();
  const auto options = file.metadata.find("options");
  if (options == file.metadata.end() || options->second != identity) {
    throw_input(
        "{}: the checkpoint belongs to a run with other options, other data or another results "
        "version of dgat; train into a new folder",
        source);
  }
  state.step = read_number<int64_t>(file.metadata, "step", source);
  state.finished = read_number<int64_t>(file.metadata, "finished", source) != 0;
  state.best.step = read_number<int64_t>(file.metadata, "best_step", source);
  state.best.loss = read_number<double>(file.metadata, "best_loss", source);
  state.best.train = read_number<double>(file.metadata, "best_train", source);
  state.best.val = read_number<double>(file.metadata, "best_val", source);
  state.best.test = read_number<double>(file.metadata, "best_test", source);
  state.seconds = read_number<double>(file.metadata, "seconds", source);
  if (file.metadata.contains("unevaluated_loss")) {
    state.unevaluated_loss = read_number<double>(file.metadata, "unevaluated_loss", source);
  }
  if (state.best.step > 0) {
    load_weights(file, model, source, "best/");
    state.best_weights = Snapshot(model);
  }
  if (state.finished) return;
  load_weights(file, model, source, "now/");
  restore_moments(file, model, state, source);
}

Checkpoints::Checkpoints(const SplitTask& task, const TrainHooks& hooks)
    : hooks_(hooks),
      every_(task.config.checkpoint_every),
      identity_(fmt::format("results_version={}\nsplit={}\nlayers={}\n", kResultsVersion,
                            task.split, task.layers)) {
  const Config defaults;
  for (const OptionInfo& option : config_options()) {
    if (!option.changes_result || option.affects_any(Affects::kTrials)) continue;
    const std::string value = option.get(task.config);
    if (value != option.get(defaults)) identity_ += fmt::format("{}={}\n", option.key, value);
  }
  identity_ += hooks.data;
}

fs::path previous_checkpoint(const fs::path& checkpoint) {
  fs::path previous = checkpoint;
  return previous += ".previous";
}

bool Checkpoints::load(nn::Model<float>& model, LoopState& state) const {
  if (hooks_.checkpoint.empty()) return false;
  const fs::path previous = previous_checkpoint(hooks_.checkpoint);
  const Snapshot initial(model);
  for (const fs::path& path : {hooks_.checkpoint, previous}) {
    if (!fs::exists(path)) continue;
    try {
      load_checkpoint(path, model, state, identity_);
      return true;
    } catch (const InputError& error) {
      initial.restore(model);
      state = LoopState{};
      state.moments.resize(model.parameters().entries().size());
      if (path != previous && fs::exists(previous)) {
        notice(fmt::format("train: {}; continuing from the previous checkpoint", error.what()));
      } else if (hooks_.checkpoint_is_optional) {
        notice(fmt::format("train: starting again: {}", error.what()));
      } else {
        throw;
      }
    }
  }
  return false;
}

void Checkpoints::save(nn::Model<float>& model, const LoopState& state) const {
  if (hooks_.checkpoint.empty() || !dist::leads()) return;
  if (hooks_.before_checkpoint) hooks_.before_checkpoint();
  try {
    std::error_code none_yet;
    fs::rename(hooks_.checkpoint, previous_checkpoint(hooks_.checkpoint), none_yet);
    save_checkpoint(hooks_.checkpoint, model, state, identity_);
    if (state.finished) fs::remove(previous_checkpoint(hooks_.checkpoint), none_yet);
  } catch (const Error& error) {
    if (!hooks_.checkpoint_is_optional) throw;
    notice(fmt::format("train: continuing without a checkpoint: {}", error.what()));
  }
}

int64_t checkpoint_step(const fs::path& checkpoint) {
  const fs::path previous = previous_checkpoint(checkpoint);
  for (const fs::path& path : {checkpoint, previous}) {
    if (!fs::exists(path)) continue;
    try {
      return read_number<int64_t>(read_safetensors(path).metadata, "step", path.string());
    } catch (const InputError&) {  // as Checkpoints::load() does
      if (path == previous || !fs::exists(previous)) throw;
    }
  }
  return 0;
}

}  // namespace dgat::train
