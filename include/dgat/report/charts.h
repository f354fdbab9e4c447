#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dgat/report/explorer_block.h"

/// What a page can show, as plain data. Every chart is also a table on the page: the front end
/// (src/report/web) makes pictures, tables, CSV, SVG and PNG from the same numbers.
/// Not-a-number means "no value here" everywhere and is drawn as a gap.
namespace dgat::report {

/// How a number is printed (kFixed: two decimals); exports keep full precision.
enum class Format { kText, kInteger, kNumber, kFixed, kPercent };

/// Label and value pairs: what was run, what the data set is.
struct Facts {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
};

/// Text to copy, such as a command line.
struct Code {
  std::string title, text;
};

struct Column {
  std::string name;
  Format format = Format::kText;
};
using Cell = std::variant<std::string, double>;
struct Table {
  std::string title, note;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// A labelled vertical line at one value of the horizontal axis.
struct Marker {
  double at = 0;
  std::string label;
};

struct Line {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low = {}, high = {};  ///< a band around y; empty or as long as y
  bool joined = true;                       ///< false: dots only, each a measurement of its own
};
struct LineChart {
  std::string title, note, x_label, y_label;
  Format format = Format::kNumber;
  std::vector<Line> lines;
  std::vector<Marker> markers = {};
  bool log_x = false, log_y = false;  ///< how it starts; the page has a switch for y
  bool points = false;                ///< dots on the lines: few, separate measurements
};

struct BarSeries {
  std::string name;
  std::vector<double> values;
  std::vector<double> low = {}, high = {};  ///< whiskers; empty or as long as values
};
/// Bars over named groups.
struct BarChart {
  std::string title, note, x_label, y_label;
  Format format = Format::kNumber;
  std::vector<std::string> groups;
  std::vector<BarSeries> series;
  std::vector<double> sizes = {};  ///< how many items each group counts, or empty
};

/// Bars over bins: edges has one entry more than every series.
struct Histogram {
  std::string title, note, x_label, y_label;
  std::vector<double> edges;
  std::vector<BarSeries> series;
  std::vector<Marker> markers = {};
  bool log_x = false;
};

/// One dot with an interval per row, and a published value beside it where there is one.
struct Dot {
  std::string label;
  double value = 0, low = 0, high = 0;
  std::optional<double> reference = std::nullopt;
  double reference_spread = 0;       ///< to both sides of the reference; 0: not known
  std::vector<double> samples = {};  ///< what the value is the mean of, as small dots
  std::vector<bool> marks = {};      ///< one per mark_names of the chart
};
struct DotChart {
  std::string title, note, x_label;
  Format format = Format::kNumber;
  std::vector<Dot> dots;
  std::string reference_name = {};           ///< what the reference is: "published"
  std::string sample_name = {};              ///< what one sample is: "split"
  std::vector<std::string> mark_names = {};  ///< columns of filled and empty circles
  std::vector<Marker> markers = {};
};

/// A matrix of colours and numbers, row by row.
struct Heatmap {
  std::string title, note, row_label, column_label;
  Format format = Format::kNumber;
  std::vector<std::string> rows, columns;
  std::vector<double> values;
  bool diverging = false;  ///< one colour for values below zero, another for those above
};

/// What rewiring did to an edge.
enum class EdgeState : uint8_t { kKept = 0, kDropped = 1, kAdded = 2 };
/// Which part of the split a node belongs to.
enum class Part : uint8_t { kNone = 0, kTrain = 1, kValidation = 2, kTest = 3 };

/// A drawing of a graph: nodes in one or more layouts, edges with their state after rewiring,
/// attention on the arcs.
/// Nodes are numbered 0 .. nodes-1 inside the drawing; `id` is the number in the data set.
struct Drawing {
  struct Layout {
    std::string name;
    std::vector<float> x, y;
  };
  /// Weights of one layer: arcs x heads, row by row, in [0, 1].
  struct Layer {
    std::string name;
    int heads = 1;
    std::vector<float> weights;
  };
  std::string title, note;
  std::vector<Layout> layouts;  ///< at least one
  std::vector<int32_t> id;
  std::vector<std::string> names;         ///< original ids; empty when they are the numbers
  std::vector<std::string> class_names;   ///< one per class
  std::vector<int32_t> label;             ///< -1 = unlabelled
  std::vector<int32_t> prediction;        ///< empty when nothing was predicted
  std::vector<Part> part;                 ///< empty when there is no split
  std::vector<float> phi;                 ///< empty without an eigenvector
  std::vector<int32_t> degree;            ///< in the whole graph
  std::vector<int32_t> from, to;          ///< every edge once
  std::vector<EdgeState> state;           ///< one per edge
  std::vector<int32_t> offsets, senders;  ///< arcs with attention, receivers as rows; may be empty
  std::vector<Layer> layers;
};

using Block = std::variant<Facts, Code, Table, LineChart, BarChart, Histogram, DotChart, Heatmap,
                           Drawing, Explorer>;

}  // namespace dgat::report
