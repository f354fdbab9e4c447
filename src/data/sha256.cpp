#include "dgat/data/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "dgat/core/error.h"
#include "dgat/core/open_file.h"

namespace dgat::data {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  expects(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1, "libcrypto has SHA-256");
}

Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> digest;
  EVP_DigestFinal_ex(state_->context, digest.data(), nullptr);
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream in = open_file(path);
  Sha256 hash;
  std::array<char, 1 << 16> chunk;
  while (in.read(chunk.data(), chunk.size()) || in.gcount() > 0) {
    hash.update({chunk.data(), static_cast<size_t>(in.gcount())});
  }
  if (in.bad()) throw_input("{}: reading failed", path.string());
  return hash.finish();
}

}  // namespace dgat::data
