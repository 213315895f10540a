// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

absl::Status SystemError(const std::string& path, std::string_view doing, int error) {
  const std::string message = absl::StrCat(path, ": ", doing, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EEXIST) return absl::AlreadyExistsError(message);
  if (error == EACCES || error == EROFS || error == EPERM)
    return absl::PermissionDeniedError(message);
  return absl::UnavailableError(message);
}

// What an interrupt removes: files, then folders, inner ones first. Built whole before the first of
// them is made, so the handler only ever reads it.
struct Cleanup {
  std::vector<std::string> files = {};
  std::vector<std::string> folders = {};
};

std::atomic<const Cleanup*> g_cleanup{nullptr};

extern "C" void OnInterrupt(int) {
  // Only async-signal-safe calls from here on.
  if (const Cleanup* cleanup = g_cleanup.load()) {
    for (const std::string& file : cleanup->files) unlink(file.c_str());
    for (const std::string& folder : cleanup->folders) rmdir(folder.c_str());
  }
  constexpr char kMessage[] = "\nlab: interrupted; what was half written is removed\n";
  if (write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1) < 0) {
    // Nobody is left to tell.
  }
  _exit(130);
}

// Holds the list for the handler as long as something is half written.
class CleanupScope {
 public:
  explicit CleanupScope(Cleanup cleanup) : cleanup_(std::move(cleanup)) {
    g_cleanup.store(&cleanup_);
  }
  ~CleanupScope() { g_cleanup.store(nullptr); }
  CleanupScope(const CleanupScope&) = delete;
  CleanupScope& operator=(const CleanupScope&) = delete;

 private:
  Cleanup cleanup_;
};

// durable: on the disk before this returns, so that a rename after it never shows an empty file
// after a power cut. Costs tens of milliseconds a file; records can be made again and do without.
absl::Status WriteBytes(const std::string& path, std::string_view bytes, bool durable) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return SystemError(path, "cannot be made", errno);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      close(file);
      return SystemError(path, "cannot be written", error);
    }
    done += static_cast<size_t>(written);
  }
  const bool synced = !durable || fsync(file) == 0;
  const int error = errno;
  if (close(file) != 0 || !synced) {
    return SystemError(path, "cannot be written", synced ? errno : error);
  }
  return absl::OkStatus();
}

absl::Status MakeParent(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  std::error_code error;
  if (!parent.empty()) fs::create_directories(parent, error);
  return error ? SystemError(parent.string(), "cannot be made", error.value()) : absl::OkStatus();
}

// site/ is site: a name to put a temporary one beside must not end with a slash.
std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string TemporaryPrefix(const std::string& path) {
  const fs::path full(path);
  return (full.parent_path() / ("." + full.filename().string() + ".tmp-")).string();
}

// Temporary names hold the process's number; those of processes that are gone are left-overs. One
// of our own number is too: we have not made ours yet, so an earlier process had the number.
void RemoveLeftOvers(const std::string& path) {
  const std::string prefix = TemporaryPrefix(path);
  const fs::path parent = fs::path(path).parent_path();
  const std::string stem = fs::path(prefix).filename().string();
  for (const std::string& name : ListFolder(parent.string())) {
    if (name.rfind(stem, 0) != 0) continue;
    const long pid = std::strtol(name.c_str() + stem.size(), nullptr, 10);
    if (pid <= 0) continue;
    if (pid == getpid() || (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)) {
      std::error_code ignored;
      fs::remove_all(parent / name, ignored);
    }
  }
}

// Adds to the list the contents of `source`, as they would lie below `at`, and `at` itself.
void AddTree(const std::string& source, const std::string& at, Cleanup& cleanup) {
  std::vector<std::string> folders = {at};
  std::error_code error;
  for (fs::recursive_directory_iterator entry(source, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const std::string copy =
        absl::StrCat(at, "/", entry->path().lexically_relative(source).string());
    (entry->is_directory(ignored) ? folders : cleanup.files).push_back(copy);
  }
  // A folder is listed before what is in it, and removed after.
  cleanup.folders.insert(cleanup.folders.end(), folders.rbegin(), folders.rend());
}

// Puts the folder `fresh` where `path` is and leaves the old one, if any, at `fresh`.
absl::Status Exchange(const std::string& fresh, const std::string& path) {
  if (rename(fresh.c_str(), path.c_str()) == 0) return absl::OkStatus();
  if (errno != ENOTEMPTY && errno != EEXIST) return SystemError(path, "cannot be replaced", errno);
  if (syscall(SYS_renameat2, AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) ==
      0) {
    return absl::OkStatus();
  }
  // File systems without the exchange: two renames, with a short moment in between.
  const std::string old = fresh + ".old";
  if (rename(path.c_str(), old.c_str()) != 0) return SystemError(path, "cannot be replaced", errno);
  if (rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    if (rename(old.c_str(), path.c_str()) != 0)
      return SystemError(old, "cannot be moved back", errno);
    return SystemError(path, "cannot be replaced", error);
  }
  if (rename(old.c_str(), fresh.c_str()) != 0) return SystemError(old, "cannot be removed", errno);
  return absl::OkStatus();
}

absl::Status WriteVia(const std::string& path, std::string_view bytes, bool must_be_new) {
  if (absl::Status status = MakeParent(path); !status.ok()) return status;
  RemoveLeftOvers(path);
  const std::string temporary = absl::StrCat(TemporaryPrefix(path), getpid());
  CleanupScope scope({.files = {temporary}});
  absl::Status status = WriteBytes(temporary, bytes, must_be_new);
  if (status.ok()) {
    // link fails where the name is taken; rename would replace it.
    const int result = must_be_new ? link(temporary.c_str(), path.c_str())
                                   : rename(temporary.c_str(), path.c_str());
    if (result != 0) status = SystemError(path, "cannot be written", errno);
  }
  if (must_be_new || !status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace

bool FileExists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError(path, "cannot be read", errno);
  std::string bytes;
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      close(file);
      return SystemError(path, "cannot be read", error);
    }
    if (count == 0) break;
    bytes.append(buffer.data(), static_cast<size_t>(count));
  }
  close(file);
  return bytes;
}

