// Likelihood of each pattern at an edge or with an inserted subtree, and the sum of logarithms: mirrors
// src/kernels/body/likelihood.rs.
//
//     L[p] = sum over r, i of z_ri * a_ri * b_ri           z: weighted frequencies, or a pendant vector
//     result of a block: [sum over p of weight[p] * (ln L[p] - count[p] * ln 2^256), 0]
//     of constant patterns under a correction that is a function of their sum: [sum of L, its scaler count]
//
// A job is a whole insertion program (or one edge): a CTA runs it for one block after the other. Its temporaries are
// overwritten for the next block, so that no vector of a program is stored full length. If CTAs can wait for each other, they
// first make the P-matrices.

#pragma once
#include "partials.cu"
#include "pmatrix.cu"
#include "team.cuh"

/// Pendant vector: weighted frequencies * (P-matrix * CLV of a pruned subtree). All threads must call it.
template <int S, typename Real>
__device__ __forceinline__ void update_pendant(const Partition &partition, PatternBlock block, const Scratch &scratch,
                                               const Step &step, const double *matrices) {
    const int count = Part<S>::COUNT, of_rate = Part<S>::OF_RATE;
    if (block.is_used()) {
        Operand<Real> a = operand<S, Real>(partition, block, scratch, step.ends[0], matrices, TOP);
        fetch_operand<S>(partition, block, a);
        Vector<S, Real> out(partition, block, scratch, step.out_place, step.out_index);
        for (u32 part = block.share; part < partition.num_rates * of_rate; part += block.num_shares) {
            u32 rate = part / of_rate, first = part % of_rate * count;
            Real x[count];
            product<S, count, 1>(partition, block.len, a, rate, first, x);
#pragma unroll
            for (int i = 0; i < count; i++) {
                u64 at = (u64)rate * S + first + i;
                out.clv[at * block.len] = (Real)partition.weighted_freqs[at] * x[i];
            }
        }
        for (u32 i = block.share; i < (partition.rate_scalers ? partition.num_rates : 1); i += block.num_shares) {
            out.scaler[(u64)i * block.len] = count_of<S>(partition, a, i, block.len);
        }
    }
    __syncthreads();
}

/// The ends of an edge that is evaluated, and a pendant vector if there is one.
template <int S, typename Real> struct Evaluated {
    typedef typename Precision<Real>::Count Count;
    Operand<Real> a, b, pendant;
    bool is_inserted;

    __device__ __forceinline__ Count count(const Partition &partition, u32 rate, u32 len) const {
        Count count = count_of<S>(partition, a, rate, len) + count_of<S>(partition, b, rate, len);
        return count + (is_inserted ? count_of<S>(partition, pendant, rate, len) : 0);
    }

    /// The smallest count of a rate, which is that of the pattern.
    __device__ __forceinline__ Count least(const Partition &partition, u32 len) const {
        Count least = 0;
        u32 counts = partition.rate_scalers ? partition.num_rates : 1;
        for (u32 i = 0; i < counts; i++) {
            Count of_rate = count(partition, i, len);
            least = i == 0 || of_rate < least ? of_rate : least;
        }
        return least;
    }

    /// Adds the products of some states of a rate to their sums: of every STRIDE-th state from `first` on.
    template <int STATES, int STRIDE>
    __device__ __forceinline__ void add_rate(const Partition &partition, u32 len, Count least, u32 rate, u32 first,
                                             Real (&sums)[STATES]) const {
        Real x[STATES], y[STATES];
        if (is_inserted) {
            product<S, STATES, STRIDE>(partition, len, a, rate, first, x);
        } else {
            plain<S, STATES, STRIDE>(partition, len, a, rate, first, x);
        }
        product<S, STATES, STRIDE>(partition, len, b, rate, first, y);
        Real weight = 1;
        if (partition.rate_scalers) {
            weight = Precision<Real>::weight(count(partition, rate, len) - least);
        }
#pragma unroll
        for (int i = 0; i < STATES; i++) {
            u64 at = (u64)rate * S + first + STRIDE * i;
            // A pendant vector is a temporary, which needs no factor.
            Real z = is_inserted ? ((const Real *)pendant.vector.clv)[at * len] : (Real)partition.weighted_freqs[at];
            sums[i] = fma(z * weight * x[i], y[i], sums[i]);
        }
    }

    /// The sums of which the pattern's likelihood consists, into the room: four, of the states with the same number modulo 4; for
    /// four states eight, of even and of odd rates. As many threads as there are shares of the block make them.
    __device__ __forceinline__ void sum(const Partition &partition, PatternBlock block, Count least) const {
        double *out = room() + block.pattern;
        if (S == 4) {
            for (u32 parity = block.share; parity < 2; parity += block.num_shares) {
                Real sums[4] = {0, 0, 0, 0};
                for (u32 rate = parity; rate < partition.num_rates; rate += 2) {
                    add_rate<4, 1>(partition, block.len, least, rate, 0, sums);
                }
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    out[(parity * 4 + i) * BLOCK] = (double)sums[i];
                }
            }
            return;
        }
        // Of 64 states in two passes, for want of registers.
        const int states = S == 64 ? 8 : S / 4;
        for (u32 quarter = block.share; quarter < 4; quarter += block.num_shares) {
            Real all = 0;
            for (u32 first = quarter; first < S; first += 4 * states) {
                Real sums[states];
#pragma unroll
                for (int i = 0; i < states; i++) {
                    sums[i] = 0;
                }
                for (u32 rate = 0; rate < partition.num_rates; rate++) {
                    add_rate<states, 4>(partition, block.len, least, rate, first, sums);
                }
#pragma unroll
                for (int i = 0; i < states; i++) {
                    all = first == quarter && i == 0 ? sums[i] : all + sums[i];
                }
            }
            out[quarter * BLOCK] = (double)all;
        }
    }

    /// The pattern's likelihood from these.
    __device__ __forceinline__ PatternLikelihood likelihood(u32 pattern, Count least) const {
        const double *from = room() + pattern;
        Real sums[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sums[i] = (Real)from[i * BLOCK];
            sums[i] = S == 4 ? sums[i] + (Real)from[(4 + i) * BLOCK] : sums[i];
        }
        return Precision<Real>::likelihood((sums[0] + sums[2]) + (sums[1] + sums[3]), least);
    }
};

