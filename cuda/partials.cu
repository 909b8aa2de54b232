// Partials (CLVs) of a node from its two children: mirrors src/kernels/body/{partials,scalers}.rs.
//
//     out[p, r] = (P1_r * child1[p, r]) * (P2_r * child2[p, r])        the middle * is by element
//     count[p]  = count1[p] + count2[p], and one more for each scaling
//
// Patterns do not depend on each other, so a CTA goes through a whole traversal for its patterns: one launch per traversal. Each
// step ends with a barrier, after which all threads of the CTA read what it made.

#pragma once
#include "operand.cuh"

/// Rows that are scaled at the same time.
#define ROWS_AT_ONCE 4

/// Scales rows that need it. All threads must call it, and have come to a barrier since the rows were made.
template <int S, typename Real>
__device__ SHARED_CODE void rescale(const Partition &partition, PatternBlock block, Vector<S, Real> out) {
    const u32 count = Part<S>::COUNT, of_rate = Part<S>::OF_RATE;
    u32 *words = (u32 *)room();
    u32 num_rows = partition.rate_scalers ? partition.num_rates : 1;
    u32 parts_of_row = partition.rate_scalers ? of_rate : of_rate * partition.num_rates;
    u32 own = block.pattern;
    for (u32 first = 0; first < num_rows; first += ROWS_AT_ONCE) {
        u32 rows = num_rows - first < ROWS_AT_ONCE ? num_rows - first : ROWS_AT_ONCE;
        bool has_changed;
        do {
            has_changed = false;
            for (u32 row = block.share; row < rows; row += block.num_shares) {
                words[row * BLOCK + own] = Extent<Real>::NOTHING;
            }
            __syncthreads();
            for (u32 part = block.share; block.is_used() && part < rows * parts_of_row; part += block.num_shares) {
                const Real *numbers = out.clv + (u64)(first * parts_of_row + part) * count * block.len;
                Extent<Real> extent;
                extent.begin();
                for (u32 i = 0; i < count; i++) {
                    extent.note(numbers[(u64)i * block.len]);
                }
                extent.join(&words[part / parts_of_row * BLOCK + own]);
            }
            __syncthreads();
            for (u32 part = block.share; block.is_used() && part < rows * parts_of_row; part += block.num_shares) {
                int change = Extent<Real>::change(words[part / parts_of_row * BLOCK + own]);
                if (change == 0) {
                    continue;
                }
                Real *numbers = out.clv + (u64)(first * parts_of_row + part) * count * block.len;
                double scale = power_of_two(change);
                for (u32 i = 0; i < count; i++) {
                    numbers[(u64)i * block.len] = (Real)((double)numbers[(u64)i * block.len] * scale);
                }
                has_changed = true;
            }
            for (u32 row = block.share; block.is_used() && row < rows; row += block.num_shares) {
                int change = Extent<Real>::change(words[row * BLOCK + own]);
                if (change != 0) {
                    out.scaler[(u64)(first + row) * block.len] += Extent<Real>::counted(change);
                }
            }
        } while (__syncthreads_or(has_changed));
    }
}

/// One update. All threads must call it.
template <int S, typename Real>
__device__ __forceinline__ void update_partials_inline(const Partition &partition, PatternBlock block, const Scratch &scratch,
                                                const Step &step, const double *matrices) {
    const int count = Part<S>::COUNT, of_rate = Part<S>::OF_RATE;
    Vector<S, Real> out(partition, block, scratch, step.out_place, step.out_index);
    bool may_be_scaled = false;
    if (block.is_used()) {
        Operand<Real> a = operand<S, Real>(partition, block, scratch, step.ends[0], matrices, TOP_OF_UPDATE);
        Operand<Real> b = operand<S, Real>(partition, block, scratch, step.ends[1], matrices, TOP_OF_UPDATE);
        fetch_operand<S>(partition, block, a);
        fetch_operand<S>(partition, block, b);
        Extent<Real> extent;
        extent.begin();
        for (u32 part = block.share; part < partition.num_rates * of_rate; part += block.num_shares) {
            u32 rate = part / of_rate, first = part % of_rate * count;
            Real x[count], y[count];
            product<S, count, 1>(partition, block.len, a, rate, first, x);
            product<S, count, 1>(partition, block.len, b, rate, first, y);
            Real *to = out.clv + ((u64)rate * S + first) * block.len;
            if (partition.rate_scalers) {
                extent.begin();
            }
#pragma unroll
            for (int i = 0; i < count; i++) {
                Real value = x[i] * y[i];
                to[(u64)i * block.len] = value;
                extent.note(value);
            }
            may_be_scaled = partition.rate_scalers ? may_be_scaled || extent.may_be_scaled() : extent.may_be_scaled();
        }
        for (u32 i = block.share; i < (partition.rate_scalers ? partition.num_rates : 1); i += block.num_shares) {
            out.scaler[(u64)i * block.len] = count_of<S>(partition, a, i, block.len) + count_of<S>(partition, b, i, block.len);
        }
    }
    if (__syncthreads_or(may_be_scaled)) {
        rescale<S, Real>(partition, block, out);
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

/// Runs jobs that consist of updates only: an item is a slice.
template <int S>
__device__ __forceinline__ void traverse(const Partition *partitions, const Job *jobs, u32 num_jobs, u32 num_items,
                                         const Step *steps, const double *matrices) {
    Scratch none = {0, 0, 0};
    for (u32 slice = blockIdx.x; slice < num_items * SLICES; slice += gridDim.x) {
        u32 item = slice / SLICES;
        const Job &job = jobs[job_of_item(jobs, num_jobs, item)];
        const Partition &partition = partitions[job.partition];
        PatternBlock block = pattern_slice(partition, item - job.first_item, slice % SLICES);
        if (slice % SLICES * SLICE < block.len) {
            for (u32 i = 0; i < job.num_steps; i++) {
                update_partials<S, double>(partition, block, none, steps[job.first_step + i], matrices);
            }
        }
    }
}

/// Most threads of a CTA, and CTAs that are to be on a multiprocessor at the same time, for which registers are spared.
template <int S> struct PartialsBounds {
    static const int THREADS = S == 64 ? MOST_THREADS : S == 20 ? MOST_THREADS / 2 : BLOCK;
    static const int CTAS = S == 64 ? 1 : S == 20 ? 2 : 6;
};

#define PARTIALS_OF(S)                                                                                            \
    extern "C" __global__ void __launch_bounds__(PartialsBounds<S>::THREADS, PartialsBounds<S>::CTAS)                                                   \
        partials_##S(const Partition *partitions, const Job *jobs, u32 num_jobs, u32 num_items, const Step *steps,          \
                     const double *matrices) {                                                                    \
        traverse<S>(partitions, jobs, num_jobs, num_items, steps, matrices);                                           \
    }
