#include "dgat/core/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/open_file.h"
#include "support/temp_dir.h"

namespace dgat {
namespace fs = std::filesystem;

TEST(AtomicFile, AppearsOnlyAfterCommit) {
  const test::TempDir dir;
  const fs::path path = dir / "a.txt";
  {
    AtomicFile file(path);
    file.stream() << "hello";
    EXPECT_FALSE(fs::exists(path));
    file.commit();
  }
  EXPECT_EQ(read_whole_file(path), "hello");
}

TEST(AtomicFile, LeavesNothingBehindWhenTheWriterThrows) {
  const test::TempDir dir;
  EXPECT_THROW(write_atomically(dir / "a.txt",
                                [](std::ostream& out) {
                                  out << "half";
                                  throw std::runtime_error("boom");
                                }),
               std::runtime_error);
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(AtomicFile, KeepsTheOldFileWhenTheWriterThrows) {
  const test::TempDir dir;
  write_atomically(dir / "a.txt", [](std::ostream& out) { out << "old"; });
  EXPECT_THROW(
      write_atomically(dir / "a.txt", [](std::ostream&) { throw std::runtime_error("boom"); }),
      std::runtime_error);
  EXPECT_EQ(read_whole_file(dir / "a.txt"), "old");
}

TEST(AtomicFile, NamesTheFileThatCannotBeWritten) {
  const test::TempDir dir;
  try {
    const AtomicFile file(dir / "missing" / "a.txt");
    FAIL() << "opened a file in a folder that does not exist";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("missing/a.txt"),
                                             testing::HasSubstr("No such file or directory")));
  }
  EXPECT_THROW(AtomicFile file(dir.path()), InputError);
}

TEST(AtomicFile, AFailedWriteIsReportedAndKeepsTheOldFile) {
  const test::TempDir dir;
  write_atomically(dir / "a.txt", [](std::ostream& out) { out << "old"; });
  EXPECT_THROW(
      write_atomically(dir / "a.txt", [](std::ostream& out) { out.setstate(std::ios::badbit); }),
      ComputeError);
  EXPECT_EQ(read_whole_file(dir / "a.txt"), "old");
}

TEST(ReadWholeFile, SaysWhatIsWrong) {
  const test::TempDir dir;
  EXPECT_THROW(read_whole_file(dir / "none"), InputError);
  EXPECT_THROW(read_whole_file(dir.path()), InputError);
}

TEST(AtomicFile, ReplacesWhatALinkPointsToAndNoDevice) {
  const test::TempDir temp;
  std::ofstream(temp / "target") << "old";
  std::filesystem::create_symlink("target", temp / "link");
  write_atomically(temp / "link", [](std::ostream& out) { out << "new"; });
  EXPECT_TRUE(std::filesystem::is_symlink(temp / "link"));
  EXPECT_EQ(read_whole_file(temp / "target"), "new");
  ASSERT_EQ(mkfifo((temp / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_atomically(temp / "pipe", [](std::ostream&) {}), InputError);
  EXPECT_TRUE(std::filesystem::is_fifo(temp / "pipe"));
}

/// The temporary file of the AtomicFile that is being written in a folder.
fs::path temporary_in(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tmp") return entry.path();
  }
  return {};
}

TEST(AtomicFile, RemovesTheTemporaryFilesOfKilledProcessesOnly) {
  const test::TempDir dir;
  const fs::path abandoned = dir / "a.txt.0123456789abcdef.tmp", foreign = dir / "notes.tmp",
                 in_use = dir / "b.txt.fedcba9876543210.tmp";
  for (const fs::path& path : {abandoned, foreign, in_use}) std::ofstream(path) << "half";
  const int writer = open(in_use.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(writer, LOCK_EX | LOCK_NB), 0);
  write_atomically(dir / "c.txt", [](std::ostream& out) { out << "whole"; });
  close(writer);
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(in_use));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST(AtomicFile, LocksItsTemporaryFileAndNeverUsesANameTwice) {
  const test::TempDir dir;
  fs::path first;
  {
    const AtomicFile file(dir / "a.txt");
    first = temporary_in(dir.path());
    const int other = open(first.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(other, 0);
    EXPECT_NE(flock(other, LOCK_EX | LOCK_NB), 0);
    close(other);
  }
  EXPECT_TRUE(fs::is_empty(dir.path()));
  const AtomicFile again(dir / "a.txt");
  EXPECT_NE(temporary_in(dir.path()), first);
}

TEST(ReadWholeFile, APipeDoesNotBlock) {
  const test::TempDir temp;
  const auto pipe = temp / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  request_interrupt();
  EXPECT_THROW(read_whole_file(pipe), Interrupted);  // no process writes
  request_interrupt(false);
  EXPECT_THROW(open_file(pipe), InputError);
  EXPECT_THROW(open_file("/dev/zero"), InputError);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);  // lets the writer open
  const int writer = open(pipe.c_str(), O_WRONLY);
  request_interrupt();
  EXPECT_THROW(read_whole_file(pipe), Interrupted);  // a writer that says nothing
  request_interrupt(false);
  close(reader);
  close(writer);
}

}  // namespace dgat
