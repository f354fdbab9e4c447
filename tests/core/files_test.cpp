#include "dgat/core/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "dgat/core/error.h"
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

}  // namespace dgat
