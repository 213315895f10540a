// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/program/files.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace assay::lab {
namespace {

std::string Folder(const std::string& name) {
  const char* base = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(base == nullptr ? "/var/tmp" : base) + "/" + name;
  mkdir(path.c_str(), 0777);
  return path;
}

std::string Gzip(const std::string& text) {
  std::string bytes(text.size() + 1000, 0);
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

TEST(FilesTest, WritesWholeFilesAndLeavesNothingElse) {
  const std::string folder = Folder("write");
  const std::string path = folder + "/deep/er/file";
  ASSERT_TRUE(WriteFile(path, "one").ok());
  ASSERT_TRUE(WriteFile(path, "two").ok());
  EXPECT_EQ(*ReadFile(path), "two");
  EXPECT_EQ(ListFolder(folder + "/deep/er"), std::vector<std::string>{"file"});
  EXPECT_EQ(WriteNewFile(path, "three").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(*ReadFile(path), "two");
  EXPECT_TRUE(WriteNewFile(path + "2", "three").ok());
  EXPECT_EQ(*ReadFile(path + "2"), "three");
  EXPECT_EQ(ListFolder(folder + "/deep/er"), (std::vector<std::string>{"file", "file2"}));
}

TEST(FilesTest, SaysWhatCannotBeRead) {
  EXPECT_EQ(ReadFile(Folder("none") + "/nothing").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadFolder(Folder("none") + "/nothing").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(ListFolder("/nowhere/at/all").empty());
}

TEST(FilesTest, ReplacesAFolderAsOne) {
  const std::string folder = Folder("replace") + "/set";
  const std::map<std::string, std::string> first = {{"a", "1"}, {"b", "1"}},
                                           second = {{"b", "2"}, {"c", "2"}};
  ASSERT_TRUE(ReplaceFolder(folder, first).ok());
  EXPECT_EQ(*ReadFolder(folder), first);
  ASSERT_TRUE(ReplaceFolder(folder, second).ok());
  EXPECT_EQ(*ReadFolder(folder), second);
  EXPECT_EQ(ListFolder(Folder("replace")), std::vector<std::string>{"set"});
}

TEST(FilesTest, CopiesATreeAsPlainFiles) {
  const std::string top = Folder("tree");
  ASSERT_TRUE(WriteFile(top + "/built/a/b.txt", "b").ok());
  chmod((top + "/built/a/b.txt").c_str(), 0444);
  chmod((top + "/built/a").c_str(), 0555);
  ASSERT_TRUE(WriteFile(top + "/dist/old.txt", "old").ok());
  ASSERT_TRUE(ReplaceTree(top + "/dist", top + "/built").ok());
  EXPECT_EQ(*ReadFile(top + "/dist/a/b.txt"), "b");
  EXPECT_FALSE(FileExists(top + "/dist/old.txt"));
  struct stat info;
  stat((top + "/dist/a").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777u, 0755u);
  stat((top + "/dist/a/b.txt").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777u, 0644u);
  EXPECT_EQ(ListFolder(top), (std::vector<std::string>{"built", "dist"}));
  EXPECT_FALSE(ReplaceTree(top + "/dist", top + "/nothing").ok());
  EXPECT_EQ(*ReadFile(top + "/dist/a/b.txt"), "b");
  chmod((top + "/built/a").c_str(), 0755);
}

TEST(FilesTest, TakesAFolderWithASlashAtItsEnd) {
  const std::string top = Folder("slash");
  ASSERT_TRUE(WriteFile(top + "/built/a.txt", "a").ok());
  for (const char* name : {"/dist/", "/dist//", "/dist"}) {
    const absl::Status status = ReplaceTree(top + name, top + "/built");
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(*ReadFile(top + "/dist/a.txt"), "a");
  }
  ASSERT_TRUE(ReplaceFolder(top + "/set/", {{"a", "1"}}).ok());
  ASSERT_TRUE(ReplaceFolder(top + "/set/", {{"b", "2"}}).ok());
  EXPECT_EQ(ListFolder(top + "/set"), std::vector<std::string>{"b"});
  EXPECT_EQ(ListFolder(top), (std::vector<std::string>{"built", "dist", "set"}));
}

// Process numbers come again, in containers soon: the left-over may bear our own.
TEST(FilesTest, RemovesALeftOverOfItsOwnNumber) {
  const std::string top = Folder("own_number");
  const std::string temporary = top + "/.set.tmp-" + std::to_string(getpid());
  ASSERT_EQ(mkdir(temporary.c_str(), 0777), 0);
  ASSERT_TRUE(WriteFile(temporary + "/half", "half").ok());
  const absl::Status status = ReplaceFolder(top + "/set", {{"a", "1"}});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(ListFolder(top), std::vector<std::string>{"set"});
  EXPECT_EQ(ListFolder(top + "/set"), std::vector<std::string>{"a"});
}

TEST(FilesTest, AFolderThatCannotBeReadIsNotAnEmptyOne) {
  const std::string top = Folder("unreadable");
  ASSERT_TRUE(WriteFile(top + "/file", "x").ok());
  EXPECT_FALSE(ReadFolder(top + "/file").ok());
  EXPECT_NE(ReadFolder(top + "/file").status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteFile(top + "/set/a", "1").ok());
  // A link to itself and one to nothing: neither can be read, whoever asks.
  for (const char* target : {"loop", "nothing"}) {
    ASSERT_EQ(symlink(target, (top + "/set/loop").c_str()), 0);
    EXPECT_FALSE(ReadFolder(top + "/set").ok());
    EXPECT_NE(ReadFolder(top + "/set").status().code(), absl::StatusCode::kNotFound);
    ASSERT_EQ(unlink((top + "/set/loop").c_str()), 0);
  }
  EXPECT_TRUE(ReadFolder(top + "/set").ok());
}

// Starts a child that repeats `work` until `signal` ends it, some time after it could be caught.
// Gives the child's state.
int EndWhile(int signal, int delay_us, const std::function<bool()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    CatchInterrupts();
    if (write(ends[1], "!", 1) != 1) _exit(8);
    while (work()) {
    }
    _exit(9);
  }
  char ready = 0;
  EXPECT_EQ(read(ends[0], &ready, 1), 1);
  usleep(static_cast<useconds_t>(delay_us));
  kill(child, signal);
  int state = 0;
  waitpid(child, &state, 0);
  close(ends[0]);
  close(ends[1]);
  return state;
}

// A child writes sets without end and is ended at some moment; what is there is always one whole
// set.
void EndWhileWriting(int signal, bool expect_clean) {
  const std::string top = Folder(signal == SIGKILL ? "killed" : "interrupted");
  const std::string folder = top + "/set";
  const std::string large(200000, 'x');
  std::vector<std::map<std::string, std::string>> sets;
  for (const char* mark : {"1", "2"}) {
    std::map<std::string, std::string> set;
    for (const char* name : {"a", "b", "c", "d"}) set[name] = mark + large;
    sets.push_back(set);
  }
  ASSERT_TRUE(ReplaceFolder(folder, sets[0]).ok());
  for (int round = 0; round < 15; ++round) {
    int i = 0;
    const int state = EndWhile(signal, 3000 + 1700 * round, [&] {
      return ReplaceFolder(folder, sets[static_cast<size_t>(i++ % 2)]).ok();
    });
    if (expect_clean) {
      EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 130) << state;
    } else {
      EXPECT_TRUE(WIFSIGNALED(state));
    }
    const auto files = ReadFolder(folder);
    ASSERT_TRUE(files.ok()) << files.status();
    ASSERT_TRUE(*files == sets[0] || *files == sets[1]);
    ASSERT_LE(ListFolder(top).size(), expect_clean ? 1u : 2u);
  }
  // What a killed run left goes with the next.
  ASSERT_TRUE(ReplaceFolder(folder, sets[1]).ok());
  EXPECT_EQ(ListFolder(top), std::vector<std::string>{"set"});
}

TEST(FilesTest, AKilledRunLeavesAWholeSet) { EndWhileWriting(SIGKILL, false); }
TEST(FilesTest, AnInterruptedRunLeavesAWholeSet) { EndWhileWriting(SIGINT, true); }

TEST(FilesTest, AnInterruptedCopyOfATreeLeavesTheOldOrTheNew) {
  const std::string top = Folder("tree_interrupted");
  const std::string large(100000, 'x');
  for (const char* name : {"a/1", "a/b/2", "c/3", "4"}) {
    ASSERT_TRUE(WriteFile(top + "/built/" + name, large).ok());
  }
  for (int round = 0; round < 10; ++round) {
    const int state = EndWhile(SIGINT, 5000 + 1300 * round,
                               [&] { return ReplaceTree(top + "/dist", top + "/built").ok(); });
    EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 130) << state;
    EXPECT_LE(ListFolder(top).size(), 2u);
    if (FileExists(top + "/dist")) {
      EXPECT_EQ(*ReadFile(top + "/dist/a/b/2"), large);
    }
  }
  ASSERT_TRUE(ReplaceTree(top + "/dist", top + "/built").ok());
  EXPECT_EQ(ListFolder(top), (std::vector<std::string>{"built", "dist"}));
}

TEST(GunzipTest, ReadsMembersAndNothingElse) {
  std::string text;
  for (uint32_t i = 0; i < 300000; ++i) text += static_cast<char>(i * i / 7);
  const std::string bytes = Gzip(text);
  EXPECT_EQ(*Gunzip(bytes), text);
  EXPECT_EQ(*Gunzip(bytes + Gzip("more")), text + "more");
  EXPECT_EQ(*Gunzip(Gzip("")), "");
  EXPECT_FALSE(Gunzip(bytes, 299999).ok());
  EXPECT_TRUE(Gunzip(bytes, 300000).ok());
  EXPECT_FALSE(Gunzip("").ok());
  EXPECT_FALSE(Gunzip("no gzip at all").ok());
  EXPECT_FALSE(Gunzip(bytes + "rubbish").ok());
  for (size_t cut : {size_t{1}, size_t{9}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_FALSE(Gunzip(bytes.substr(0, cut)).ok()) << cut;
  std::string damaged = bytes;
  damaged[damaged.size() - 6] ^= 1;  // the checksum
  EXPECT_FALSE(Gunzip(damaged).ok());
}

}  // namespace
}  // namespace assay::lab
