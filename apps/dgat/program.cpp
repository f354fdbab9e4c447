// The table of verbs, and what their failures mean to the shell.
#include "program.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <new>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/terminal.h"
#include "usage.h"
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
    dgat::app::add_partition,
    dgat::app::add_train,
    dgat::app::add_predict,
    dgat::app::add_compare,
    dgat::app::add_ablate,
    dgat::app::add_reproduce,
    dgat::app::add_tune,
    dgat::app::add_advise,
    dgat::app::add_explore,
    dgat::app::add_report,
    dgat::app::add_verify,
    dgat::app::add_datasets,
    dgat::app::add_models,
    dgat::app::add_help,
    dgat::app::add_completion,
    dgat::app::add_man,
    dgat::app::add_reference,
    // clang-format on
};

/// Prints what went wrong and returns the code.
using Fail = std::function<int(int code, const char* text)>;

/// What could not be printed (a full disk behind a redirection) is not done.
int done(const Fail& fail) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kDone;
  if (errno == EPIPE) return kFailed;  // `dgat ... | head`: the reader has what it wants
  return fail(kFailed, fmt::format("the output could not be written: {}",
                                   errno != 0 ? std::strerror(errno) : "is the disk full?")
                           .c_str());
}

/// Where code that may not throw lacks memory (the destructor of a JSON value does): a sentence in
/// place of an abort. Files are written beside their place, so none is left half-written.
[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    std::fputs("dgat: out of memory\n", stderr);
    std::_Exit(kFailed);
  } catch (...) {  // a defect of ours
  }
  std::abort();
}

int run_verb(int argc, char** argv, const Fail& fail) {
  CLI::App app{"dgat: the Directional Graph Attention Network, for graphs whose neighbours differ"};
  app.name("dgat");
  app.require_subcommand(1);
  app.set_version_flag("-v,--version", dgat::app::version_text(), "Print the version and exit");
  app.footer(
      "`dgat help VERB` explains a verb. Exit codes: 0 done, 1 the computation failed, 2 wrong "
      "usage or unreadable input.");
  app.get_formatter()->column_width(34);
  for (const auto add : kVerbs) add(app);
  dgat::install_interrupt_handler();
  try {
    if (argc == 1) {
      fmt::print("{}", app.help());
    } else {
      app.parse(argc, argv);
    }
    return done(fail);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      return done(fail);
    }
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return fail(kUsage, dgat::app::explain(app, arguments, error).c_str());
  }
}

}  // namespace

namespace dgat::app {

int run_program(int argc, char** argv, const ProgramOptions& options) {
  const Fail fail = [&options](int code, const char* text) {
    if (options.before_error) options.before_error();
    const bool colours = errors_take_colours();
    for (const char* part : {colours ? "\x1b[1;31m" : "", options.name.c_str(), ":",
                             colours ? "\x1b[0m" : "", " ", text, "\n"}) {
      std::fputs(part, stderr);  // takes no memory: there may be none left
    }
    return code;
  };
  std::set_terminate(on_terminate);
  try {
    return run_verb(argc, argv, fail);
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

}  // namespace dgat::app
