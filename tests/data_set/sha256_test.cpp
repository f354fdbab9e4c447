#include "dgat/data/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "dgat/core/error.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

std::string hash(std::string_view text) {
  Sha256 sha;
  sha.update(text);
  return sha.finish();
}

// Vectors of FIPS 180-4 / NIST's example files.
TEST(Sha256, AgreesWithTheStandard) {
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
                 "klmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hash(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  const std::string text(1000, 'x');
  for (const size_t piece : {1U, 55U, 56U, 63U, 64U, 65U, 129U}) {
    Sha256 sha;
    for (size_t at = 0; at < text.size(); at += piece) sha.update(text.substr(at, piece));
    EXPECT_EQ(sha.finish(), hash(text)) << piece;
  }
}

TEST(Sha256, ReadsFiles) {
  const test::TempDir dir;
  std::ofstream(dir / "a") << "abc";
  EXPECT_EQ(sha256_of_file(dir / "a"), hash("abc"));
  EXPECT_THROW(sha256_of_file(dir / "none"), InputError);
}

}  // namespace
}  // namespace dgat::data
