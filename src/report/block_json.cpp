#include <cmath>

#include "json.h"

namespace dgat::report {

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

const char* to_string(Format format) {
  switch (format) {
    case Format::kInteger:
      return "integer";
    case Format::kNumber:
      return "number";
    case Format::kFixed:
      return "fixed";
    case Format::kPercent:
      return "percent";
    case Format::kText:
      break;
  }
  return "text";
}

namespace {

Json to_json(const std::vector<Marker>& markers) {
  Json list = Json::array();
  for (const Marker& marker : markers) {
    list.push_back({{"at", number(marker.at)}, {"label", marker.label}});
  }
  return list;
}

Json to_json(const std::vector<BarSeries>& series) {
  Json list = Json::array();
  for (const BarSeries& bars : series) {
    Json entry = {{"name", bars.name}, {"values", numbers(bars.values)}};
    if (!bars.low.empty()) entry["low"] = numbers(bars.low);
    if (!bars.high.empty()) entry["high"] = numbers(bars.high);
    list.push_back(std::move(entry));
  }
  return list;
}

Json block_json(const Facts& facts) {
  Json rows = Json::array();
  for (const auto& [label, value] : facts.rows) rows.push_back({label, value});
  return {{"type", "facts"}, {"title", facts.title}, {"rows", std::move(rows)}};
}

Json block_json(const Code& code) {
  return {{"type", "code"}, {"title", code.title}, {"text", code.text}};
}

Json block_json(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const Column& column : table.columns) {
    columns.push_back({{"name", column.name}, {"format", to_string(column.format)}});
  }
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) {
      const auto* value = std::get_if<double>(&cell);
      cells.push_back(value != nullptr ? number(*value) : Json(std::get<std::string>(cell)));
    }
    rows.push_back(std::move(cells));
  }
  return {{"type", "table"},
          {"title", table.title},
          {"note", table.note},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

Json block_json(const LineChart& chart) {
  Json lines = Json::array();
  for (const Line& line : chart.lines) {
    Json entry = {{"name", line.name}, {"x", numbers(line.x)}, {"y", numbers(line.y)}};
    if (!line.low.empty()) entry["low"] = numbers(line.low);
    if (!line.high.empty()) entry["high"] = numbers(line.high);
    if (!line.joined) entry["joined"] = false;
    lines.push_back(std::move(entry));
  }
  return {{"type", "lines"},           {"title", chart.title},
          {"note", chart.note},        {"xLabel", chart.x_label},
          {"yLabel", chart.y_label},   {"format", to_string(chart.format)},
          {"lines", std::move(lines)}, {"markers", to_json(chart.markers)},
          {"logX", chart.log_x},       {"logY", chart.log_y},
          {"points", chart.points}};
}

Json block_json(const BarChart& chart) {
  Json block = {{"type", "bars"},          {"title", chart.title},
                {"note", chart.note},      {"xLabel", chart.x_label},
                {"yLabel", chart.y_label}, {"format", to_string(chart.format)},
                {"groups", chart.groups},  {"series", to_json(chart.series)}};
  if (!chart.sizes.empty()) block["sizes"] = numbers(chart.sizes);
  return block;
}

Json block_json(const Histogram& chart) {
  return {{"type", "histogram"},
          {"title", chart.title},
          {"note", chart.note},
          {"xLabel", chart.x_label},
          {"yLabel", chart.y_label},
          {"edges", numbers(chart.edges)},
          {"series", to_json(chart.series)},
          {"markers", to_json(chart.markers)},
          {"logX", chart.log_x}};
}

Json block_json(const DotChart& chart) {
  Json dots = Json::array();
  for (const Dot& dot : chart.dots) {
    Json entry = {{"label", dot.label},
                  {"value", number(dot.value)},
                  {"low", number(dot.low)},
                  {"high", number(dot.high)}};
    if (dot.reference) entry["reference"] = number(*dot.reference);
    if (dot.reference_spread > 0) entry["referenceSpread"] = number(dot.reference_spread);
    if (!dot.samples.empty()) entry["samples"] = numbers(dot.samples);
    if (!dot.marks.empty()) entry["marks"] = dot.marks;
    dots.push_back(std::move(entry));
  }
  return {{"type", "dots"},
          {"title", chart.title},
          {"note", chart.note},
          {"xLabel", chart.x_label},
          {"format", to_string(chart.format)},
          {"referenceName", chart.reference_name},
          {"sampleName", chart.sample_name},
          {"markNames", chart.mark_names},
          {"markers", to_json(chart.markers)},
          {"dots", std::move(dots)}};
}

Json block_json(const Heatmap& map) {
  return {{"type", "heatmap"},
          {"title", map.title},
          {"note", map.note},
          {"rowLabel", map.row_label},
          {"columnLabel", map.column_label},
          {"format", to_string(map.format)},
          {"rows", map.rows},
          {"columns", map.columns},
          {"values", numbers(map.values)},
          {"diverging", map.diverging}};
}

Json block_json(const Drawing& drawing) {
  return to_json(drawing);
}

Json block_json(const Explorer& explorer) {
  return to_json(explorer);
}

}  // namespace

Json to_json(const Block& block) {
  return std::visit([](const auto& content) { return block_json(content); }, block);
}

}  // namespace dgat::report
