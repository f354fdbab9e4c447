#include "support/run_dgat.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "support/temp_dir.h"

namespace dgat::test {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

void exec_dgat(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{DGAT_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

RunResult run_dgat(const std::vector<std::string>& arguments) {
  const TempDir folder;  // files instead of pipes: neither stream can block the other
  const std::string out = (folder / "out").string(), err = (folder / "err").string();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    const auto redirect = [](const char* path, int stream) {
      const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (file < 0 || dup2(file, stream) < 0) _exit(127);
    };
    redirect(out.c_str(), STDOUT_FILENO);
    redirect(err.c_str(), STDERR_FILENO);
    exec_dgat(arguments);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("waitpid failed");
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, content(out), content(err)};
}

}  // namespace dgat::test
