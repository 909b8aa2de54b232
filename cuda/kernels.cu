// All kernels as one unit, which is compiled to PTX (`build_ptx.py`) and, for tests, by a C++ compiler (`emulator/`).

#include "probe.cu"
#include "sweep.cu"
