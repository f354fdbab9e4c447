#include "dgat/nn/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "dgat/core/error.h"

namespace dgat::nn {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

ModelOptions chameleon() {
  ModelOptions o;
  o.features = 2325;
  o.classes = 5;
  o.nodes = 890;
  return o;
}

std::vector<std::string> shapes(const Model<float>& model) {
  std::vector<std::string> out;
  for (const auto& entry : model.parameters().entries()) {
    out.push_back(fmt::format("{} {}", entry.parameter.name, fmt::join(entry.shape, "x")));
  }
  return out;
}

TEST(Registry, SummaryOfTheMainModel) {
  EXPECT_EQ(summary("dgat", *make_model("dgat", chameleon())),
            "dgat: 2325 -> 512 x2 (residual, 8 heads, directional) -> 5, 2,800,165 parameters");
}

TEST(Registry, ResidualDgatHasTheNamesAndShapesOfTheFileFormat) {
  ModelOptions o = chameleon();
  o.layers = 1;
  EXPECT_THAT(
      shapes(*make_model("dgat", o)),
      ElementsAre("input.weight 512x2325", "input.bias 512", "layers.0.norm.weight 512",
                  "layers.0.norm.bias 512", "layers.0.lin.weight 512x512", "layers.0.lin.bias 512",
                  "layers.0.att_src.weight 8x512", "layers.0.att_src.bias 8",
                  "layers.0.att_dst.weight 8x512", "layers.0.lin_edge.weight 512x2",
                  "layers.0.lin_edge.bias 512", "layers.0.att_edge.weight 8x512",
                  "layers.0.att_edge.bias 8", "layers.0.ffn.0.weight 512x512",
                  "layers.0.ffn.0.bias 512", "layers.0.ffn.1.weight 512x512",
                  "layers.0.ffn.1.bias 512", "norm.weight 512", "norm.bias 512",
                  "output.weight 5x512", "output.bias 5"));
}

TEST(Registry, SeparateModelsReadTwiceTheWidth) {
  ModelOptions o = chameleon();
  o.layers = 1;
  EXPECT_THAT(shapes(*make_model("gat-sep", o)),
              testing::Contains("layers.0.ffn.0.weight 512x1024"));
  EXPECT_THAT(shapes(*make_model("gt-sep", o)),
              testing::Contains("layers.0.lin_out.weight 512x1024"));
  EXPECT_THAT(shapes(*make_model("sage", o)), testing::Contains("layers.0.ffn.0.weight 512x1024"));
}

TEST(Registry, InitialWeightsAreUniformWithinOneOverRootOfInputs) {
  const auto model = make_model("dgat", chameleon());
  const auto& weight = model->parameters().find("layers.0.ffn.0.weight")->parameter.value;
  const double bound = 1 / std::sqrt(512.0);
  double largest = 0, squares = 0;
  for (const float v : weight.values()) {
    largest = std::max(largest, std::abs(static_cast<double>(v)));
    squares += static_cast<double>(v) * static_cast<double>(v);
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.999 * bound);
  EXPECT_NEAR(squares / static_cast<double>(weight.size()), bound * bound / 3, bound * bound / 300);
  for (const float v : model->parameters().find("norm.weight")->parameter.value.values()) {
    EXPECT_EQ(v, 1);
  }
  for (const float v : model->parameters().find("norm.bias")->parameter.value.values()) {
    EXPECT_EQ(v, 0);
  }
}

TEST(Initializer, SpreadsAreThoseOfTheirNames) {
  ParameterSet<double> set(4);
  const double in = 300, out = 200;
  const auto moments = [](const tensor::Parameter<double>& p) {
    double largest = 0, squares = 0, sum = 0;
    for (const double v : p.value.values()) {
      largest = std::max(largest, std::abs(v));
      squares += v * v;
      sum += v;
    }
    const auto n = static_cast<double>(p.value.size());
    return std::array{sum / n, squares / n, largest};
  };
  const auto [glorot_mean, glorot_square, glorot_largest] =
      moments(set.weight("a", 200, 300, Initializer::glorot_uniform()));
  EXPECT_NEAR(glorot_square, 2 / (in + out), 0.02 * 2 / (in + out));
  EXPECT_LE(glorot_largest, std::sqrt(6 / (in + out)));
  const double variance = 1.5 * 1.5 * 2 / (in + out);
  const auto [normal_mean, normal_square, normal_largest] =
      moments(set.weight("b", 200, 300, Initializer::xavier_normal(1.5)));
  EXPECT_NEAR(normal_mean, 0, 4 * std::sqrt(variance / (in * out)));
  EXPECT_NEAR(normal_square, variance, 0.03 * variance);
  EXPECT_GT(normal_largest, 3.5 * std::sqrt(variance));
}

TEST(Registry, BiasesAndNormsAreNotDecayed) {
  for (const ModelInfo& info : all_models()) {
    ModelOptions o = chameleon();
    o.hidden = 16;
    const auto model = make_model(info.name, o);
    for (const auto& entry : model->parameters().entries()) {
      const std::string& name = entry.parameter.name;
      if (name.ends_with(".bias") || name.find("norm") != std::string::npos) {
        EXPECT_FALSE(entry.parameter.weight_decay) << info.name << " " << name;
      }
    }
  }
}

TEST(Registry, ModelsShareTheInitialValuesOfCommonParameters) {
  const auto a = make_model("gat", chameleon()), b = make_model("dgat", chameleon());
  for (const auto& entry : a->parameters().entries()) {
    const auto* other = b->parameters().find(entry.parameter.name);
    ASSERT_NE(other, nullptr);
    EXPECT_THAT(entry.parameter.value.values(),
                testing::ElementsAreArray(other->parameter.value.values()));
  }
  EXPECT_NE(a->parameters().find("output.weight")->parameter.value(0, 0),
            a->parameters().find("input.weight")->parameter.value(0, 0));
}

TEST(Registry, EveryModelIsDescribed) {
  std::set<std::string> names;
  for (const ModelInfo& info : all_models()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.description.empty()) << info.name;
    EXPECT_FALSE(info.equations.empty()) << info.name;
    EXPECT_FALSE(info.reference.empty()) << info.name;
  }
}

TEST(Registry, WrongOptionsAreExplained) {
  const auto message = [](const std::string& name, const ModelOptions& o) -> std::string {
    try {
      make_model(name, o);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message("dgta", chameleon()), HasSubstr("did you mean dgat?"));
  ModelOptions o = chameleon();
  o.heads = 7;
  EXPECT_THAT(message("dgat", o), HasSubstr("7 heads do not divide hidden 512"));
  EXPECT_EQ(message("gcn", o), "accepted");
  o = chameleon();
  o.recipe = Recipe::kClassic;
  EXPECT_THAT(message("gat-sep", o), HasSubstr("no classic form"));
  o.recipe = Recipe::kDeep;
  EXPECT_THAT(message("h2gcn", o), HasSubstr("no deep form"));
  o = chameleon();
  o.features = 0;
  EXPECT_THAT(message("gat", o), HasSubstr("no node features"));
}

}  // namespace
}  // namespace dgat::nn
