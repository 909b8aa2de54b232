// CUDA's words for a C++ compiler: the kernels of this folder as ordinary functions, for tests without a GPU.
//
// The threads of a CTA run one after the other, each until it ends or reaches a barrier (fibers.cpp). What this shows:
// wrong arithmetic, wrong indices, missing initialisation (memory is filled with NaN), barriers that not all threads reach,
// and, by running the threads in the opposite order, most missing barriers. What it cannot show: the memory model, speed.

#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads, ctas)

// Of this library alone, which is faster than what others may replace.
#pragma GCC visibility push(hidden)

/// Memory of the present CTA for the shared variable of this number: NaN at first, and always the same.
void *emulated_shared(int number, size_t bytes);
#define SHARED(type, name, dims) type(&name) dims = *static_cast<type(*) dims>(emulated_shared(__COUNTER__, sizeof(type dims)))
struct Index {
    unsigned x, y, z;
};
#ifdef THREADS_OF_THE_SYSTEM
extern thread_local Index threadIdx, blockIdx;
#else
extern Index threadIdx, blockIdx;
#endif
extern Index blockDim, gridDim;

/// A barrier of all threads of a CTA; true if `value` was true in any. `place` tells barriers apart.
bool emulated_barrier(int place, bool value);

#define __syncthreads() emulated_barrier(__COUNTER__, false)
#define __syncthreads_or(value) emulated_barrier(__COUNTER__, value)

/// The barrier of a team of CTAs: which one a CTA has come to, and waiting until all have (team.cuh). They end the process if
/// CTAs wait at different barriers, or for one that will not come.
void note_barrier(unsigned *counter, unsigned expected, int place);
void wait_for_count(unsigned *counter, unsigned value);
#pragma GCC visibility pop
#define EMULATED_TEAMS
inline void __threadfence() {}
inline void atomicAdd(unsigned *counter, unsigned more) { __atomic_fetch_add(counter, more, __ATOMIC_ACQ_REL); }
inline void atomicAnd(unsigned *word, unsigned other) { __atomic_fetch_and(word, other, __ATOMIC_ACQ_REL); }
inline void atomicMax(unsigned *word, unsigned other) {
    unsigned present = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    while (present < other && !__atomic_compare_exchange_n(word, &present, other, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    }
}

#define EMULATED
inline void prefetch_line(const void *) {}
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }

/// A GPU stops at a number that is not where numbers of its size may be.
inline void check_alignment(const void *at, size_t bytes) {
    if (reinterpret_cast<unsigned long long>(at) % bytes != 0) {
        std::fprintf(stderr, "emulator: misaligned address\n");
        std::abort();
    }
}

struct double2 {
    double x, y;
};
struct float2 {
    float x, y;
};

using std::fabs;
using std::fma;
using std::fmax;
using std::fmin;
using std::rint;

inline long long __double_as_longlong(double x) {
    long long bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline int __float_as_int(float x) {
    int bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float __int_as_float(int bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline double __longlong_as_double(long long bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline void write_alike(double *to, double value) {
    __atomic_store_n(reinterpret_cast<long long *>(to), __double_as_longlong(value), __ATOMIC_RELAXED);
}

inline double read_alike(const double *from) {
    return __longlong_as_double(__atomic_load_n(reinterpret_cast<const long long *>(from), __ATOMIC_RELAXED));
}
