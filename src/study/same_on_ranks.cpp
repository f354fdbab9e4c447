#include "same_on_ranks.h"

#include <fmt/format.h>

#include "dgat/core/error.h"
#include "dgat/study/origin.h"
#include "dgat/tensor/blas.h"
#include "dgat/train/option_table.h"

namespace dgat::study {

void check_same_on_ranks(dist::Communicator& ranks, const TrialData& data,
                         const train::Config& config) {
  const Origin origin = present_origin();
  std::string options;
  for (const train::OptionInfo& option : train::config_options()) {
    if (option.changes_result) options += fmt::format("{}={} ", option.key, option.get(config));
  }
  tensor::prepare_blas();
  struct Check {
    std::string name, value;
    const char* advice;
  };
  const Check checks[] = {
      {"dgat", fmt::format("results version {} commit {}", origin.results_version, origin.commit),
       "install the same program on all machines"},
      {"the instruction set", origin.instruction_set,
       "set DGAT_SIMD to the lower one on all machines"},
      {"the kernels of OpenBLAS", tensor::blas_kernels(),
       "set OPENBLAS_CORETYPE to the older one on all machines"},
      {"the data", data.fingerprint, "give all ranks the same file"},
      {"the options", options, "give all ranks the same command"},
  };
  for (const Check& check : checks) {
    const std::vector<std::string> all = ranks.all_texts(check.value);
    for (size_t r = 1; r < all.size(); ++r) {
      if (all[r] == all[0]) continue;
      throw_input("train: {} differs between ranks: {} on rank 0, {} on rank {}; {}", check.name,
                  all[0], all[r], r, check.advice);
    }
  }
}

}  // namespace dgat::study
