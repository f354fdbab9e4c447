// The paper's data sets: statistics and homophily of its two tables, and where the files come from.
#include <array>

#include "dgat/data/catalogue.h"

namespace dgat::data {
namespace {

// Commits, not branches: what is fetched next year is what was checked today.
#define DGAT_YANDEX                                                         \
  "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/" \
  "a431395582e929d88271309716bea4fe24ce6318/data/"
#define DGAT_GEOM_GCN                                      \
  "https://raw.githubusercontent.com/bingzhewei/geom-gcn/" \
  "74ed69daf738ab90a0fb593379311969c8244f39/"

constexpr const char* kYandex = "https://github.com/yandex-research/heterophilous-graphs";
constexpr const char* kGeomGcn = "https://github.com/bingzhewei/geom-gcn";
constexpr const char* kPlanetoid = "https://github.com/kimiyoung/planetoid";
constexpr const char* kPlanetoidNote =
    "the origin holds Python pickles, which dgat does not read; fetch an .npz with --url or "
    "--mirror";

constexpr std::array<CatalogueFile, 1> kChameleon = {
    {{"chameleon.npz", DGAT_YANDEX "chameleon.npz",
      "4c640bd2877fc4f9f101531e2f977bc16445a54e09a5cb01178df608e552f3fd", 177840}}};
constexpr std::array<CatalogueFile, 1> kSquirrel = {
    {{"squirrel.npz", DGAT_YANDEX "squirrel.npz",
      "d436e3b42c0546b105241c0ab0766097074e68e55f67b133eeb9b0162e55cbd9", 704277}}};
constexpr std::array<CatalogueFile, 1> kActor = {
    {{"actor.npz", DGAT_YANDEX "actor.npz",
      "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816", 252956}}};
constexpr std::array<CatalogueFile, 12> kCornell = {{
    {"cornell_old/out1_graph_edges.txt", DGAT_GEOM_GCN "new_data/cornell/out1_graph_edges.txt",
     "c4522a00cc40873c8a04a3a07c49e24a48a507eb284ac9c9f2d3e0590351bbb7", 2001},
    {"cornell_old/out1_node_feature_label.txt",
     DGAT_GEOM_GCN "new_data/cornell/out1_node_feature_label.txt",
     "cf5a3ca346cdd1210b8342e22517fcbbdae658065b7a3145f59350e50e6236a3", 624308},
    {"cornell_old/cornell_split_0.6_0.2_0.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_0.npz",
     "14022a1e19ec7fc0a07a2c06a785a2f9dc52809dbcd1c14fc318f7800675d73f", 704},
    {"cornell_old/cornell_split_0.6_0.2_1.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_1.npz",
     "5568fa27e968a724c92211bf97026a36a08893cf94b218043e49b4c973c35cfb", 700},
    {"cornell_old/cornell_split_0.6_0.2_2.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_2.npz",
     "763fc1f423395e4172617fa5b6bc0d7adad2241e5fedd1a4f0a098a67f9dc8e9", 695},
    {"cornell_old/cornell_split_0.6_0.2_3.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_3.npz",
     "4334321cd9ec42de9d51107fb9a6dc310512e0921bc1cff0f390301ee37315fa", 701},
    {"cornell_old/cornell_split_0.6_0.2_4.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_4.npz",
     "2b6b3ef396f4dc7fcdc276fb16b88bb87409b25879dd672b3a506eca844dd8d7", 759},
    {"cornell_old/cornell_split_0.6_0.2_5.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_5.npz",
     "1a40ef8b20aa9e1aa850e1abdaba3efac1f66c98ef2c6a59eadefa21136ece6b", 754},
    {"cornell_old/cornell_split_0.6_0.2_6.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_6.npz",
     "bcddf4ab59eae4c7d47b8a6cec9025a54ec0e6d3f3bdcd7678e201f25ace4642", 758},
    {"cornell_old/cornell_split_0.6_0.2_7.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_7.npz",
     "2b497e12dfc123d7e7c9bb4fc4a82b5bee18409e109a3e3a04da439cacec964d", 693},
    {"cornell_old/cornell_split_0.6_0.2_8.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_8.npz",
     "5c4e110d252d7ad156b2e4cd34b6dbd1cecbcc1755f8d72e932cc2a54f2b643c", 701},
    {"cornell_old/cornell_split_0.6_0.2_9.npz", DGAT_GEOM_GCN "splits/cornell_split_0.6_0.2_9.npz",
     "80f1531807194d301affbf6f879a4ab4f56a19bdccb62d192e3ecd1b5275f052", 704},
}};
constexpr std::array<CatalogueFile, 1> kWisconsin = {
    {{"wisconsin.npz", DGAT_YANDEX "wisconsin.npz",
      "2543c89838cfc75f737f7c4664cc1d097f8268602c20b2d1bd4f21407df9c074", 41672}}};
constexpr std::array<CatalogueFile, 1> kTexas = {
    {{"texas.npz", DGAT_YANDEX "texas.npz",
      "b164b99e6c3d43e4ab07488ec59bd8c815f90cbc1bd4cf425ce587d2b534d844", 28586}}};
constexpr std::array<CatalogueFile, 1> kRomanEmpire = {
    {{"roman_empire.npz", DGAT_YANDEX "roman_empire.npz",
      "a58ba741d123bf892fe5c872138d07463d75a2e9012360b8dd78ac2d4766d428", 20401489}}};
constexpr std::array<CatalogueFile, 1> kAmazonRatings = {
    {{"amazon_ratings.npz", DGAT_YANDEX "amazon_ratings.npz",
      "4c3a3e3b9d9f6cba0fede4625a00aad8c5721c1a36ed771367f446763241c7dd", 27744018}}};
constexpr std::array<CatalogueFile, 1> kMinesweeper = {
    {{"minesweeper.npz", DGAT_YANDEX "minesweeper.npz",
      "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3", 135045}}};
constexpr std::array<CatalogueFile, 1> kTolokers = {
    {{"tolokers.npz", DGAT_YANDEX "tolokers.npz",
      "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667", 1329769}}};
constexpr std::array<CatalogueFile, 1> kQuestions = {
    {{"questions.npz", DGAT_YANDEX "questions.npz",
      "757ebd772bab1475c4dd951ca9e364400c6db161656cff9d21780ee874cf3074", 47369919}}};
constexpr std::array<CatalogueFile, 1> kSquirrelFiltered = {
    {{"squirrel_filtered.npz", DGAT_YANDEX "squirrel_filtered.npz",
      "f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7", 208215}}};
constexpr std::array<CatalogueFile, 1> kChameleonFiltered = {
    {{"chameleon_filtered.npz", DGAT_YANDEX "chameleon_filtered.npz",
      "bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5", 58924}}};

// Order of the numbers: nodes, edges, features, classes; homophily by node, edge, class,
// aggregation, adjusted edge, label informativeness.
constexpr std::array<CatalogueEntry, 16> kCatalogue = {{
    {"chameleon",
     "chameleon",
     2277,
     31371,
     2325,
     5,
     Metric::kAccuracy,
     {0.25, 0.23, 0.04, 0.36, 0.03, 0.05},
     kYandex,
     "MIT",
     "",
     kChameleon},
    {"squirrel",
     "squirrel",
     5201,
     198353,
     2089,
     5,
     Metric::kAccuracy,
     {0.22, 0.22, 0.03, 0.0, 0.01, 0.0},
     kYandex,
     "MIT",
     "",
     kSquirrel},
    {"actor",
     "actor",
     7600,
     26659,
     932,
     5,
     Metric::kAccuracy,
     {0.22, 0.22, 0.01, 0.62, 0.0, 0.0},
     kYandex,
     "MIT",
     "",
     kActor},
    {"cornell",
     "cornell_old",
     183,
     277,
     1703,
     5,
     Metric::kAccuracy,
     {0.3, 0.3, 0.02, 0.02, -0.08, 0.02},
     kGeomGcn,
     "none stated",
     "the first geom-gcn edition of 2020, as in the paper; later editions differ in their edges",
     kCornell},
    {"wisconsin",
     "wisconsin",
     251,
     450,
     1703,
     5,
     Metric::kAccuracy,
     {0.16, 0.18, 0.05, 0.0, -0.17, 0.13},
     kYandex,
     "MIT",
     "",
     kWisconsin},
    {"texas",
     "texas",
     183,
     279,
     1703,
     5,
     Metric::kAccuracy,
     {0.06, 0.06, 0.0, 0.0, -0.29, 0.19},
     kYandex,
     "MIT",
     "",
     kTexas},
    {"cora",
     "cora",
     2708,
     5278,
     1433,
     7,
     Metric::kAccuracy,
     {0.83, 0.81, 0.77, 0.99, 0.77, 0.59},
     kPlanetoid,
     "MIT",
     kPlanetoidNote,
     {}},
    {"citeseer",
     "citeseer",
     3327,
     4552,
     3703,
     6,
     Metric::kAccuracy,
     {0.71, 0.74, 0.63, 0.97, 0.67, 0.45},
     kPlanetoid,
     "MIT",
     kPlanetoidNote,
     {}},
    {"pubmed",
     "pubmed",
     19717,
     44324,
     500,
     3,
     Metric::kAccuracy,
     {0.79, 0.8, 0.66, 0.94, 0.69, 0.41},
     kPlanetoid,
     "MIT",
     kPlanetoidNote,
     {}},
    {"roman-empire",
     "roman_empire",
     22662,
     32927,
     300,
     18,
     Metric::kAccuracy,
     {0.05, 0.05, 0.02, 1.0, -0.05, 0.11},
     kYandex,
     "MIT",
     "",
     kRomanEmpire},
    {"amazon-ratings",
     "amazon_ratings",
     24492,
     93050,
     300,
     5,
     Metric::kAccuracy,
     {0.38, 0.38, 0.13, 0.6, 0.14, 0.04},
     kYandex,
     "MIT",
     "",
     kAmazonRatings},
    {"minesweeper",
     "minesweeper",
     10000,
     39402,
     7,
     2,
     Metric::kRocAuc,
     {0.68, 0.68, 0.01, 0.61, 0.01, 0.0},
     kYandex,
     "MIT",
     "",
     kMinesweeper},
    {"tolokers",
     "tolokers",
     11758,
     519000,
     10,
     2,
     Metric::kRocAuc,
     {0.63, 0.59, 0.18, 0.0, 0.09, 0.01},
     kYandex,
     "MIT",
     "",
     kTolokers},
    {"questions",
     "questions",
     48921,
     153540,
     301,
     2,
     Metric::kRocAuc,
     {0.9, 0.84, 0.08, 0.0, 0.02, 0.0},
     kYandex,
     "MIT",
     "",
     kQuestions},
    {"squirrel-filtered",
     "squirrel_filtered",
     2223,
     46998,
     2089,
     5,
     Metric::kAccuracy,
     {0.19, 0.21, 0.04, 0.0, 0.01, 0.0},
     kYandex,
     "MIT",
     "",
     kSquirrelFiltered},
    {"chameleon-filtered",
     "chameleon_filtered",
     890,
     8854,
     2325,
     5,
     Metric::kAccuracy,
     {0.24, 0.24, 0.04, 0.25, 0.03, 0.01},
     kYandex,
     "MIT",
     "",
     kChameleonFiltered},
}};

}  // namespace

std::span<const CatalogueEntry> catalogue() {
  return kCatalogue;
}

}  // namespace dgat::data
