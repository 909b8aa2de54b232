// The kernels of the engine, which are compiled to PTX in units (`build_ptx.py`): a run loads those that it needs, because drivers take
// seconds to translate a unit. UNIT is a number of states, or 0 for sweeps over partitions with different ones; IN_SINGLE is defined for
// scores in single precision. Without a unit, all of them are made, for tests by a C++ compiler (`emulator/`).

#include "sweep.cu"

#define KERNELS_OF(S)                                                                                             \
    PMATRIX_OF(S)                                                                                                 \
    PARTIALS_OF(S)                                                                                                \
    LIKELIHOOD_OF(likelihood, S, double)                                                                          \
    DERIVATIVES_OF(S)                                                                                             \
    SWEEP_OF(S, S)

#define SINGLE_OF(S) LIKELIHOOD_OF(likelihood_single, S, float)

#ifndef UNIT
KERNELS_OF(4)
KERNELS_OF(20)
KERNELS_OF(64)
SINGLE_OF(4)
SINGLE_OF(20)
SINGLE_OF(64)
SWEEP_OF(any, 0)
#elif UNIT == 0
SWEEP_OF(any, 0)
#elif defined(IN_SINGLE)
SINGLE_OF(UNIT)
#else
KERNELS_OF(UNIT)
#endif
