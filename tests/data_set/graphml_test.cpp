#include "dgat/data/graphml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dgat/core/error.h"
#include "dgat/data/gml.h"
#include "support/same_dataset.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

using graph::Edge;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AttributeFiles : public testing::Test {
 protected:
  Dataset load(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return load_dataset((dir_ / name).string());
  }
  std::string error(const std::string& name, const std::string& text) {
    try {
      load(name, text);
    } catch (const InputError& e) {
      return std::string(e.what()).substr(dir_.path().string().size() + 1);
    }
    return "no error";
  }
  test::TempDir dir_;
};

/// As NetworkX writes it.
constexpr const char* kNetworkX = R"(<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d3" for="edge" attr.name="weight" attr.type="double"/>
<key id="d2" for="node" attr.name="city" attr.type="string"/>
<key id="d1" for="node" attr.name="age" attr.type="long"><default>7</default></key>
<key id="d0" for="node" attr.name="class" attr.type="string"/>
<graph edgedefault="undirected">
<node id="anna"><data key="d0">red &amp; green</data><data key="d1">31</data></node>
<node id="bob"><data key="d2">Rome</data></node>
<node id="eve"><data key="d0">blue</data><data key="d1">2.5</data></node>
<edge source="anna" target="bob"><data key="d3">0.5</data></edge>
<edge source="bob" target="eve"/>
</graph></graphml>
)";

TEST_F(AttributeFiles, GraphmlOfNetworkX) {
  const Dataset data = load("g.graphml", kNetworkX);
  EXPECT_EQ(data.name, "g");
  EXPECT_THAT(data.node_ids, ElementsAre("anna", "bob", "eve"));
  EXPECT_THAT(data.class_names, ElementsAre("blue", "red & green"));
  EXPECT_THAT(data.labels, ElementsAre(1, -1, 0));
  EXPECT_THAT(data.feature_names, ElementsAre("age"));
  EXPECT_THAT(data.features.to_dense(), ElementsAre(31, 7, 2.5F));
  EXPECT_THAT(data.graph.edge_list(), ElementsAre(Edge{0, 1}, Edge{1, 2}));
  EXPECT_THAT(data.graph.edge_weights(), ElementsAre(0.5F, 1.0F));
}

TEST_F(AttributeFiles, GraphmlIsReadBackAsItWasWritten) {
  Dataset before = load("g.graphml", kNetworkX);
  before.splits = {{{0}, {}, {2}}, {{2}, {0}, {}}};
  for (const char* name : {"h.graphml", "h.graphml.gz"}) {
    save_dataset(before, dir_ / name);
    const Dataset after = load_dataset((dir_ / name).string());
    SCOPED_TRACE(name);
    test::expect_same(after, before);
  }
}

TEST_F(AttributeFiles, NumbersFromZeroAreNodeNumbersAndPositionsNoLabels) {
  // As Gephi writes it: label is a name, x and y are positions.
  const Dataset data = load("g.graphml", R"(<graphml>
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="x" for="node" attr.name="x" attr.type="float"/>
<key id="y" for="node" attr.name="y" attr.type="float"/>
<graph><node id="1"><data key="label">one</data><data key="x">1</data><data key="y">2</data></node>
<node id="0"><data key="label">zero</data><data key="x">3</data><data key="y">4</data></node>
<edge source="0" target="1"/></graph></graphml>)");
  EXPECT_THAT(data.node_ids, IsEmpty());
  EXPECT_THAT(data.labels, ElementsAre(-1, -1));
  EXPECT_THAT(data.features.to_dense(), ElementsAre(3, 4, 1, 2));
}

TEST_F(AttributeFiles, GraphmlErrorsNameTheLine) {
  const auto graph = [](const std::string& inside) {
    return "<graphml>\n<key id=\"a\" for=\"node\" attr.type=\"double\"/>\n"
           "<key id=\"weight\" for=\"edge\"/>\n<graph>\n" +
           inside + "</graph></graphml>";
  };
  EXPECT_THAT(error("a.graphml", "<graphml><graph>"),
              HasSubstr("a.graphml:1: not valid XML: no element found"));
  EXPECT_THAT(error("a.graphml", "<html/>"), HasSubstr("has no element <graph>"));
  EXPECT_EQ(error("a.graphml", graph("<node id=\"x\"/>\n<node id=\"x\"/>")),
            "a.graphml:6: node id 'x' was already given in line 5");
  EXPECT_EQ(error("a.graphml", graph("<node id=\"x\"><data key=\"a\">1</data></node>\n"
                                     "<edge source=\"x\" target=\"z\"/>")),
            "a.graphml:6: node 'z' of this edge is not listed as a node");
  EXPECT_EQ(error("a.graphml", graph("<node id=\"x\"><data key=\"a\">tall</data></node>")),
            "a.graphml:5: attribute 'a' must be a finite number, got 'tall'");
  EXPECT_EQ(
      error("a.graphml", graph("<node id=\"x\"/>")),
      "a.graphml: 1 of 1 nodes have no attribute 'a'; a feature needs a value for every node");
  EXPECT_EQ(error("a.graphml", graph("<node id=\"x\"/><edge source=\"x\" target=\"x\">"
                                     "<data key=\"weight\">-1</data></edge>")),
            "a.graphml:5: the weight must be positive and finite, got '-1'; drop the edge or the "
            "weight");
}

TEST_F(AttributeFiles, EntitiesAreRefusedBeforeTheyExpand) {
  std::string text = "<!DOCTYPE g [<!ENTITY a \"ha\">";
  for (char c = 'b'; c < 'z'; ++c) {
    text += std::string("<!ENTITY ") + c + " \"&" + static_cast<char>(c - 1) + ";&" +
            static_cast<char>(c - 1) + ";\">";
  }
  EXPECT_EQ(error("a.graphml", text + "]><graphml><graph>&y;</graph></graphml>"),
            "a.graphml:1: the document declares an entity, which is not read; write it without");
}

TEST_F(AttributeFiles, Gml) {
  const Dataset data = load("g.gml", R"(Creator "somebody"
graph [
  directed 0
  node [ id 5 label "anna" value 1 age 31 graphics [ x 1.0 fill "#fff" ] ]
  node [ id 7 label "bob" value 0 age 2.5 ]
  edge [ source 5 target 7 value 3 ]
]
)");
  EXPECT_THAT(data.node_ids, ElementsAre("anna", "bob"));
  EXPECT_THAT(data.labels, ElementsAre(1, 0));
  EXPECT_THAT(data.feature_names, ElementsAre("age"));
  EXPECT_THAT(data.features.to_dense(), ElementsAre(31, 2.5F));
  EXPECT_THAT(data.graph.edge_weights(), ElementsAre(3.0F));
}

TEST_F(AttributeFiles, GmlErrorsNameTheLine) {
  EXPECT_THAT(error("a.gml", "node [ id 1 ]"), HasSubstr("has no `graph [ ... ]`"));
  EXPECT_EQ(error("a.gml", "graph [\nnode [ id 1\n"),
            "a.gml:2: the list that opens here is never closed");
  EXPECT_EQ(error("a.gml", "graph [\nnode [ label \"x\" ]\n]"), "a.gml:2: a node without id");
  EXPECT_EQ(error("a.gml", "graph [\nnode [ id 1 x \"a ] ]"),
            "a.gml:2: the quote that opens here is never closed");
  EXPECT_EQ(error("a.gml", "graph [ node [ id 1 id 2 ] ]"), "a.gml:1: the key 'id' is given twice");
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(error("a.gml", "graph [ x " + deep), HasSubstr("never closed"));
}

}  // namespace
}  // namespace dgat::data
