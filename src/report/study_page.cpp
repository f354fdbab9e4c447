#include "dgat/report/study_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/core/shell.h"
#include "read_json.h"
#include "study_sections.h"

namespace dgat::report {
namespace fs = std::filesystem;

namespace {

enum class Kind { kNone, kComparison, kReproduction, kSearch, kAdvice, kAdviceCheck };

/// Found from the content, because file names may change.
Kind kind_of(const Json& json) {
  const std::string study = text_at(json, "study");
  if (study == "compare" || study == "ablate") return Kind::kComparison;
  if (study == "reproduce") return Kind::kReproduction;
  if (json.contains("rungs") && json.contains("candidates")) return Kind::kSearch;
  const bool advised = json.contains("best") || json.contains("choice");  // `choice` until 1.0.0
  if (advised && json.contains("candidates")) return Kind::kAdvice;
  const Json& datasets = list_at(json, "datasets");
  if (!datasets.empty() && datasets[0].contains("rho")) return Kind::kAdviceCheck;
  return Kind::kNone;
}

struct StudyFile {
  fs::path path;
  Kind kind;
  Json json;
};

/// Every study of a folder, or the one of a file, in the order of the names.
std::vector<StudyFile> studies_at(const fs::path& path) {
  std::vector<fs::path> files;
  std::error_code failure;
  if (fs::is_directory(path, failure)) {
    for (const auto& entry : fs::directory_iterator(path, failure)) {
      if (entry.path().extension() == ".json" && entry.is_regular_file(failure)) {
        files.push_back(entry.path());
      }
    }
  } else {
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  std::vector<StudyFile> studies;
  for (const fs::path& file : files) {
    try {
      Json json = read_object(file);
      const Kind kind = kind_of(json);
      if (kind != Kind::kNone) studies.push_back({file, kind, std::move(json)});
    } catch (const InputError&) {
      continue;  // some other file
    }
  }
  return studies;
}

std::string title_of(const StudyFile& study) {
  const std::string dataset = text_at(study.json, "dataset");
  switch (study.kind) {
    case Kind::kReproduction:
      return "The paper's table " + text_at(study.json, "table");
    case Kind::kSearch:
      return fmt::format("tune {} on {}", text_at(study.json, "model"), dataset);
    case Kind::kAdvice:
      return "Advice for " + dataset;
    case Kind::kAdviceCheck:
      return "How reliable the advice is";
    default:
      return fmt::format("{} on {}", text_at(study.json, "study"), dataset);
  }
}

std::vector<Section> sections_of(const StudyFile& study) {
  switch (study.kind) {
    case Kind::kReproduction:
      return reproduction_sections(study.json);
    case Kind::kSearch: {
      const fs::path folder = study.path.parent_path();
      std::vector<Section> sections = tune_sections(study.json, folder / "ledger.jsonl");
      sections[0].blocks.emplace_back(
          Code{"The test result", fmt::format("dgat train --config {} --out {}",
                                              shell_quoted((folder / "config.yaml").string()),
                                              shell_quoted((folder / "run").string()))});
      return sections;
    }
    case Kind::kAdvice:
      return advice_sections(study.json);
    case Kind::kAdviceCheck:
      return advice_check_sections(study.json);
    default:
      return comparison_sections(study.json);
  }
}

}  // namespace

bool holds_study(const fs::path& path) {
  return !studies_at(path).empty();
}

Page study_page(std::span<const fs::path> paths) {
  std::vector<StudyFile> studies;
  for (const fs::path& path : paths) {
    std::vector<StudyFile> found = studies_at(path);
    if (found.empty()) {
      throw_input(
          "{}: holds neither a run nor a study; name a folder that train, compare, ablate, "
          "reproduce "
          "or tune wrote",
          path.string());
    }
    std::move(found.begin(), found.end(), std::back_inserter(studies));
  }
  Page page;
  for (const StudyFile& study : studies) {
    const std::string title = title_of(study);
    page.title += fmt::format("{}{}", page.title.empty() ? "" : "; ", title);
    page.subtitle += fmt::format("{}{}", page.subtitle.empty() ? "" : ", ", study.path.string());
    for (Section& section : sections_of(study)) {
      if (studies.size() > 1) section.title = title + ": " + section.title;
      page.sections.push_back(std::move(section));
    }
  }
  return page;
}

void write_study_page(const fs::path& folder) {
  try {
    write_page(study_page({&folder, 1}), folder / "report.html");
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    notice(fmt::format("report: no page: {}", error.what()));
  }
}

}  // namespace dgat::report