/// The logarithm of a pattern's likelihood with its invariant part, which is not scaled.
__device__ __forceinline__ double pattern_log(const PatternLikelihood &of, double invariant) {
    double undone = fma(of.value, factor(of.count), invariant);
    double value = invariant > 0.0 ? undone : of.value;
    double count = invariant > 0.0 ? 0.0 : (double)of.count;
    return fma(count, -LN_FACTOR, natural_log(value));
}

/// The smallest scaler count among patterns with positive weight and likelihood (engine/constant_patterns.rs).
__device__ __forceinline__ u32 least_count(const double *weights, const double *likelihoods, const u32 *counts, u32 len) {
    u32 least = 0;
    bool found = false;
    for (u32 p = 0; p < len; p++) {
        if (weights[p] > 0.0 && likelihoods[p] > 0.0 && (!found || counts[p] < least)) {
            least = counts[p];
            found = true;
        }
    }
    return least;
}

/// Sum of values that are brought to one scaler count (engine/constant_patterns.rs).
__device__ __forceinline__ double scaled_sum(const double *weights, const double *values, const u32 *counts, u32 least,
                                             u32 len) {
    double sum = 0.0;
    for (u32 p = 0; p < len; p++) {
        if (weights[p] > 0.0) {
            sum += values[p] * factor(counts[p] - (least < counts[p] ? least : counts[p]));
        }
    }
    return sum;
}

/// The result of a step that scores a whole block. All threads must call it.
template <int S, typename Real>
__device__ SHARED_CODE void score(const Partition &partition, PatternBlock block, Scratch scratch, const Step &step,
                      const double *matrices, double *result, double *logs) {
    const double *weights = partition.weights + block.offset;
    typename Precision<Real>::Count least = 0;
    Evaluated<S, Real> edge;
    if (block.is_used()) {
        edge.a = operand<S, Real>(partition, block, scratch, step.ends[0], matrices, TOP);
        edge.b = operand<S, Real>(partition, block, scratch, step.ends[1], matrices, TOP);
        edge.is_inserted = step.kind == SCORE;
        if (edge.is_inserted) {
            fetch_operand<S>(partition, block, edge.a);
        }
        fetch_operand<S>(partition, block, edge.b);
        // For an edge, anything that is no tip will do: it is not read.
        End end = {edge.is_inserted ? step.out_place : SCRATCH, step.out_index, 0};
        edge.pendant = operand<S, Real>(partition, block, scratch, end, matrices, TOP);
        least = edge.least(partition, block.len);
        edge.sum(partition, block, least);
    }
    __syncthreads();
    PatternLikelihood found = {0.0, 0};
    double weighted = 0.0;
    if (block.is_first()) {
        found = edge.likelihood(block.pattern, least);
        double log = pattern_log(found, partition.invariant[block.offset + block.pattern]);
        double weight = weights[block.pattern];
        weighted = weight > 0.0 ? weight * log : 0.0;
        if (logs) {
            logs[block.offset + block.pattern] = log;
        }
    }
    if (is_summed(partition, block.index)) {
        double *values = room();
        u32 *counts = (u32 *)(values + BLOCK);
        __syncthreads();
        if (threadIdx.x < BLOCK) {
            values[threadIdx.x] = found.value;
            counts[threadIdx.x] = found.count;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            u32 least = least_count(weights, values, counts, block.len);
            result[0] = scaled_sum(weights, values, counts, least, block.len);
            result[1] = (double)least;
        }
        __syncthreads();
        return;
    }
    // The lanes are where others still read sums.
    __syncthreads();
    double own[1] = {weighted};
    sums_of_block<1>(own, result);
    if (threadIdx.x == 0) {
        result[1] = 0.0;
    }
}

