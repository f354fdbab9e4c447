#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dgat::report {

/// An interactive view of what gamma, alpha, epsilon, rewiring and component policy do to a graph
/// (see explorer.h). Node arrays have one entry per node of the page.
struct Explorer {
  /// Eigenvectors at one gamma, at alpha = 1/2: nodes x k, column by column.
  struct Solved {
    double gamma = 0, eigenvalue = 0, gap = 0, participation_ratio = 0;
    int multiplicity = 1;
    bool converged = true;
    std::vector<double> mass;            ///< diagonal of M, per entry of `strengths`
    std::vector<double> each;            ///< component policy `each`
    std::vector<double> first, largest;  ///< the other policies; empty: equal to `each`
    std::vector<float> second;           ///< the next vector, to draw with; empty: not solved
  };
  struct Scored {
    double gamma = 0, alpha = 0, score = 0;
    std::string rewire, epsilon;
  };
  /// Where the page starts.
  struct Start {
    double alpha = 1, gamma = 1;
    std::string rewire = "none", epsilon, components = "each";
  };
  std::string title, note;
  std::string command;  ///< start of the training command
  Start start;
  int vectors = 1;                       ///< k
  bool sampled = false;                  ///< the nodes are a sample: every number is one of it
  int64_t all_nodes = 0, all_edges = 0;  ///< of the data set
  std::vector<int32_t> id;               ///< number in the data set
  std::vector<std::string> names;        ///< original ids; empty when they are the numbers
  std::vector<std::string> class_names;
  std::vector<int32_t> training_label;  ///< -1 outside the training nodes
  std::vector<int32_t> from, to;        ///< every edge once, by rows, from < to
  std::vector<double> strengths;        ///< the different row sums of A
  std::vector<int32_t> strength_of;     ///< place in `strengths`, per node
  std::vector<double> alphas;           ///< increasing
  std::vector<Solved> gammas;           ///< increasing
  std::vector<Scored> advice;           ///< best first; empty without advice
  std::string advice_text;              ///< the reason, or why there is none
  bool advice_clear = false;
};

}  // namespace dgat::report
