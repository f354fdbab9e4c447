#define DGAT_LEVEL baseline
#include "kernels/table.h"
