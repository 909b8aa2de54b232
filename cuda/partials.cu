// Partials (CLVs) of a node from its two children: mirrors src/kernels/body/{partials,scalers}.rs.
//
//     out[p, r] = (P1_r * child1[p, r]) * (P2_r * child2[p, r])        the middle * is by element
//     count[p]  = count1[p] + count2[p], and one more for each scaling
//
// Patterns do not depend on each other, so a thread goes through a whole traversal on its own: one launch per traversal,
// and no barrier in it.

#pragma once
#include "operand.cuh"

/// One update of this thread's pattern.
template <int S, typename Real>
__device__ __forceinline__ void update_partials_inline(const Partition &partition, PatternBlock block, const Scratch &scratch,
                                                const Step &step, const double *matrices) {
    const u32 rows = Rows<S>::COUNT;
    typedef typename Precision<Real>::Count Count;
    Operand<Real> a = operand<S, Real>(partition, block, scratch, step.ends[0], matrices, TOP_OF_UPDATE);
    Operand<Real> b = operand<S, Real>(partition, block, scratch, step.ends[1], matrices, TOP_OF_UPDATE);
    Vector<S, Real> out(partition, block, scratch, step.out_place, step.out_index);
    Extent<Real> extent;
    extent.begin();
    for (u32 rate = 0; rate < partition.num_rates; rate++) {
        for (u32 first = 0; first < S; first += rows) {
            Real x[rows], y[rows];
            product<S>(partition, block.len, a, rate, first, x);
            product<S>(partition, block.len, b, rate, first, y);
            Real *to = out.clv + ((u64)rate * S + first) * block.len;
#pragma unroll
            for (int i = 0; i < (int)rows; i++) {
                Real value = x[i] * y[i];
                to[(u64)i * block.len] = value;
                extent.note(value);
            }
        }
        if (partition.rate_scalers) {
            Count count = count_of<S>(partition, a, rate, block.len) + count_of<S>(partition, b, rate, block.len);
            count += extent.rescale(out.clv + (u64)rate * S * block.len, S, block.len);
            out.scaler[(u64)rate * block.len] = count;
            extent.begin();
        }
    }
    if (!partition.rate_scalers) {
        Count count = count_of<S>(partition, a, 0, block.len) + count_of<S>(partition, b, 0, block.len);
        out.scaler[0] = count + extent.rescale(out.clv, partition.num_rates * S, block.len);
    }
}

/// The same as a function: for many states, its code is long and a call is nothing beside its work.
template <int S, typename Real>
__device__ SHARED_CODE void update_partials_called(const Partition &partition, PatternBlock block, Scratch scratch,
                                                   const Step &step, const double *matrices) {
    update_partials_inline<S, Real>(partition, block, scratch, step, matrices);
}

template <int S, typename Real>
__device__ __forceinline__ void update_partials(const Partition &partition, const PatternBlock &block, const Scratch &scratch,
                                                const Step &step, const double *matrices) {
    if (S == 4) {
        update_partials_inline<S, Real>(partition, block, scratch, step, matrices);
    } else {
        update_partials_called<S, Real>(partition, block, scratch, step, matrices);
    }
}

/// Runs jobs that consist of updates only.
template <int S>
__device__ __forceinline__ void traverse(const Partition *partitions, const Job *jobs, u32 num_jobs, u32 num_items,
                                         const Step *steps, const double *matrices) {
    Scratch none = {0, 0, 0};
    for (u32 item = blockIdx.x; item < num_items; item += gridDim.x) {
        const Job &job = jobs[job_of_item(jobs, num_jobs, item)];
        const Partition &partition = partitions[job.partition];
        PatternBlock block = pattern_block(partition, item - job.first_item);
        if (threadIdx.x < block.len) {
            for (u32 i = 0; i < job.num_steps; i++) {
                update_partials<S, double>(partition, block, none, steps[job.first_step + i], matrices);
            }
        }
    }
}

// For four states, so few registers that six CTAs are on a multiprocessor.
#define PARTIALS_OF(S, ctas)                                                                                      \
    extern "C" __global__ void __launch_bounds__(BLOCK, ctas)                                                     \
        partials_##S(const Partition *partitions, const Job *jobs, u32 num_jobs, u32 num_items, const Step *steps,          \
                     const double *matrices) {                                                                    \
        traverse<S>(partitions, jobs, num_jobs, num_items, steps, matrices);                                           \
    }
PARTIALS_OF(4, 6)
PARTIALS_OF(20, 1)
PARTIALS_OF(64, 1)
