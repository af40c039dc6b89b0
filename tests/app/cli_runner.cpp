// Child process with its output in temporary files: no pipe can fill up.
#include "tests/app/cli_runner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

namespace foxhunt::test {
namespace {

std::string program() {
  const char* chosen = std::getenv("FOXHUNT_CLI");
  return chosen ? chosen : std::string(FOXHUNT_BINARY_DIR) + "/bin/foxhunt-cli";
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Beyond the limit a write fails with EFBIG instead of ending the program: an ignored signal stays so across exec.
void limit_files(std::uint64_t bytes) {
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || signal(SIGXFSZ, SIG_IGN) == SIG_ERR) _exit(126);
}

void become(const std::vector<std::string>& words, const std::filesystem::path& out, const std::filesystem::path& err,
            const std::filesystem::path& folder) {
  const auto redirect = [](const std::filesystem::path& to, int descriptor) {
    const int file = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
    close(file);
  };
  redirect(out, STDOUT_FILENO);
  redirect(err, STDERR_FILENO);
  if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
  std::string name = program();
  std::vector<char*> arguments = {name.data()};
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(name.c_str(), arguments.data());
  _exit(127);
}

// Waits for the child; sends the signals when their sign is there.
int wait_for(pid_t child, const CliOptions& options) {
  using Clock = std::chrono::steady_clock;
  int status = 0, left = options.interrupt_after.empty() ? 0 : options.interrupts;
  std::optional<Clock::time_point> seen;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (!options.kill_after.empty() && !seen && std::filesystem::exists(options.kill_after)) seen = Clock::now();
    if (seen && std::chrono::duration<double>(Clock::now() - *seen).count() >= options.kill_seconds)
      kill(child, SIGKILL);
    if (left > 0 && std::filesystem::exists(options.interrupt_after)) {
      kill(child, SIGINT);
      --left;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(options.kill_after.empty() ? 20 : 2));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

nlohmann::json CliResult::document() const {
  auto parsed = nlohmann::json::parse(out, nullptr, false);
  if (!parsed.is_object()) {
    ADD_FAILURE() << "standard output is not one JSON document: " << out << "\nstandard error: " << err;
    return nlohmann::json::object();
  }
  return parsed;
}

CliResult run_cli(const std::vector<std::string>& words, const CliOptions& options) {
  std::string pattern = (std::filesystem::temp_directory_path() / "foxhunt-cli-XXXXXX").string();
  const std::filesystem::path scratch = mkdtemp(pattern.data());
  const pid_t child = fork();
  if (child == 0) {
    if (options.largest_file) limit_files(options.largest_file);
    become(words, scratch / "out", scratch / "err", options.folder);
  }
  CliResult result;
  result.exit_code = wait_for(child, options);
  result.ended = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  result.out = contents(scratch / "out");
  result.err = contents(scratch / "err");
  std::filesystem::remove_all(scratch);
  return result;
}

}  // namespace foxhunt::test
