// dgat datasets: the paper's data sets; fetch one, or compare a file with what was published.
#include <fmt/format.h>

#include <memory>

#include "../table_output.h"
#include "../verbs.h"
#include "dgat/core/cache_dir.h"
#include "dgat/core/error.h"
#include "dgat/data/catalogue.h"
#include "dgat/data/fetch.h"
#include "dgat/data/load.h"
#include "dgat/study/table.h"

namespace dgat::app {
namespace {

using data::CatalogueEntry;

const CatalogueEntry& entry_named(const std::string& name) {
  if (const CatalogueEntry* entry = data::find_in_catalogue(name)) return *entry;
  std::string names;
  for (const CatalogueEntry& entry : data::catalogue()) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw_input("datasets: {} is not in the catalogue; the names are {}", name, names);
}

const char* metric_name(data::Metric metric) {
  return metric == data::Metric::kRocAuc ? "roc_auc" : "accuracy";
}

Json entry_json(const CatalogueEntry& entry) {
  const data::PublishedHomophily& h = entry.homophily;
  Json files = Json::array();
  for (const data::CatalogueFile& file : entry.files) {
    files.push_back({{"path", file.path},
                     {"url", file.url},
                     {"sha256", *file.sha256 != '\0' ? Json(file.sha256) : Json()},
                     {"bytes", file.bytes > 0 ? Json(file.bytes) : Json()}});
  }
  const auto local = data::find_locally(entry);
  return {{"name", entry.name},
          {"nodes", entry.nodes},
          {"edges", entry.edges},
          {"features", entry.features},
          {"classes", entry.classes},
          {"metric", metric_name(entry.metric)},
          {"homophily",
           {{"node", h.node},
            {"edge", h.edge},
            {"class", h.class_},
            {"adjusted_edge", h.adjusted_edge},
            {"label_informativeness", h.label_informativeness},
            {"aggregation", h.aggregation}}},
          {"origin", entry.origin},
          {"licence", entry.licence},
          {"note", entry.note},
          {"files", files},
          {"local", local ? Json(local->string()) : Json()}};
}

void list(bool json) {
  if (json) {
    Json all = Json::array();
    for (const CatalogueEntry& entry : data::catalogue()) all.push_back(entry_json(entry));
    print_json({{"cache", (cache_dir() / "datasets").string()}, {"datasets", all}});
    return;
  }
  study::Table table =
      study::Table::of({"data set", "nodes", "edges", "features", "classes", "metric",
                        "adj. edge h.", "label inf.", "licence", "here"});
  for (const CatalogueEntry& entry : data::catalogue()) {
    table.row({entry.name, std::to_string(entry.nodes), std::to_string(entry.edges),
               std::to_string(entry.features), std::to_string(entry.classes),
               metric_name(entry.metric), fmt::format("{:.2f}", entry.homophily.adjusted_edge),
               fmt::format("{:.2f}", entry.homophily.label_informativeness), entry.licence,
               data::find_locally(entry) ? "yes" : (entry.files.empty() ? "--url" : "no")});
  }
  table.notes = {
      fmt::format("Statistics as published. `dgat datasets fetch NAME` downloads into {}.",
                  (cache_dir() / "datasets").string()),
      "--url: the origin has no file that dgat reads. `--json` adds origins."};
  fmt::print("{}", on_screen(table));
}

struct Fetch {
  CommonOptions common;
  data::FetchOptions options;
  std::string name;
};

void run_fetch(const Fetch& fetch) {
  const CatalogueEntry& entry = entry_named(fetch.name);
  const data::FetchResult result = data::fetch_dataset(entry, fetch.options);
  if (fetch.common.json) {
    print_json({{"name", entry.name},
                {"path", result.path.string()},
                {"bytes", result.bytes},
                {"downloaded", result.downloaded}});
  } else {
    fmt::print("{}: {} ({} bytes{})\n", entry.name, result.path.string(), result.bytes,
               result.downloaded ? "" : ", was already there; --force downloads it again");
  }
}

struct Verify {
  CommonOptions common;
  std::string file, as;
};

void run_verify(const Verify& verify) {
  const data::Dataset dataset = data::load_dataset(verify.file);
  const CatalogueEntry& entry = entry_named(verify.as.empty() ? dataset.name : verify.as);
  const auto checks = data::compare_with_catalogue(dataset, entry);
  std::string differing;
  study::Table table = study::Table::of({"quantity", "published", "found", "agrees"});
  Json rows = Json::array();
  for (const data::CatalogueCheck& check : checks) {
    if (!check.agrees) differing += (differing.empty() ? "" : ", ") + check.quantity;
    table.row({check.quantity, check.published, check.found, check.agrees ? "yes" : "NO"});
    rows.push_back({{"quantity", check.quantity},
                    {"published", check.published},
                    {"found", check.found},
                    {"agrees", check.agrees}});
  }
  if (verify.common.json) {
    print_json({{"name", entry.name},
                {"file", verify.file},
                {"agrees", differing.empty()},
                {"checks", rows}});
  } else {
    fmt::print("{} against {} of the catalogue\n\n{}", verify.file, entry.name, on_screen(table));
  }
  if (!differing.empty()) {
    const std::string note = *entry.note != '\0' ? fmt::format(" (note: {})", entry.note) : "";
    throw_compute("{}: differs from the published {} in {}{}", verify.file, entry.name, differing,
                  note);
  }
}

}  // namespace

void add_datasets(CLI::App& app) {
  CLI::App* verb = app.add_subcommand(
      "datasets", "The paper's data sets: list them, fetch one, compare a file with the paper");
  verb->require_subcommand(0, 1);
  verb->footer(
      "Every verb takes a data set by its path or by its name here. Names are looked for in\n"
      "the folders of DGAT_DATA (separated by ':'), then in the cache: DGAT_CACHE, else\n"
      "XDG_CACHE_HOME/dgat, else ~/.cache/dgat.\n\n"
      "  dgat datasets\n"
      "  dgat datasets fetch actor\n"
      "  dgat inspect actor\n"
      "  dgat datasets verify my_actor.npz --as actor");
  const auto common = std::make_shared<CommonOptions>();
  add_common_options(*verb, *common);
  verb->callback([verb, common] {
    if (verb->get_subcommands().empty()) list(common->json);
  });

  const auto fetch = std::make_shared<Fetch>();
  CLI::App* fetch_verb = verb->add_subcommand("fetch", "Download a data set into the cache");
  fetch_verb->add_option("name", fetch->name, "name in the catalogue")->required();
  fetch_verb->add_option("--url", fetch->options.url, "take this .npz instead (https, file)");
  fetch_verb->add_option("--mirror", fetch->options.mirror,
                         "address that has the files under their usual names");
  fetch_verb->add_option("--sha256", fetch->options.sha256,
                         "checksum of --url: 64 hexadecimal digits");
  fetch_verb->add_flag("--no-checksum", fetch->options.no_checksum,
                       "compare no checksum: any file that can be read is accepted");
  fetch_verb->add_flag("--insecure", fetch->options.download.insecure, "allow plain http");
  fetch_verb
      ->add_option("--max-bytes", fetch->options.download.max_bytes,
                   "refuse a larger file; for files of the catalogue their known size is the limit")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 50));
  fetch_verb
      ->add_option("--retries", fetch->options.download.retries,
                   "further attempts after a temporary failure")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  fetch_verb->add_flag("--offline", fetch->options.offline,
                       "do not use the network (also DGAT_OFFLINE=1)");
  fetch_verb->add_flag("--force", fetch->options.force, "download again what is in the cache");
  fetch_verb->footer(
      "An interrupted download is continued. Proxies: https_proxy, http_proxy, no_proxy.");
  add_common_options(*fetch_verb, fetch->common);
  fetch_verb->callback([fetch] { run_fetch(*fetch); });

  const auto verify = std::make_shared<Verify>();
  CLI::App* verify_verb = verb->add_subcommand(
      "verify", "Compare counts and homophily with the paper; exit code 1 when they differ");
  verify_verb->add_option("file", verify->file, "file, folder or name of a data set")->required();
  verify_verb->add_option("--as", verify->as, "name in the catalogue; default: from the file name");
  add_common_options(*verify_verb, verify->common);
  verify_verb->callback([verify] { run_verify(*verify); });
}

}  // namespace dgat::app
