// Teams of CTAs that work together in a cooperative launch, in which all CTAs are on the GPU at the same time.
//
// The CTAs of a team meet at barriers. What a CTA wrote before one, all of them read after it. Teams do not know of each
// other. Only whole numbers are counted by atomics.

#pragma once
#include "common.cuh"

// The emulator has words of its own (words.h).
#ifndef EMULATED_TEAMS
/// Tells the emulator which barrier a CTA has come to, so that it finds teams that wait at different ones.
__device__ __forceinline__ void note_barrier(u32 *, u32, int) {}
/// Waits until a counter, which only grows (and may wrap around), has this value.
__device__ __forceinline__ void wait_for_count(u32 *counter, u32 value) {
    while ((int)(*(volatile u32 *)counter - value) < 0) {
    }
}
/// Writes a number that several CTAs write alike.
__device__ __forceinline__ void write_alike(double *to, double value) { *(volatile double *)to = value; }
/// Reads such a number, after this CTA has written it or before any could.
__device__ __forceinline__ double read_alike(const double *from) { return *(const volatile double *)from; }
#endif

/// A team, as a CTA of it knows it. It is in shared memory, and the first thread changes it.
struct Team {
    u32 rank, size;
    u32 *counter;
    /// What the counter is when all have come to the last barrier.
    u32 expected;

    /// Waits for all threads of all CTAs of the team, who all must call it, at the same place of the program.
    __device__ __forceinline__ void wait(int place) {
        __syncthreads();
        if (size == 1) {
            return;
        }
        if (threadIdx.x == 0) {
            expected += size;
            note_barrier(counter, expected, place);
            __threadfence();
            atomicAdd(counter, 1u);
            wait_for_count(counter, expected);
            __threadfence();
        }
        __syncthreads();
    }
};
