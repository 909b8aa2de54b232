// The sumtable of an edge, and the log-likelihood and its first and second derivative with respect to the edge's length:
// mirrors src/kernels/body/derivatives.rs.
//
//     s[r, k, p] = (left * x[p, r])_k * (right * y[p, r])_k
//     L, L', L'' = sum over r, k of s[r, k, p] * (1, l_k r, (l_k r)^2) * exp(l_k r t);   L += invariant[p]
//     result of a block: [sum of weight * ln L, of weight * L'/L, of weight * (L''/L - (L'/L)^2), 0]
//     of constant patterns under a correction that is a function of their sum: [sums of L, L', L'', scaler count]

#pragma once
#include "likelihood.cu"

/// Eigenvalues, of all rates together, whose factors are computed at a time.
#define FACTORS 256

/// Multiplies the sumtable of a whole block by the weights of the rates, if rates have scaler counts. All threads must call it.
template <int S>
__device__ __forceinline__ void weigh_rates(const Partition &partition, PatternBlock block, const Operand<double> &a,
                                            const Operand<double> &b, u32 count, double *out) {
    const u32 of_rate = Part<S>::OF_RATE;
    for (u32 rate = 0; rate < partition.num_rates; rate++) {
        double weight = 1.0;
        if (block.is_used()) {
            weight = factor(count_of<S>(partition, a, rate, block.len) + count_of<S>(partition, b, rate, block.len) - count);
        }
        // The CPU decides for the whole block, so that numbers below the limit may be set to 0 where the weight is 1.
        if (!__syncthreads_or(weight < 1.0) || !block.is_used()) {
            continue;
        }
        double limit = NEGLIGIBLE / weight;
        for (u32 part = rate * of_rate; part < (rate + 1) * of_rate; part++) {
            if (part % block.num_shares != block.share) {
                continue;
            }
            for (u32 k = 0; k < Part<S>::COUNT; k++) {
                double *at = out + ((u64)part * Part<S>::COUNT + k) * block.len;
                double kept = fabs(*at) < limit ? 0.0 : *at;
                *at = kept * weight;
            }
        }
    }
}

/// The sumtable of an edge for a block, which must be a whole one if rates have scaler counts. All threads must call it.
template <int S>
__device__ SHARED_CODE void update_sumtable(const Partition &partition, PatternBlock block, const Scratch &scratch, const Step &step) {
    const int count = Part<S>::COUNT, of_rate = Part<S>::OF_RATE;
    const u32 num_parts = partition.num_rates * of_rate;
    Operand<double> a, b;
    Vector<S, double> sumtable(partition, block, scratch, step.out_place, step.out_index);
    double *out = sumtable.clv;
    u32 scalings = 0;
    if (block.is_used()) {
        a = operand<S, double>(partition, block, scratch, step.ends[0], 0, 0);
        b = operand<S, double>(partition, block, scratch, step.ends[1], 0, 0);
        a.matrix = a.is_tip ? partition.sumtable_left_tip : partition.sumtable_left;
        b.matrix = b.is_tip ? partition.sumtable_right_tip : partition.sumtable_right;
        fetch_operand<S>(partition, block, a);
        fetch_operand<S>(partition, block, b);
        for (u32 i = 0; i < (partition.rate_scalers ? partition.num_rates : 1); i++) {
            u32 own = count_of<S>(partition, a, i, block.len) + count_of<S>(partition, b, i, block.len);
            scalings = i == 0 || own < scalings ? own : scalings;
        }
        for (u32 part = block.share; part < num_parts; part += block.num_shares) {
            u32 rate = part / of_rate, first = part % of_rate * count;
            double x[count], y[count];
            product<S, count, 1>(partition, block.len, a, rate, first, x);
            product<S, count, 1>(partition, block.len, b, rate, first, y);
            double *to = out + ((u64)rate * S + first) * block.len;
#pragma unroll
            for (int i = 0; i < count; i++) {
                to[(u64)i * block.len] = x[i] * y[i];
            }
        }
    }
    if (partition.rate_scalers) {
        weigh_rates<S>(partition, block, a, b, scalings, out);
    }
    // The invariant part is not scaled, so the scaling of the rest is undone.
    if (block.is_used() && scalings > 0 && partition.invariant[block.offset + block.pattern] > 0.0) {
        double f = factor(scalings);
        for (u32 part = block.share; part < num_parts; part += block.num_shares) {
            for (u32 i = 0; i < (u32)count; i++) {
                out[((u64)part * count + i) * block.len] *= f;
            }
        }
        scalings = 0;
    }
    if (block.is_used() && block.share == 0) {
        sumtable.scaler[0] = scalings;
    }
    __syncthreads();
}

