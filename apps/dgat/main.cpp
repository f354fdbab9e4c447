// dgat: the table of verbs, and what their failures mean to the shell.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/tensor/blas.h"
#include "verbs.h"

namespace {

constexpr int kDone = 0, kFailed = 1, kUsage = 2, kInterrupted = 130;

constexpr dgat::app::AddVerb kVerbs[] = {
    // clang-format off
    dgat::app::add_inspect,
    dgat::app::add_spectrum,
    dgat::app::add_rewire,
    dgat::app::add_generate,
    dgat::app::add_convert,
    dgat::app::add_train,
    dgat::app::add_predict,
    dgat::app::add_compare,
    dgat::app::add_ablate,
    dgat::app::add_reproduce,
    dgat::app::add_tune,
    dgat::app::add_advise,
    dgat::app::add_report,
    dgat::app::add_datasets,
    dgat::app::add_models,
    dgat::app::add_reference,
    // clang-format on
};

int fail(int code, const char* text) {
  std::fputs(fmt::format("dgat: {}\n", text).c_str(), stderr);
  return code;
}

/// What could not be printed (a full disk behind a redirection) is not done.
int done() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kDone;
  return fail(kFailed, fmt::format("the output could not be written: {}",
                                   errno != 0 ? std::strerror(errno) : "is the disk full?")
                           .c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"dgat: the Directional Graph Attention Network, for graphs whose neighbours differ"};
  app.name("dgat");
  app.require_subcommand(1);
  app.set_version_flag("--version", DGAT_VERSION);
  app.footer(
      "`dgat VERB --help` explains a verb. Exit codes: 0 done, 1 the computation failed, 2 wrong "
      "usage or unreadable input.");
  app.get_formatter()->column_width(34);
  for (const auto add : kVerbs) add(app);
  dgat::install_interrupt_handler();
  dgat::tensor::prepare_blas();  // before there are other threads
  try {
    app.parse(argc, argv);
    return done();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    app.exit(error);
    return kUsage;
  } catch (const dgat::InputError& error) {
    return fail(kUsage, error.what());
  } catch (const dgat::Interrupted& error) {
    return fail(kInterrupted, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kFailed, "out of memory");
  } catch (const std::exception& error) {
    return fail(kFailed, error.what());
  }
}
