// SPDX-License-Identifier: Apache-2.0
//
// Where things lie: articles, records, data, the closure hashes, the commit.
#ifndef ASSAY_TOOLS_LAB_PROGRAM_WORKSPACE_H_
#define ASSAY_TOOLS_LAB_PROGRAM_WORKSPACE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/lab/lab.h"
#include "tools/lab/records/manifest.h"
#include "tools/lab/records/records.h"

namespace assay::lab {

// The state of the working tree.
struct Commit {
  std::string hash = "unknown";
  bool dirty = true;
};

class Workspace {
 public:
  // Finds the workspace: `root` if it is not empty, else $BUILD_WORKSPACE_DIRECTORY (set by bazel
  // run), else the runfiles of the program (a test), else the nearest folder above the current one
  // that has a file WORKSPACE. Runfiles, where data and closures lie, are $RUNFILES_DIR,
  // $TEST_SRCDIR or PROGRAM.runfiles. Fails: NotFound where none of these is there.
  static absl::StatusOr<Workspace> Find(const std::string& root, const std::string& program);

  const std::string& root() const { return root_; }

  std::string ArticleFolder(std::string_view slug) const;
  std::string RecordsFolder(std::string_view slug, Profile profile) const;
  std::string MeasuredFolder(std::string_view slug) const;  // its subfolders are devices
  std::string DeviceFile(std::string_view device) const;

  absl::StatusOr<Manifest> ReadManifest(std::string_view slug) const;

  // The hash of the sources that the running program was built from. Fails: NotFound.
  absl::StatusOr<Closure> ReadClosure(std::string_view slug) const;

  // The bytes of a data file as the lab sees them. Fails: NotFound for an undeclared name (with the
  // nearest) and for a missing file (with where it was looked for).
  absl::StatusOr<std::vector<uint8_t>> ReadData(const Manifest& manifest,
                                                std::string_view name) const;

  // Asks git.
  Commit ReadCommit() const;

  // The path as a person would type it: relative to the root where it lies below.
  std::string Shorten(const std::string& path) const;

 private:
  std::string root_;
  std::string runfiles_;  // of this workspace: .../program.runfiles/assay; may be empty
};

// What a command prints, or nothing when it cannot be run or fails.
//   arguments: the first is looked for in PATH. No shell is involved; its stderr is dropped.
absl::StatusOr<std::string> Capture(const std::vector<std::string>& arguments,
                                    const std::string& folder);

// Runs a command with our own stdin and stderr, its stdout going to our stderr; gives its exit
// code.
absl::StatusOr<int> RunCommand(const std::vector<std::string>& arguments,
                               const std::string& folder);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_WORKSPACE_H_
