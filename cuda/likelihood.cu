// Likelihood of each pattern at an edge or with an inserted subtree, and the sum of logarithms: mirrors
// src/likelihood/cpu/body/likelihood.rs.
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

/// Pendant vector: weighted frequencies * (P-matrix * CLV of a pruned subtree).
template <int S>
__device__ __forceinline__ void update_pendant(const Gene &gene, PatternBlock block, const Scratch &scratch,
                                               const Step &step, const double *matrices) {
    const u32 rows = Rows<S>::COUNT;
    Operand a = operand<S>(gene, block, scratch, step.ends[0], matrices);
    Vector<S> out(gene, block, scratch, step.out_place, step.out_index);
    for (u32 rate = 0; rate < gene.num_rates; rate++) {
        for (u32 first = 0; first < S; first += rows) {
            double x[rows];
            product<S>(gene, block.len, a, rate, first, x);
#pragma unroll
            for (int i = 0; i < (int)rows; i++) {
                u64 at = (u64)rate * S + first + i;
                out.clv[at * block.len] = gene.weighted_freqs[at] * x[i];
            }
        }
    }
    for (u32 i = 0; i < (gene.rate_scalers ? gene.num_rates : 1); i++) {
        out.scaler[(u64)i * block.len] = count_of(a, i, block.len);
    }
}

/// Likelihood of a pattern before the logarithm: times 2^(-256 * count) it is the true value.
struct PatternLikelihood {
    double value;
    u32 count;
};

/// The pattern's likelihood at an edge, or with a subtree inserted into it.
template <int S>
__device__ __forceinline__ PatternLikelihood pattern_likelihood(const Gene &gene, PatternBlock block,
                                                                const Operand &a, const Operand &b,
                                                                const Operand &pendant, bool is_inserted) {
    const u32 rows = Rows<S>::COUNT;
    PatternLikelihood out = {0.0, 0};
    u32 counts = gene.rate_scalers ? gene.num_rates : 1;
    for (u32 i = 0; i < counts; i++) {
        u32 count = count_of(a, i, block.len) + count_of(b, i, block.len);
        count += is_inserted ? count_of(pendant, i, block.len) : 0;
        out.count = i == 0 || count < out.count ? count : out.count;
    }
    double fours[4];
    for (u32 first = 0; first < S; first += rows) {
        // Even and odd rates apart for four states, as the CPU does.
        double sums[rows], odd[rows];
#pragma unroll
        for (int i = 0; i < (int)rows; i++) {
            sums[i] = 0.0;
            odd[i] = 0.0;
        }
        for (u32 rate = 0; rate < gene.num_rates; rate++) {
            double x[rows], y[rows];
            if (is_inserted) {
                product<S>(gene, block.len, a, rate, first, x);
            } else {
                plain<S>(gene, block.len, a, rate, first, x);
            }
            product<S>(gene, block.len, b, rate, first, y);
            double weight = 1.0;
            if (gene.rate_scalers) {
                u32 count = count_of(a, rate, block.len) + count_of(b, rate, block.len);
                count += is_inserted ? count_of(pendant, rate, block.len) : 0;
                weight = factor(count - out.count);
            }
#pragma unroll
            for (int i = 0; i < (int)rows; i++) {
                u64 at = (u64)rate * S + first + i;
                double z = is_inserted ? pendant.clv[at * block.len] : gene.weighted_freqs[at];
                double zx = z * weight * x[i];
                if (S == 4 && rate % 2 == 1) {
                    odd[i] = fma(zx, y[i], odd[i]);
                } else {
                    sums[i] = fma(zx, y[i], sums[i]);
                }
            }
        }
        // Four partial sums, state modulo 4.
#pragma unroll
        for (int i = 0; i < (int)rows; i++) {
            double sum = S == 4 ? sums[i] + odd[i] : sums[i];
            fours[i % 4] = first == 0 && i < 4 ? sum : fours[i % 4] + sum;
        }
    }
    out.value = (fours[0] + fours[2]) + (fours[1] + fours[3]);
    return out;
}

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

