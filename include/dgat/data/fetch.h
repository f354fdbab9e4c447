#pragma once

#include <filesystem>
#include <string>

#include "dgat/data/catalogue.h"
#include "dgat/data/download.h"

namespace dgat::data {

struct FetchOptions {
  /// Take this .npz instead of the catalogue's source.
  std::string url = {};
  /// Take the files from MIRROR/PATH, PATH as in the catalogue (STEM.npz where it names none).
  std::string mirror = {};
  /// Expected checksum of --url: 64 hexadecimal digits. Empty: the catalogue's, where it knows one.
  std::string sha256 = {};
  bool no_checksum = false;  ///< checksums are not compared; else one must be known but for file://
  bool offline = false;      ///< do not use the network; also DGAT_OFFLINE=1
  bool force = false;        ///< download again what is there
  DownloadOptions download = {};
};

struct FetchResult {
  std::filesystem::path path;  ///< what load_dataset reads: a file or a folder
  int64_t bytes = 0;
  bool downloaded = false;  ///< false: it was in the cache, with the right checksum where known
};

/// Makes sure that a data set is in <cache>/datasets. A file without a known checksum is read once
/// before it is kept, so that an error page is not taken for data.
/// A file of the catalogue may have the size stated there, others download.max_bytes.
/// Throws: as download(); InputError when offline or when no source or no checksum is known.
FetchResult fetch_dataset(const CatalogueEntry& entry, const FetchOptions& options = {});

/// DGAT_OFFLINE is set to something other than 0.
bool offline_by_environment();

}  // namespace dgat::data
