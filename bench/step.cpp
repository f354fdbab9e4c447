// Seconds of one training step: forward, backward, update and one evaluation forward.
// Run:     build/release/bin/step_bench [--data ../shared/datasets] [--model dgat] [--threads 2]
//          [--cpu] [--emulated] [--profile] [--json] [CASE...]
// Prints:  per graph the sgemm rate measured in the same process, the floating-point operations of
//          the step as defined and those that are done, the time that the former would take at that
//          rate, the median time of a step, what share of it the ideal time is, the share of the
//          rate that the operations done reach, the peak memory of the process, and the loss after
//          the last step (the error column: it must agree between machines to about four digits).
//          The cases of recipe deep name their own model. --json: every row of a table as an object
//          on a line of its own.
// A second table compares the precisions f32 and bf16 on the cases of width 512, on a processor
// with AMX: see precision_rows.h. --emulated prints its errors alone, on any processor.
// --profile prints the processor time of a step by operation instead, for the same cases
// (operation_table.h). Every case runs in a process of its own, so that the memory is its own.
// --cpu measures processor seconds per thread instead of seconds on the wall: for a machine that
// has other work to do.
#include <cblas.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/tensor/blas.h"
#include "dgat/tensor/precision.h"
#include "kernels/tile_unit.h"
#include "operation_table.h"
#include "precision_rows.h"
#include "step_case.h"
#include "stopwatch.h"

namespace {
using namespace dgat;
using namespace dgat::bench;

bool as_json = false;

/// Multiply-adds per second of single-threaded sgemm calls on all threads at once, times two.
double sgemm_rate() {
  constexpr int kSize = 1024, kRuns = 6;
  tensor::prepare_blas();
  const int threads = thread_count();
  std::vector<std::vector<float>> a(static_cast<size_t>(threads)), b, c;
  for (auto& m : a) m.assign(size_t{kSize} * kSize, 0.5F);
  b = c = a;
  double best = 0;
  for (int r = 0; r < kRuns; ++r) {
    const double start = now();
    parallel_for(threads, 1, [&](int64_t begin, int64_t) {
      const auto t = static_cast<size_t>(begin);
      for (int repeat = 0; repeat < 2; ++repeat) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kSize, kSize, kSize, 1, a[t].data(),
                    kSize, b[t].data(), kSize, 0, c[t].data(), kSize);
      }
    });
    const double flops = 2.0 * 2.0 * threads * kSize * double{kSize} * kSize;
    best = std::max(best, flops / (now() - start));
  }
  return best;
}

void run_case(const Case& c, const Setting& setting) {
  const auto [median, loss] = time_steps(setting, setting.config);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double rate = sgemm_rate();
  const Work work = step_work(*train::make_task_model(setting.task()), setting);
  const double ideal = work.defined / rate;
  if (as_json) {
    const nlohmann::ordered_json row = {{"dataset", c.name},
                                        {"sgemm", rate},
                                        {"defined", work.defined},
                                        {"done", work.done},
                                        {"seconds", median},
                                        {"of_ideal", ideal / median},
                                        {"of_rate", work.done / rate / median},
                                        {"peak_bytes", usage.ru_maxrss * 1024},
                                        {"loss", loss}};
    fmt::print("{}\n", row.dump());
    return;
  }
  fmt::print(
      "{:<20}{:>9.1f}{:>8.2f}{:>8.2f}{:>9.4f}{:>10.6f}{:>8.0f}%{:>7.0f}%{:>8.2f}{:>9.4f}{:>9}"
      "{:>9}\n",
      c.name, rate / 1e9, work.defined / 1e9, work.done / 1e9, ideal, median, 100 * ideal / median,
      100 * work.done / rate / median, static_cast<double>(usage.ru_maxrss) * 1024 / 1e9, loss,
      c.goal_seconds > 0 ? fmt::format("{:.4g}", c.goal_seconds) : "-",
      c.goal_bytes > 0 ? fmt::format("{:.1f}", c.goal_bytes / 1e9) : "-");
}

/// Steps per second when every thread trains a network of its own, as `dgat train` does with the
/// splits of a small graph.
void run_side_by_side(const Case& c, const Setting& setting) {
  const int threads = thread_count();
  const double start = now();
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        const ThreadScope scope(1);
        const train::SplitTask task = setting.task();
        const auto model = train::make_task_model(task);
        train::train_split(task, *model, {});
      });
    }
  }
  const double seconds = (now() - start) * (cpu_time ? threads : 1);
  const double rate = static_cast<double>(threads * setting.config.steps) / seconds;
  if (as_json) {
    const nlohmann::ordered_json row = {{"dataset", c.name}, {"side_by_side", rate}};
    fmt::print("{}\n", row.dump());
    return;
  }
  fmt::print("{:<20}{:>10.0f} steps/s of {} trainings side by side\n", c.name, rate, threads);
}

/// In a process of its own; returns whether it succeeded.
template <class Run>
bool run_apart(const char* name, const Run& run) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    int code = 0;
    try {
      set_quiet(true);
      run();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", name, error.what());
      code = 1;
    }
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = "../shared/datasets", model = "dgat";
  std::vector<std::string> wanted;
  bool emulated = false, profile = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--data" && i + 1 < argc) {
      folder = argv[++i];
    } else if (argument == "--model" && i + 1 < argc) {
      model = argv[++i];
    } else if (argument == "--threads" && i + 1 < argc) {
      dgat::set_thread_count(std::atoi(argv[++i]));
    } else if (argument == "--cpu") {
      cpu_time = true;
    } else if (argument == "--json") {
      as_json = true;
    } else if (argument == "--emulated") {
      emulated = true;
    } else if (argument == "--profile") {
      profile = true;
    } else {
      wanted.push_back(argument);
    }
  }
  int failures = 0;
  // Cases at least so wide, each with a process of its own.
  const auto each_case = [&](int64_t hidden, const auto& run) {
    for (const Case& c : kCases) {
      if (c.hidden < hidden ||
          (!wanted.empty() && std::find(wanted.begin(), wanted.end(), c.name) == wanted.end())) {
        continue;
      }
      const bool succeeded = run_apart(c.name, [&] { run(c, Setting(c, folder, model)); });
      failures += succeeded ? 0 : 1;
    }
  };
  if (profile) {
    each_case(512, [](const Case& c, const Setting& setting) {
      print_operation_table(c, setting, as_json);
    });
    return failures;
  }
  if (!emulated) {
    if (!as_json) {
      fmt::print("{:<20}{:>9}{:>8}{:>8}{:>9}{:>10}{:>9}{:>8}{:>8}{:>9}{:>9}{:>9}\n", "graph",
                 "GFLOP/s", "GFLOP", "done", "ideal s", "step s", "of ideal", "of rate", "peak GB",
                 "loss", "goal s", "goal GB");
    }
    each_case(0, [&](const Case& c, const Setting& setting) {
      run_case(c, setting);
      if (c.hidden < 512) run_side_by_side(c, setting);
    });
    if (!tensor::has_bf16()) {
      if (as_json) return failures;
      fmt::print("This processor has no AMX: the rows of precision bf16 are left out.\n");
      return failures;
    }
  } else {
    tensor::use_tile_unit(tensor::TileUnit::kEmulated);
  }
  if (!as_json) print_precision_header();
  each_case(512, [&](const Case& c, const Setting& setting) {
    run_precisions(c, setting, emulated ? 0 : sgemm_rate(), !emulated, as_json);
  });
  return failures;
}