/// The result of a step that scores. All threads must call it.
template <int S>
__device__ SHARED_CODE void score(const Gene &gene, PatternBlock block, const Scratch &scratch, const Step &step,
                      const double *matrices, double *result, double *logs) {
    SHARED(double, values, [1][BLOCK]);
    SHARED(double, lanes, [1][LANES]);
    SHARED(u32, counts, [BLOCK]);
    const double *weights = gene.weights + block.offset;
    PatternLikelihood found = {0.0, 0};
    double weighted = 0.0;
    if (threadIdx.x < block.len) {
        Operand a = operand<S>(gene, block, scratch, step.ends[0], matrices);
        Operand b = operand<S>(gene, block, scratch, step.ends[1], matrices);
        // For an edge, anything that is no tip will do: it is not read.
        End end = {step.kind == SCORE ? step.out_place : SCRATCH, step.out_index, 0};
        Operand pendant = operand<S>(gene, block, scratch, end, matrices);
        found = pattern_likelihood<S>(gene, block, a, b, pendant, step.kind == SCORE);
        double log = pattern_log(found, gene.invariant[block.offset + threadIdx.x]);
        double weight = weights[threadIdx.x];
        weighted = weight > 0.0 ? weight * log : 0.0;
        if (logs) {
            logs[block.offset + threadIdx.x] = log;
        }
    }
    if (is_summed(gene, block.index)) {
        values[0][threadIdx.x] = found.value;
        counts[threadIdx.x] = found.count;
        __syncthreads();
        if (threadIdx.x == 0) {
            u32 least = least_count(weights, values[0], counts, block.len);
            result[0] = scaled_sum(weights, values[0], counts, least, block.len);
            result[1] = (double)least;
        }
        __syncthreads();
        return;
    }
    double own[1] = {weighted};
    sums_of_block<1>(own, values, lanes, result);
    if (threadIdx.x == 0) {
        result[1] = 0.0;
    }
}

/// Runs jobs of updates and scores. `logs` is null, or gets the logarithm of each pattern.
template <int S>
__device__ __forceinline__ void run_jobs(const Gene *genes, const Job *jobs, u32 num_jobs, u32 num_items,
                                         const Step *steps, const double *matrices, double *scratch_clvs,
                                         u32 *scratch_scalers, u64 clv_stride, u64 scaler_stride, double *results,
                                         double *logs) {
    Scratch scratch = {scratch_clvs + blockIdx.x * clv_stride, scratch_scalers + blockIdx.x * scaler_stride};
    for (u32 item = blockIdx.x; item < num_items; item += gridDim.x) {
        const Job &job = jobs[job_of_item(jobs, num_jobs, item)];
        const Gene &gene = genes[job.gene];
        PatternBlock block = pattern_block(gene, item - job.first_item);
        u64 at = job.results + block.index;
        for (u32 i = 0; i < job.num_steps; i++) {
            const Step &step = steps[job.first_step + i];
            if (step.kind == SCORE || step.kind == EDGE) {
                score<S>(gene, block, scratch, step, matrices, results + at * SCORE_NUMBERS, logs);
                at += gene.num_blocks;
            } else if (threadIdx.x < block.len) {
                if (step.kind == PENDANT) {
                    update_pendant<S>(gene, block, scratch, step, matrices);
                } else {
                    update_partials<S>(gene, block, scratch, step, matrices);
                }
            }
        }
        // The next block may have another length, so that its temporaries lie where others of this one are.
        __syncthreads();
    }
}

/// P-matrices that all CTAs of the launch make, if there are any: they meet by a counter that has this value before.
template <int S>
__device__ __forceinline__ void matrices_of_all(const Gene *genes, const MatrixJob *jobs, u32 num_jobs, double *matrices,
                                                u32 *counter, u32 counted) {
    SHARED(Team, team, );
    if (num_jobs == 0) {
        return;
    }
    pmatrices<S>(genes, jobs, num_jobs, matrices);
    if (threadIdx.x == 0) {
        team = {blockIdx.x, gridDim.x, counter, counted};
    }
    team.wait(__LINE__);
}

#define LIKELIHOOD_OF(S)                                                                                          \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1)                                                        \
        likelihood_##S(const Gene *genes, const Job *jobs, u32 num_jobs, u32 num_items, const Step *steps,        \
                       double *matrices, const MatrixJob *matrix_jobs, u32 num_matrices, u32 *counter,            \
                       u32 counted, double *scratch_clvs, u32 *scratch_scalers, u64 clv_stride,                   \
                       u64 scaler_stride, double *results, double *logs) {                                        \
        matrices_of_all<S>(genes, matrix_jobs, num_matrices, matrices, counter, counted);                         \
        run_jobs<S>(genes, jobs, num_jobs, num_items, steps, matrices, scratch_clvs, scratch_scalers, clv_stride, \
                    scaler_stride, results, logs);                                                                \
    }
LIKELIHOOD_OF(4)
LIKELIHOOD_OF(20)
LIKELIHOOD_OF(64)