/// Updates and a sumtable for a block, or a slice of one. All threads must call it.
template <int S>
__device__ SHARED_CODE void start_edge(const Partition &partition, PatternBlock block, const Step *steps, u32 num_steps,
                                           const double *matrices) {
    Scratch none = {0, 0, 0};
    for (u32 i = 0; i < num_steps; i++) {
        const Step &step = steps[i];
        if (step.kind == SUMTABLE) {
            update_sumtable<S>(partition, block, none, step);
        } else {
            update_partials<S, double>(partition, block, none, step, matrices);
        }
    }
}

/// Runs jobs of updates and a sumtable.
template <int S>
__device__ __forceinline__ void start_edges(const Partition *partitions, const Job *jobs, u32 num_jobs, u32 num_items,
                                            const Step *steps, const double *matrices) {
    for (u32 item = blockIdx.x; item < num_items; item += gridDim.x) {
        const Job &job = jobs[job_of_item(jobs, num_jobs, item)];
        const Partition &partition = partitions[job.partition];
        PatternBlock block = pattern_block(partition, item - job.first_item);
        start_edge<S>(partition, block, steps + job.first_step, job.num_steps, matrices);
    }
}

/// The correction or one of its derivatives, from the result of the block of constant patterns (engine/ascertainment.rs).
__device__ SHARED_CODE double correction_of_sum(u32 kind, double sites, const double *result, u32 which) {
    double sum = result[0], slope = result[1] / sum, curvature = result[2] / sum, count = result[3];
    if (kind == FELSENSTEIN) {
        if (sites == 0.0) {
            return 0.0;
        }
        if (which == 0) {
            return sites * (natural_log(sum) - count * LN_FACTOR);
        }
        return which == 1 ? sites * slope : sites * (curvature - slope * slope);
    }
    const double epsilon = 0x1p-52;
    double constant = sum * factor((u32)count), left = 1.0 - constant;
    double variable = left > epsilon ? left : epsilon;
    double odds = constant / variable;
    if (odds == 0.0) {
        return 0.0;
    }
    double change = odds * slope;
    if (which == 0) {
        return -sites * natural_log(variable);
    }
    return which == 1 ? sites * change : sites * fma(change, change, odds * curvature);
}

