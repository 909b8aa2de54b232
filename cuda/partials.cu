// Partials (CLVs) of a node from its two children: mirrors src/likelihood/cpu/body/{partials,scalers}.rs.
//
//     out[p, r] = (P1_r * child1[p, r]) * (P2_r * child2[p, r])        the middle * is by element
//     count[p]  = count1[p] + count2[p], and one more for each scaling
//
// Patterns do not depend on each other, so a thread goes through a whole traversal on its own: one launch per traversal,
// and no barrier in it.

#pragma once
#include "operand.cuh"

/// Multiplies numbers that share a count by 2^256 while all are below 2^-256 and not all are 0.
__device__ __forceinline__ u32 rescale(double *numbers, u32 count, u32 len, bool is_small, bool is_zero) {
    u32 times = 0;
    while (is_small && !is_zero) {
        is_small = true;
        is_zero = true;
        for (u32 i = 0; i < count; i++) {
            double x = numbers[(u64)i * len] * FACTOR;
            numbers[(u64)i * len] = x;
            is_small = is_small && x < THRESHOLD;
            is_zero = is_zero && x == 0.0;
        }
        times++;
    }
    return times;
}

/// One update of this thread's pattern.
template <int S>
__device__ __forceinline__ void update_partials_inline(const Gene &gene, PatternBlock block, const Scratch &scratch,
                                                const Step &step, const double *matrices) {
    const u32 rows = Rows<S>::COUNT;
    Operand a = operand<S>(gene, block, scratch, step.ends[0], matrices);
    Operand b = operand<S>(gene, block, scratch, step.ends[1], matrices);
    Vector<S> out(gene, block, scratch, step.out_place, step.out_index);
    bool is_small = true, is_zero = true;
    for (u32 rate = 0; rate < gene.num_rates; rate++) {
        for (u32 first = 0; first < S; first += rows) {
            double x[rows], y[rows];
            product<S>(gene, block.len, a, rate, first, x);
            product<S>(gene, block.len, b, rate, first, y);
            double *to = out.clv + ((u64)rate * S + first) * block.len;
#pragma unroll
            for (int i = 0; i < (int)rows; i++) {
                double value = x[i] * y[i];
                to[(u64)i * block.len] = value;
                is_small = is_small && value < THRESHOLD;
                is_zero = is_zero && value == 0.0;
            }
        }
        if (gene.rate_scalers) {
            u32 count = count_of(a, rate, block.len) + count_of(b, rate, block.len);
            count += rescale(out.clv + (u64)rate * S * block.len, S, block.len, is_small, is_zero);
            out.scaler[(u64)rate * block.len] = count;
            is_small = true;
            is_zero = true;
        }
    }
    if (!gene.rate_scalers) {
        u32 count = count_of(a, 0, block.len) + count_of(b, 0, block.len);
        out.scaler[0] = count + rescale(out.clv, gene.num_rates * S, block.len, is_small, is_zero);
    }
}

/// The same as a function: for many states, its code is long and a call is nothing beside its work.
template <int S>
__device__ SHARED_CODE void update_partials_called(const Gene &gene, const PatternBlock &block, const Scratch &scratch,
                                                   const Step &step, const double *matrices) {
    update_partials_inline<S>(gene, block, scratch, step, matrices);
}

template <int S>
__device__ __forceinline__ void update_partials(const Gene &gene, const PatternBlock &block, const Scratch &scratch,
                                                const Step &step, const double *matrices) {
    if (S == 4) {
        update_partials_inline<S>(gene, block, scratch, step, matrices);
    } else {
        update_partials_called<S>(gene, block, scratch, step, matrices);
    }
}

/// Runs jobs that consist of updates only.
template <int S>
__device__ __forceinline__ void traverse(const Gene *genes, const Job *jobs, u32 num_jobs, u32 num_items,
                                         const Step *steps, const double *matrices) {
    Scratch none = {0, 0};
    for (u32 item = blockIdx.x; item < num_items; item += gridDim.x) {
        const Job &job = jobs[job_of_item(jobs, num_jobs, item)];
        const Gene &gene = genes[job.gene];
        PatternBlock block = pattern_block(gene, item - job.first_item);
        if (threadIdx.x < block.len) {
            for (u32 i = 0; i < job.num_steps; i++) {
                update_partials<S>(gene, block, none, steps[job.first_step + i], matrices);
            }
        }
    }
}

#define PARTIALS_OF(S)                                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1)                                                           \
        partials_##S(const Gene *genes, const Job *jobs, u32 num_jobs, u32 num_items, const Step *steps,          \
                     const double *matrices) {                                                                    \
        traverse<S>(genes, jobs, num_jobs, num_items, steps, matrices);                                           \
    }
PARTIALS_OF(4)
PARTIALS_OF(20)
PARTIALS_OF(64)