/// Runs jobs of updates and scores. `logs` is null, or gets the logarithm of each pattern. `Real` is the precision of scores;
/// that of an update is that of the place to which it goes.
template <int S, typename Real>
__device__ __forceinline__ void run_jobs(const Partition *partitions, const Job *jobs, u32 num_jobs, u32 num_items,
                                         const Step *steps, const double *matrices, double *scratch_clvs,
                                         u32 *scratch_scalers, u64 clv_stride, u64 scaler_stride, double *results,
                                         double *logs) {
    double *clvs = scratch_clvs + blockIdx.x * clv_stride;
    // In single precision, a third is for half as long numbers.
    float *singles = sizeof(Real) == sizeof(float) ? (float *)(clvs + clv_stride / 3 * 2) : 0;
    Scratch scratch = {clvs, singles, scratch_scalers + blockIdx.x * scaler_stride};
    for (u32 item = blockIdx.x; item < num_items; item += gridDim.x) {
        const Job &job = jobs[job_of_item(jobs, num_jobs, item)];
        const Partition &partition = partitions[job.partition];
        PatternBlock block = pattern_block(partition, item - job.first_item);
        u64 at = job.results + block.index;
        for (u32 i = 0; i < job.num_steps; i++) {
            const Step &step = steps[job.first_step + i];
            if (step.kind == SCORE || step.kind == EDGE) {
                score<S, Real>(partition, block, scratch, step, matrices, results + at * SCORE_NUMBERS, logs);
                at += partition.num_blocks;
            } else if (step.kind == PENDANT) {
                update_pendant<S, Real>(partition, block, scratch, step, matrices);
            } else if (sizeof(Real) == sizeof(double) || step.out_place == SINGLE) {
                update_partials<S, Real>(partition, block, scratch, step, matrices);
            } else {
                update_partials<S, double>(partition, block, scratch, step, matrices);
            }
        }
        // The next block may have another length, so that its temporaries lie where others of this one are.
        __syncthreads();
    }
}

/// P-matrices that all CTAs of the launch make, if there are any: they meet by a counter that has this value before.
template <int S>
__device__ __forceinline__ void matrices_of_all(const Partition *partitions, const MatrixJob *jobs, u32 num_jobs, double *matrices,
                                                u32 *counter, u32 counted) {
    SHARED(Team, team, );
    if (num_jobs == 0) {
        return;
    }
    pmatrices<S>(partitions, jobs, num_jobs, matrices);
    if (threadIdx.x == 0) {
        team = {blockIdx.x, gridDim.x, counter, counted};
    }
    team.wait(__LINE__);
}

#define LIKELIHOOD_OF(name, S, Real)                                                                              \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS, 1)                                                 \
        name##_##S(const Partition *partitions, const Job *jobs, u32 num_jobs, u32 num_items, const Step *steps,            \
                   double *matrices, const MatrixJob *matrix_jobs, u32 num_matrices, u32 *counter, u32 counted,   \
                   double *scratch_clvs, u32 *scratch_scalers, u64 clv_stride, u64 scaler_stride,                 \
                   double *results, double *logs) {                                                               \
        matrices_of_all<S>(partitions, matrix_jobs, num_matrices, matrices, counter, counted);                         \
        run_jobs<S, Real>(partitions, jobs, num_jobs, num_items, steps, matrices, scratch_clvs, scratch_scalers,       \
                          clv_stride, scaler_stride, results, logs);                                              \
    }
