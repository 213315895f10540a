// SPDX-License-Identifier: Apache-2.0
//
// Files: read whole, written whole or not at all.
#ifndef ASSAY_TOOLS_LAB_PROGRAM_FILES_H_
#define ASSAY_TOOLS_LAB_PROGRAM_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace assay::lab {

// A file's bytes. Fails: NotFound, or what the system says, naming the file.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// The regular files right in a folder, but for names that begin with a dot: name -> bytes.
// Fails: NotFound for a folder that is not there, and for nothing else; what the system says where
// the folder or a file in it cannot be read.
absl::StatusOr<std::map<std::string, std::string>> ReadFolder(const std::string& path);

// Names in a folder, sorted. Fails: NotFound where there is none, or what the system says.
absl::StatusOr<std::vector<std::string>> ReadNames(const std::string& path);

// The same; empty where there is no folder or it cannot be read.
std::vector<std::string> ListFolder(const std::string& path);

bool FileExists(const std::string& path);

// Writes a file under a temporary name beside it and renames it, so that a reader sees the old
// bytes or the new ones. The folder is made. An interrupt (SIGINT, SIGTERM) meanwhile removes the
// temporary file.
absl::Status WriteFile(const std::string& path, std::string_view bytes);

// As WriteFile, but fails with AlreadyExists where the file is there: for files that are only
// added.
absl::Status WriteNewFile(const std::string& path, std::string_view bytes);

// Puts a folder of exactly these files in place of `path`, in one step: it is made beside it and
// exchanged with it, and the old one removed. A run that is killed leaves the old folder or the new
// one, and at worst a hidden temporary folder, which the next call removes.
absl::Status ReplaceFolder(const std::string& path,
                           const std::map<std::string, std::string>& files);

// The same for a whole tree that exists already at `source`: it is copied, then exchanged.
absl::Status ReplaceTree(const std::string& path, const std::string& source);

// From here on SIGINT and SIGTERM remove what is half written, say so on stderr and end the program
// with code 130.
void CatchInterrupts();

// The content of a gzip file (one or more members).
//   max_bytes: what it may come to. Fails: DataLoss for bytes that are not gzip, are cut off or too
//   many.
absl::StatusOr<std::string> Gunzip(std::string_view bytes, int64_t max_bytes = int64_t{1} << 32);

}  // namespace assay::lab

#endif  // ASSAY_TOOLS_LAB_PROGRAM_FILES_H_
