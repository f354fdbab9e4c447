#include "operation_table.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "dgat/tensor/profile.h"

namespace dgat::bench {

void print_operation_table(const Case& c, const Setting& setting, bool as_json) {
  const train::SplitTask task = setting.task();
  const auto model = train::make_task_model(task);
  int64_t steps = 0;
  std::clock_t first = 0, last = 0;
  train::TrainHooks hooks;
  hooks.on_evaluation = [&](const train::StepRecord& record) {
    last = std::clock();
    if (record.step == 2) {  // the first two fill the pools
      tensor::profile_operations(true);
      first = std::clock();
    }
    steps = record.step - 2;
  };
  train::train_split(task, *model, hooks);
  const std::vector<tensor::OperationTime> times = tensor::operation_times();
  tensor::profile_operations(false);

  const double each = 1e3 / static_cast<double>(steps);
  const double total = each * static_cast<double>(last - first) / CLOCKS_PER_SEC;
  double rest = total;
  if (!as_json) {
    fmt::print("\n{:<20}{:<22}{:>8}{:>11}{:>12}{:>11}{:>8}\n", "graph", "operation", "calls",
               "forward ms", "backward ms", "both ms", "share");
  }
  const auto print = [&](std::string_view name, double calls, double forward, double backward,
                         double both) {
    if (as_json) {
      const nlohmann::ordered_json row = {{"dataset", c.name},       {"operation", name},
                                          {"calls", calls},          {"forward_ms", forward},
                                          {"backward_ms", backward}, {"both_ms", both},
                                          {"share", both / total}};
      fmt::print("{}\n", row.dump());
      return;
    }
    fmt::print("{:<20}{:<22}{:>8.0f}{:>11.1f}{:>12.1f}{:>11.1f}{:>7.1f}%\n", c.name, name, calls,
               forward, backward, both, 100 * both / total);
  };
  for (const tensor::OperationTime& time : times) {
    const double forward = each * time.forward, backward = each * time.backward;
    print(time.name, static_cast<double>(time.calls) / static_cast<double>(steps), forward,
          backward, forward + backward);
    rest -= forward + backward;
  }
  print("update and metrics", 1, 0, 0, rest);
  print("all", 1, 0, 0, total);
}

}  // namespace dgat::bench
