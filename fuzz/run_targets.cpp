// The files of runs and studies.
#include "dgat/nn/registry.h"
#include "dgat/report/run_record.h"
#include "dgat/study/ledger.h"
#include "dgat/train/config.h"
#include "dgat/train/safetensors.h"
#include "dgat/train/tfrecord.h"
#include "dgat/train/trained_model.h"
#include "target.h"
#include "train/checkpoint.h"

namespace dgat::fuzz {
namespace {

/// A checksum in the metadata would refuse every mutation: under another name it is not looked at.
std::string without_checksum(std::string_view bytes) {
  constexpr std::string_view kKey = "dgat.sha256";
  std::string text(bytes);
  for (size_t at = text.find(kKey); at != std::string::npos; at = text.find(kKey, at)) {
    text[at] = 'x';
  }
  return text;
}

void safetensors(std::string_view bytes) {
  train::parse_safetensors(without_checksum(bytes), "fuzz");
}
void weights(std::string_view bytes) {
  train::load_trained(file("split-0.safetensors", without_checksum(bytes)), 0);
}
void checkpoint(std::string_view bytes) {
  static const auto model =
      nn::make_model("gcn", {.features = 3, .classes = 2, .hidden = 2, .heads = 1, .layers = 1});
  train::LoopState state;
  state.moments.resize(model->parameters().entries().size());
  const auto path = file("checkpoint.safetensors", without_checksum(bytes));
  train::checkpoint_step(path);
  const auto read = train::read_safetensors(path);
  const auto identity = read.metadata.find("options");
  train::load_checkpoint(path, *model, state,
                         identity == read.metadata.end() ? "" : identity->second);
}
void yaml(std::string_view bytes) {
  train::resolve(train::parse_settings(std::string(bytes), "fuzz"));
}
void ledger(std::string_view bytes) {
  study::parse_line(std::string(bytes));
}
void summary(std::string_view bytes) {
  const auto path = file("run/summary.json", bytes);
  file("run/log.jsonl", "");
  report::command_line(report::read_run(path.parent_path()));
}
void log(std::string_view bytes) {
  file("logged/summary.json",
       R"({"model":"gcn","dataset":"d","metric":"accuracy","layers":1,"splits":[{"split":0}]})");
  report::read_run(file("logged/log.jsonl", bytes).parent_path());
}
void events(std::string_view bytes) {
  train::check_events(file("events", bytes));
}

constexpr Target kTargets[] = {{"safetensors", safetensors},
                               {"weights", weights},
                               {"checkpoint", checkpoint},
                               {"yaml", yaml},
                               {"ledger", ledger},
                               {"summary", summary},
                               {"log", log},
                               {"events", events}};

}  // namespace

std::span<const Target> targets() {
  return kTargets;
}

}  // namespace dgat::fuzz