absl::StatusOr<std::vector<std::string>> ReadNames(const std::string& path) {
  DIR* folder = opendir(path.empty() ? "." : path.c_str());
  if (folder == nullptr) return SystemError(path, "cannot be read", errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> ListFolder(const std::string& path) {
  absl::StatusOr<std::vector<std::string>> names = ReadNames(path);
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

absl::StatusOr<std::map<std::string, std::string>> ReadFolder(const std::string& path) {
  absl::StatusOr<std::vector<std::string>> names = ReadNames(path);
  if (!names.ok()) return names.status();
  std::map<std::string, std::string> files;
  for (const std::string& name : *names) {
    if (name[0] == '.') continue;
    const std::string file = absl::StrCat(path, "/", name);
    struct stat info;
    absl::StatusOr<std::string> bytes;
    if (stat(file.c_str(), &info) != 0) {
      bytes = SystemError(file, "cannot be read", errno);
    } else if (S_ISREG(info.st_mode)) {
      bytes = ReadFile(file);
    } else {
      continue;
    }
    // The folder is there: NotFound would say that it is not.
    if (!bytes.ok()) return absl::UnavailableError(bytes.status().message());
    files[name] = *std::move(bytes);
  }
  return files;
}

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  return WriteVia(path, bytes, false);
}

absl::Status WriteNewFile(const std::string& path, std::string_view bytes) {
  return WriteVia(path, bytes, true);
}

absl::Status ReplaceFolder(const std::string& folder,
                           const std::map<std::string, std::string>& files) {
  const std::string path = WithoutSlashes(folder);
  if (absl::Status status = MakeParent(path); !status.ok()) return status;
  RemoveLeftOvers(path);
  const std::string temporary = absl::StrCat(TemporaryPrefix(path), getpid());
  Cleanup cleanup;
  for (const auto& [name, bytes] : files)
    cleanup.files.push_back(absl::StrCat(temporary, "/", name));
  // After the exchange the old folder lies there.
  AddTree(path, temporary, cleanup);
  CleanupScope scope(std::move(cleanup));
  if (mkdir(temporary.c_str(), 0777) != 0) return SystemError(temporary, "cannot be made", errno);
  absl::Status status;
  for (const auto& [name, bytes] : files) {
    status = WriteBytes(absl::StrCat(temporary, "/", name), bytes, false);
    if (!status.ok()) break;
  }
  if (status.ok()) status = Exchange(temporary, path);
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  return status;
}

absl::Status ReplaceTree(const std::string& folder, const std::string& source) {
  const std::string path = WithoutSlashes(folder);
  if (absl::Status status = MakeParent(path); !status.ok()) return status;
  if (!FileExists(source)) return SystemError(source, "cannot be read", ENOENT);
  RemoveLeftOvers(path);
  const std::string temporary = absl::StrCat(TemporaryPrefix(path), getpid());
  Cleanup cleanup;
  AddTree(source, temporary, cleanup);
  AddTree(path, temporary, cleanup);
  CleanupScope scope(std::move(cleanup));
  absl::Status status;
  std::error_code error;
  fs::copy(source, temporary, fs::copy_options::recursive, error);
  if (error) status = SystemError(source, "cannot be copied", error.value());
  // Bazel's outputs are read-only programs; a built site is plain files for its owner to move and
  // delete.
  constexpr fs::perms kFile = fs::perms::owner_read | fs::perms::owner_write |
                              fs::perms::group_read | fs::perms::others_read;
  constexpr fs::perms kFolder =
      kFile | fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(temporary, kFolder, error);
  for (fs::recursive_directory_iterator entry(temporary, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    fs::permissions(entry->path(), entry->is_directory(ignored) ? kFolder : kFile, ignored);
  }
  if (status.ok()) status = Exchange(temporary, path);
  fs::remove_all(temporary, error);
  return status;
}

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = &OnInterrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

absl::StatusOr<std::string> Gunzip(std::string_view bytes, int64_t max_bytes) {
  z_stream stream = {};
  // 16: gzip, and nothing but gzip.
  if (inflateInit2(&stream, 15 + 16) != Z_OK)
    return absl::ResourceExhaustedError("zlib has no memory");
  std::string result;
  std::vector<char> buffer(1 << 20);
  size_t fed = 0;
  int code = Z_OK;
  for (;;) {
    if (stream.avail_in == 0 && fed < bytes.size()) {
      const size_t chunk = std::min<size_t>(bytes.size() - fed, 1u << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + fed));
      stream.avail_in = static_cast<uInt>(chunk);
      fed += chunk;
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    code = inflate(&stream, Z_NO_FLUSH);
    result.append(buffer.data(), buffer.size() - stream.avail_out);
    const bool all_fed = fed == bytes.size() && stream.avail_in == 0;
    if (static_cast<int64_t>(result.size()) > max_bytes) {
      inflateEnd(&stream);
      return absl::DataLossError("the content is larger than expected");
    }
    if (code == Z_STREAM_END) {
      if (all_fed) break;
      if (inflateReset(&stream) != Z_OK) break;  // the next member
      continue;
    }
    if (code != Z_OK || (all_fed && stream.avail_out != 0)) break;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END) return absl::DataLossError("not a whole gzip file");
  return result;
}

}  // namespace assay::lab
