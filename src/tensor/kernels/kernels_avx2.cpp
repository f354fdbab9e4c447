#define DGAT_LEVEL avx2
#include "kernels/table.h"
