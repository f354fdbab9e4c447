#include "dgat/data/fetch.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "dgat/core/cache_dir.h"
#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/data/load.h"
#include "dgat/data/sha256.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {

struct Item {
  std::string url, sha256;
  fs::path path;      ///< in the cache
  int64_t bytes = 0;  ///< as the catalogue states; 0: not known
};

void check_options(const CatalogueEntry& entry, const FetchOptions& options) {
  if (!options.url.empty() && !options.mirror.empty()) {
    throw_input("fetch {}: --url and --mirror exclude each other; drop one of the two", entry.name);
  }
  const bool hex = options.sha256.size() == 64 &&
                   std::all_of(options.sha256.begin(), options.sha256.end(),
                               [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!options.sha256.empty() && !hex) {
    throw_input("fetch {}: --sha256 must be 64 hexadecimal digits, got {}", entry.name,
                options.sha256);
  }
  if (!options.sha256.empty() && options.no_checksum) {
    throw_input("fetch {}: --sha256 and --no-checksum exclude each other; drop one of the two",
                entry.name);
  }
  if (!options.sha256.empty() && options.url.empty()) {
    throw_input("fetch {}: --sha256 is the checksum of --url; give that too", entry.name);
  }
}

std::string expected_checksum(const CatalogueEntry& entry, const FetchOptions& options) {
  std::string given = options.sha256;
  std::transform(given.begin(), given.end(), given.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!given.empty()) return given;
  return entry.files.size() == 1 ? entry.files[0].sha256 : "";
}

std::vector<Item> items_of(const CatalogueEntry& entry, const FetchOptions& options) {
  const fs::path folder = cache_dir() / "datasets";
  const std::string npz = std::string(entry.stem) + ".npz";
  if (!options.url.empty()) {
    return {{options.url, expected_checksum(entry, options), folder / npz}};
  }
  std::string mirror = options.mirror;
  if (!mirror.empty() && mirror.back() != '/') mirror += '/';
  if (!mirror.empty() && entry.files.empty()) return {{mirror + npz, "", folder / npz}};
  std::vector<Item> items;
  for (const CatalogueFile& file : entry.files) {
    items.push_back({mirror.empty() ? file.url : mirror + file.path, file.sha256,
                     folder / file.path, file.bytes});
  }
  return items;
}

/// In the cache and, where the checksum is known, undamaged.
bool is_there(const Item& item) {
  std::error_code ignored;
  if (!fs::is_regular_file(item.path, ignored)) return false;
  if (item.sha256.empty() || sha256_of_file(item.path) == item.sha256) return true;
  notice(item.path.string() + ": has another checksum than expected; it is replaced");
  return false;
}

void fetch_item(const Item& item, const FetchOptions& options) {
  DownloadOptions download_options = options.download;
  download_options.sha256 = item.sha256;
  if (item.bytes > 0 && !item.sha256.empty()) download_options.max_bytes = item.bytes;
  if (!item.sha256.empty()) {
    download(item.url, item.path, download_options);
    return;
  }
  // No checksum: read it under another name before it takes the place of anything.
  fs::path trial = item.path;
  trial.replace_filename("unchecked_" + item.path.filename().string());
  download(item.url, trial, download_options);
  std::error_code error;
  try {
    load_dataset(trial.string());
  } catch (const InputError& reason) {
    fs::remove(trial, error);
    throw_compute("{}: the downloaded file is not a data set, so it was deleted: {}", item.url,
                  reason.what());
  }
  fs::rename(trial, item.path, error);
  if (error) throw_compute("{}: cannot be put in place: {}", item.path.string(), error.message());
}

}  // namespace

bool offline_by_environment() {
  const char* value = std::getenv("DGAT_OFFLINE");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

FetchResult fetch_dataset(const CatalogueEntry& entry, const FetchOptions& options) {
  check_options(entry, options);
  std::vector<Item> items = items_of(entry, options);
  for (Item& item : items) {
    if (options.no_checksum) item.sha256.clear();
  }
  if (items.empty()) {
    // A cached file from an earlier --url is as good as a download.
    const auto found = find_locally(entry);
    if (!found || options.force) throw_input("fetch {}: {}", entry.name, entry.note);
    return {.path = *found, .bytes = static_cast<int64_t>(fs::file_size(*found))};
  }
  FetchResult result;
  result.path = items.size() == 1 ? items[0].path : items[0].path.parent_path();
  for (const Item& item : items) {
    if (options.force || !is_there(item)) {
      if (options.offline || offline_by_environment()) {
        throw_input(
            "fetch {}: {} is not in the cache, and dgat is offline (--offline or "
            "DGAT_OFFLINE); copy it to {}",
            entry.name, item.path.filename().string(), item.path.string());
      }
      if (item.sha256.empty() && !options.no_checksum && !item.url.starts_with("file:")) {
        throw_input(
            "fetch {}: no checksum of {} is known; give --sha256, or accept any readable "
            "file with --no-checksum",
            entry.name, item.url);
      }
      fetch_item(item, options);
      result.downloaded = true;
    }
    result.bytes += static_cast<int64_t>(fs::file_size(item.path));
  }
  return result;
}

}  // namespace dgat::data
