// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/workspace.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/lab/program/files.h"
#include "tools/lab/records/json.h"

extern char** environ;

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  std::string text = (error ? fs::path(path) : absolute).lexically_normal().string();
  if (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

// Starts a command; its stdout is the descriptor `out`, its stderr ours or nothing.
absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& arguments, const std::string& folder,
                            int out, bool silent) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return absl::NotFoundError(
        absl::StrCat(arguments[0], ": cannot be run: ", std::strerror(error)));
  return pid;
}

absl::StatusOr<int> Wait(pid_t pid) {
  int state = 0;
  while (waitpid(pid, &state, 0) < 0) {
    if (errno != EINTR) return absl::InternalError("the command was lost");
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

}  // namespace

absl::StatusOr<std::string> Capture(const std::vector<std::string>& arguments,
                                    const std::string& folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError("no pipe");
  absl::StatusOr<pid_t> pid = Spawn(arguments, folder, ends[1], true);
  close(ends[1]);
  std::string text;
  if (pid.ok()) {
    char buffer[4096];
    ssize_t count = 0;
    while ((count = read(ends[0], buffer, sizeof(buffer))) > 0 || (count < 0 && errno == EINTR)) {
      if (count > 0) text.append(buffer, static_cast<size_t>(count));
    }
  }
  close(ends[0]);
  if (!pid.ok()) return pid.status();
  absl::StatusOr<int> code = Wait(*pid);
  if (!code.ok()) return code.status();
  if (*code != 0)
    return absl::UnavailableError(
        absl::StrCat(absl::StrJoin(arguments, " "), " ended with code ", *code));
  return text;
}

absl::StatusOr<int> RunCommand(const std::vector<std::string>& arguments,
                               const std::string& folder) {
  absl::StatusOr<pid_t> pid = Spawn(arguments, folder, STDERR_FILENO, false);
  if (!pid.ok()) return pid.status();
  return Wait(*pid);
}

absl::StatusOr<Workspace> Workspace::Find(const std::string& root, const std::string& program) {
  Workspace workspace;
  for (const std::string& runfiles :
       {Environment("RUNFILES_DIR"), Environment("TEST_SRCDIR"), Absolute(program) + ".runfiles"}) {
    const std::string name = Environment("TEST_WORKSPACE");
    const std::string candidate = absl::StrCat(runfiles, "/", name.empty() ? "assay" : name);
    if (!runfiles.empty() && FileExists(candidate)) {
      workspace.runfiles_ = Absolute(candidate);
      break;
    }
  }
  const std::string bazel_run = Environment("BUILD_WORKSPACE_DIRECTORY");
  if (!root.empty()) {
    workspace.root_ = Absolute(root);
    if (!FileExists(workspace.root_))
      return absl::NotFoundError(absl::StrCat(root, ": there is no such folder (--root)"));
  } else if (!bazel_run.empty()) {
    workspace.root_ = Absolute(bazel_run);
  } else if (!workspace.runfiles_.empty() && !Environment("TEST_SRCDIR").empty()) {
    workspace.root_ = workspace.runfiles_;
  } else {
    std::error_code error;
    for (fs::path folder = fs::current_path(error); !error; folder = folder.parent_path()) {
      if (fs::exists(folder / "WORKSPACE", error)) {
        workspace.root_ = folder.string();
        break;
      }
      if (folder == folder.parent_path()) break;
    }
    if (workspace.root_.empty()) {
      return absl::NotFoundError(
          "this is no folder of the workspace; go there, use bazel run //web:lab -- ..., or give "
          "--root=DIR");
    }
  }
  return workspace;
}

std::string Workspace::ArticleFolder(std::string_view slug) const {
  return absl::StrCat(root_, "/web/articles/", slug);
}

std::string Workspace::RecordsFolder(std::string_view slug, Profile profile) const {
  return absl::StrCat(ArticleFolder(slug), "/records/", ProfileName(profile));
}

std::string Workspace::MeasuredFolder(std::string_view slug) const {
  return absl::StrCat(ArticleFolder(slug), "/records/measured");
}

std::string Workspace::DeviceFile(std::string_view device) const {
  return absl::StrCat(root_, "/web/devices/", device, ".json");
}

std::string Workspace::Shorten(const std::string& path) const {
  const std::string prefix = root_ + "/";
  return path.rfind(prefix, 0) == 0 ? path.substr(prefix.size()) : path;
}

absl::StatusOr<Manifest> Workspace::ReadManifest(std::string_view slug) const {
  const std::string path = absl::StrCat(ArticleFolder(slug), "/lab.json");
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok())
    return absl::Status(text.status().code(), Shorten(std::string(text.status().message())));
  return ParseManifest(*text, Shorten(path));
}