/// Value and derivatives of a whole block at one length, from the sumtable of this number: a chain of sums for each pattern, so that
/// only the first threads have one. All threads must call it.
template <int S>
__device__ SHARED_CODE void derivatives_of_block(const Partition &partition, PatternBlock block, u32 number, double brlen, double *result) {
    double *factors = room();
    bool is_used = block.is_first(), sums_constants = is_summed(partition, block.index);
    const double *weights = partition.weights + block.offset;
    Scratch none = {0, 0, 0};
    Vector<S, double> sumtable(partition, block, none, TEMPORARY, number);
    const double *table = sumtable.clv;
    double invariant = is_used ? partition.invariant[block.offset + block.pattern] : 1.0;
    double l = sums_constants ? 0.0 : invariant, l1 = 0.0, l2 = 0.0;
    u32 row = partition.num_rates * S;
    for (u32 first = 0; first < row; first += FACTORS) {
        u32 num_factors = row - first < FACTORS ? row - first : FACTORS;
        for (u32 at = threadIdx.x; at < num_factors; at += blockDim.x) {
            u32 rate = (first + at) / S, k = (first + at) % S;
            double eigenval = partition.eigenvals[partition.matrix_of_rate[rate] * S + k];
            double value = exp_minus_one(eigenval * (partition.rates[rate] * brlen)) + 1.0;
            double lambda = eigenval * partition.rates[rate];
            factors[at] = value;
            factors[FACTORS + at] = lambda * value;
            factors[2 * FACTORS + at] = lambda * lambda * value;
        }
        __syncthreads();
        if (is_used && sums_constants) {
            for (u32 k = 0; k < num_factors; k++) {
                double s = table[((u64)first + k) * block.len];
                l += s * factors[k];
                l1 += s * factors[FACTORS + k];
                l2 += s * factors[2 * FACTORS + k];
            }
        } else if (is_used) {
            // So many numbers are on their way at a time.
#pragma unroll 16
            for (u32 k = 0; k < num_factors; k++) {
                double s = table[((u64)first + k) * block.len];
                l = fma(s, factors[k], l);
                l1 = fma(s, factors[FACTORS + k], l1);
                l2 = fma(s, factors[2 * FACTORS + k], l2);
            }
        }
        __syncthreads();
    }
    u32 count = is_used ? sumtable.scaler[0] : 0;
    if (sums_constants) {
        double *values = room();
        u32 *counts = (u32 *)(values + 3 * BLOCK);
        if (threadIdx.x < BLOCK) {
            values[threadIdx.x] = l;
            values[BLOCK + threadIdx.x] = l1;
            values[2 * BLOCK + threadIdx.x] = l2;
            counts[threadIdx.x] = count;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            u32 least = least_count(weights, values, counts, block.len);
            for (u32 i = 0; i < 3; i++) {
                result[i] = scaled_sum(weights, values + i * BLOCK, counts, least, block.len);
            }
            result[3] = (double)least;
        }
        __syncthreads();
        return;
    }
    double weight = is_used ? weights[block.pattern] : 0.0;
    double lnl = fma((double)count, -LN_FACTOR, natural_log(l));
    double inverse = 1.0 / l;
    double ratio = l1 * inverse;
    double curvature = fma(-ratio, ratio, l2 * inverse);
    bool counts_in_sum = weight > 0.0;
    double own[3];
    own[0] = counts_in_sum ? weight * lnl : 0.0;
    own[1] = counts_in_sum ? weight * ratio : 0.0;
    own[2] = counts_in_sum ? weight * curvature : 0.0;
    sums_of_block<3>(own, result);
    if (threadIdx.x == 0) {
        result[3] = 0.0;
    }
}

template <int S>
__device__ __forceinline__ void derivatives(const Partition *partitions, const DerivativeJob *jobs, u32 num_jobs, u32 num_items,
                                            double *results) {
    for (u32 item = blockIdx.x; item < num_items; item += gridDim.x) {
        const DerivativeJob &job = jobs[job_of_item(jobs, num_jobs, item)];
        const Partition &partition = partitions[job.partition];
        u32 block = item - job.first_item;
        double *result = results + (job.results + block) * DERIVATIVE_NUMBERS;
        derivatives_of_block<S>(partition, pattern_block(partition, block), job.sumtable, job.brlen, result);
    }
}

#define DERIVATIVES_OF(S)                                                                                         \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS, 1)                                                    \
        derivatives_sumtable_##S(const Partition *partitions, const Job *jobs, u32 num_jobs, u32 num_items,                 \
                                 const Step *steps, const double *matrices) {                                     \
        start_edges<S>(partitions, jobs, num_jobs, num_items, steps, matrices);                                        \
    }                                                                                                             \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1)                                                           \
        derivatives_##S(const Partition *partitions, const DerivativeJob *jobs, u32 num_jobs, u32 num_items,                \
                        double *results) {                                                                        \
        derivatives<S>(partitions, jobs, num_jobs, num_items, results);                                                \
    }
