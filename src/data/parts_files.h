#pragma once

/// The files of a folder of parts. The ending of an array is the type of its numbers, which are
/// little-endian; nodes count in the order of the folder, where every part is a range.
namespace dgat::data::parts {

inline constexpr char kMeta[] = "meta.json";
inline constexpr char kFormat[] = "dgat-parts";
inline constexpr int kVersion = 1;

inline constexpr char kNodes[] = "nodes.i32";      ///< [N] the number in the source
inline constexpr char kOffsets[] = "offsets.i64";  ///< [N+1] rows of receivers
inline constexpr char kSenders[] = "senders.i32";  ///< [arcs] increasing in every row
inline constexpr char kWeights[] = "weights.f32";  ///< [arcs] when the graph is weighted
inline constexpr char kLabels[] = "labels.i32";    ///< [N] -1: none
inline constexpr char kSplits[] = "splits.i8";     ///< [splits, N] 1 train, 2 val, 3 test, 0 none
inline constexpr char kDense[] = "features.f32";   ///< [N, F] dense features, or
inline constexpr char kFeatureOffsets[] = "feature_offsets.i64";  ///< [N+1] sparse ones
inline constexpr char kFeatureColumns[] = "feature_columns.i32";
inline constexpr char kFeatureValues[] = "feature_values.f32";
inline constexpr char kNodeIds[] = "node_ids.json";  ///< names in the order of the source

}  // namespace dgat::data::parts
