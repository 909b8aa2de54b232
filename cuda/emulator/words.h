// CUDA's words for a C++ compiler: the kernels of this folder as ordinary functions, for tests without a card.
//
// The threads of a CTA run one after the other, each until it ends or reaches a barrier (fibers.cpp). What this shows:
// wrong arithmetic, wrong indices, missing initialisation (memory is filled with NaN), barriers that not all threads reach,
// and, by running the threads in the opposite order, most missing barriers. What it cannot show: the memory model, speed.

#pragma once
#include <cmath>
#include <cstring>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads, ctas)
// CTAs run one after the other, so one copy is enough.
#define __shared__ static

struct Index {
    unsigned x, y, z;
};
#ifdef THREADS_OF_THE_SYSTEM
extern thread_local Index threadIdx;
#else
extern Index threadIdx;
#endif
extern Index blockIdx, blockDim, gridDim;

/// A barrier of all threads of a CTA; true if `value` was true in any. `place` tells barriers apart.
bool emulated_barrier(int place, bool value);

#define __syncthreads() emulated_barrier(__COUNTER__, false)
#define __syncthreads_or(value) emulated_barrier(__COUNTER__, value)

using std::fabs;
using std::fma;

inline long long __double_as_longlong(double x) {
    long long bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}