absl::StatusOr<Closure> Workspace::ReadClosure(std::string_view slug) const {
  const std::string name = absl::StrCat("web/articles/", slug, "/lab_closure.json");
  std::vector<std::string> places;
  if (!runfiles_.empty()) places.push_back(absl::StrCat(runfiles_, "/", name));
  places.push_back(absl::StrCat(root_, "/", name));
  for (const std::string& path : places) {
    if (!FileExists(path)) continue;
    absl::StatusOr<std::string> text = ReadFile(path);
    if (!text.ok()) return text.status();
    absl::StatusOr<Json> document = ParseJson(*text, Shorten(path));
    if (!document.ok()) return document.status();
    if (!document->is_object() || !document->contains("closure_sha256") ||
        !document->contains("files") || !document->contains("target")) {
      return absl::InvalidArgumentError(
          absl::StrCat(Shorten(path), ": not a closure; build it again"));
    }
    Closure closure;
    closure.sha256 = document->value("closure_sha256", "");
    closure.files = document->value("files", int64_t{0});
    closure.target = document->value("target", "");
    return closure;
  }
  return absl::NotFoundError(absl::StrCat(name,
                                          ": the hash of the lab's sources is not beside the "
                                          "program; run it as bazel run //web:lab -- ..."));
}

absl::StatusOr<std::vector<uint8_t>> Workspace::ReadData(const Manifest& manifest,
                                                         std::string_view name) const {
  const DataFile* data = nullptr;
  std::vector<std::string> names;
  for (const DataFile& candidate : manifest.data) {
    names.push_back(candidate.name);
    if (candidate.name == name) data = &candidate;
  }
  if (data == nullptr) {
    const std::string nearest = NearestName(name, names);
    return absl::NotFoundError(
        absl::StrCat("lab.json declares no data called ", name,
                     nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?")));
  }
  std::vector<std::string> places;
  constexpr std::string_view kExternal = "external/";
  if (!runfiles_.empty()) {
    places.push_back(absl::StrCat(runfiles_, "/", data->path));
    if (data->path.rfind(kExternal, 0) == 0) {
      places.push_back(absl::StrCat(runfiles_, "/../", data->path.substr(kExternal.size())));
    }
  }
  places.push_back(absl::StrCat(root_, "/", data->path));
  places.push_back(absl::StrCat(root_, "/bazel-bin/", data->path));
  for (const std::string& path : places) {
    if (!FileExists(path)) continue;
    absl::StatusOr<std::string> bytes = ReadFile(path);
    if (bytes.ok() && data->gunzip) bytes = Gunzip(*bytes);
    if (!bytes.ok()) {
      return absl::Status(bytes.status().code(), absl::StrCat("the data ", name, " (", path,
                                                              "): ", bytes.status().message()));
    }
    size_t begin = 0, end = bytes->size();
    if (data->slice) {
      begin = static_cast<size_t>(data->slice->first);
      end = static_cast<size_t>(data->slice->second);
      if (end > bytes->size()) {
        return absl::InvalidArgumentError(absl::StrCat("the data ", name, " has ", bytes->size(),
                                                       " bytes, and lab.json slices ", begin,
                                                       " to ", end));
      }
    }
    return std::vector<uint8_t>(bytes->begin() + static_cast<std::ptrdiff_t>(begin),
                                bytes->begin() + static_cast<std::ptrdiff_t>(end));
  }
  return absl::NotFoundError(
      absl::StrCat("the data ", name, " is not there; looked for ", absl::StrJoin(places, ", ")));
}

Commit Workspace::ReadCommit() const {
  Commit commit;
  const absl::StatusOr<std::string> head = Capture({"git", "rev-parse", "HEAD"}, root_);
  if (!head.ok() || head->empty()) return commit;
  commit.hash = head->substr(0, head->find('\n'));
  const absl::StatusOr<std::string> changes = Capture({"git", "status", "--porcelain"}, root_);
  commit.dirty = !changes.ok() || !changes->empty();
  return commit;
}

}  // namespace assay::lab
