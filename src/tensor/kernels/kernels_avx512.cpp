#define DGAT_LEVEL avx512
#include "kernels/table.h"
