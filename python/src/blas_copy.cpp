// The module has an OpenBLAS of its own.
//
// dgat chooses the kernels of OpenBLAS and uses one thread (tensor/blas.h). NumPy often has the
// same library in the same process, and its threads and kernels must stay as they are. So dgat gets
// a second copy of the library, which the loader makes of a file in memory. A file inside the
// package (_libs/libopenblas.so.0, for the wheel that carries it) comes first.
#include "blas_copy.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/tensor/blas.h"

namespace dgat::python {
namespace {
namespace fs = std::filesystem;

/// What open_blas() has opened.
struct Opened {
  void* handle = nullptr;
  bool own = false;
  std::string file;
};
Opened opened;

/// The folder of this module.
fs::path module_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&module_folder), &info) == 0) return {};
  return fs::path(info.dli_fname).parent_path();
}

/// The library's file where the linker found it, or where the loader of this machine does.
fs::path system_file() {
  std::error_code ignored;
  if (fs::exists(DGAT_OPENBLAS_FILE, ignored)) return DGAT_OPENBLAS_FILE;
  void* const library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {};
  void* const symbol = dlsym(library, "cblas_sgemm");
  Dl_info info{};
  const bool known = symbol != nullptr && dladdr(symbol, &info) != 0;
  const fs::path file = known ? info.dli_fname : "";
  dlclose(library);
  return file;
}

/// The loader takes a file for another library when it has another inode.
void* open_copy(const fs::path& file) {
  const int source = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return nullptr;
  const int copy = memfd_create("dgat-openblas", MFD_CLOEXEC);
  struct stat status {};
  void* library = nullptr;
  if (copy >= 0 && fstat(source, &status) == 0) {
    off_t done = 0;
    while (done < status.st_size &&
           sendfile(copy, source, &done, static_cast<size_t>(status.st_size - done)) > 0) {
    }
    const std::string path = "/proc/self/fd/" + std::to_string(copy);
    if (done == status.st_size) {
      library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    }
  }
  close(source);
  if (copy >= 0) close(copy);  // the mapping stays
  return library;
}

tensor::BlasLibrary open_blas() {
  std::error_code ignored;
  const fs::path inside = module_folder() / "_libs" / "libopenblas.so.0";
  const fs::path file = fs::exists(inside, ignored) ? inside : system_file();
  opened.file = file;
  opened.handle = file == inside ? dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)
                                 : open_copy(file);
  opened.own = opened.handle != nullptr;
  if (!opened.own) {
    opened.handle = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (opened.handle == nullptr) {
      throw_compute("blas: libopenblas.so.0 cannot be loaded: {}; install libopenblas0", dlerror());
    }
    notice(
        "blas: no copy of OpenBLAS can be made in memory, so that of the process is used as it is; "
        "weights may differ in the last bits from those of the command line");
  }
  return {opened.handle, !opened.own};
}

}  // namespace

void use_own_blas() {
  tensor::open_blas_with(open_blas);
}

BlasInfo blas_info() {
  tensor::prepare_blas();
  void* const threads = dlsym(opened.handle, "openblas_get_num_threads");
  return {opened.file, tensor::blas_kernels(),
          threads == nullptr ? 0 : reinterpret_cast<int (*)()>(threads)(), opened.own};
}

}  // namespace dgat::python
