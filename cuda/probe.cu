// What a GPU can do at best, for `mlsearch gpu-selftest`: copying, fused multiply-adds, launches, barriers.

#pragma once
#include "team.cuh"

/// Chains of fused multiply-adds of a thread: enough to fill the pipelines.
#define CHAINS 8

extern "C" __global__ void probe_nothing() {}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) probe_copy(const double *from, double *to, u64 count) {
    for (u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x; i < count; i += (u64)gridDim.x * BLOCK) {
        to[i] = from[i];
    }
}

/// Each thread makes CHAINS * rounds fused multiply-adds.
template <typename Real> __device__ __forceinline__ void multiply_adds(double *out, u32 rounds) {
    Real x[CHAINS], factor = (Real)(1.0 - 1e-6 * threadIdx.x);
#pragma unroll
    for (int i = 0; i < CHAINS; i++) {
        x[i] = i;
    }
    for (u32 round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < CHAINS; i++) {
            x[i] = fma(x[i], factor, (Real)1e-3);
        }
    }
    Real sum = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) {
        sum += x[i];
    }
    out[(u64)blockIdx.x * BLOCK + threadIdx.x] = sum;
}

#define PROBE_FMA(name, Real)                                                                                     \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1) name(double *out, u32 rounds) {                        \
        multiply_adds<Real>(out, rounds);                                                                         \
    }
PROBE_FMA(probe_fma, double)
PROBE_FMA(probe_fma_single, float)

/// All CTAs of a cooperative launch meet so many times. The counter is 0 at first.
extern "C" __global__ void __launch_bounds__(BLOCK, 1) probe_barriers(u32 *counter, u32 rounds) {
    SHARED(Team, team, );
    if (threadIdx.x == 0) {
        team = {blockIdx.x, gridDim.x, counter, 0};
    }
    __syncthreads();
    for (u32 round = 0; round < rounds; round++) {
        team.wait(__LINE__);
    }
}
