// P(t) = V * exp(L r t) * V^-1 of many branches, and their tip tables: mirrors src/kernels/body/pmatrix.rs.
//
//     P_r = max(0, V * diag(exp(L r t) - 1) * V^-1 + I)
//     table[c, r] = sum of the columns of P_r of the states compatible with code c, in their order
//
// One CTA per matrix: its threads first compute the exponentials of a few rates (GROUP of them in shared memory), then the
// elements of these rates' matrices, each as one chain over the eigenvalues.

#pragma once
#include "common.cuh"

/// Elements of a row that a thread computes at a time.
#define COLUMNS 4

/// exp(L r t) - 1 for the rates from `first` on, as many as are at once in GROUP numbers. All threads must call it.
template <int S>
__device__ __forceinline__ void exponentials(const Partition &partition, double brlen, u32 first, double *out) {
    u32 rate = first + threadIdx.x / S;
    if (threadIdx.x < (GROUP / S) * S && rate < partition.num_rates) {
        double eigenval = partition.eigenvals[partition.matrix_of_rate[rate] * S + threadIdx.x % S];
        out[threadIdx.x] = exp_minus_one(eigenval * (partition.rates[rate] * brlen));
    }
    __syncthreads();
}

/// The matrices of the rates from `first` on, as many as `exponentials` takes at a time, and these rates' part of the tip table
/// unless that is null. All threads must call it.
template <int S, typename Real>
__device__ SHARED_CODE void pmatrices_of_rates(const Partition &partition, double brlen, u32 first, Real *out, Real *table, double *exponential) {
    exponentials<S>(partition, brlen, first, exponential);
    u32 left = partition.num_rates - first;
    u32 num_rates = left < GROUP / S ? left : GROUP / S;
    // A thread computes a few elements of a row, which have a factor in common.
    const u32 tiles = S / COLUMNS;
    for (u32 tile = threadIdx.x; tile < num_rates * (S * tiles); tile += blockDim.x) {
        u32 in_group = tile / (S * tiles), first_column = tile / S % tiles * COLUMNS, i = tile % S;
        u64 matrix = (u64)partition.matrix_of_rate[first + in_group] * (S * S);
        const double *left_of = partition.eigenvec_columns + matrix + i;
        const double *right = partition.inv_eigenvec_columns + matrix + first_column * S;
        const double *e = exponential + in_group * S;
        double sums[COLUMNS], factor = left_of[0] * e[0];
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            sums[j] = factor * right[j * S];
        }
#pragma unroll(S == 4 ? 3 : 4)
        for (u32 k = 1; k < S; k++) {
            factor = left_of[k * S] * e[k];
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                sums[j] = fma(factor, right[j * S + k], sums[j]);
            }
        }
        Real *to = out + (u64)(first + in_group) * (S * S) + first_column * S + i;
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            double sum = i == first_column + j ? sums[j] + 1.0 : sums[j];
            to[j * S] = (Real)(sum > 0.0 ? sum : 0.0);
        }
    }
    __syncthreads();
    if (!table) {
        return;
    }
    for (u32 element = threadIdx.x; element < partition.num_codes * num_rates * S; element += blockDim.x) {
        u32 code = element / (num_rates * S), rate = first + element / S % num_rates, i = element % S;
        double sum = 0.0;
        // States in their order; bits above the last one are not set.
        for (u64 states = partition.code_masks[code]; states != 0; states &= states - 1) {
            u32 state = (u32)__ffsll((long long)states) - 1;
            sum += out[((u64)rate * S + state) * S + i];
        }
        table[((u64)code * partition.num_rates + rate) * S + i] = (Real)sum;
    }
}

/// The matrices of a job, and its tip table if one is wanted. All threads must call it.
template <int S, typename Real>
__device__ __forceinline__ void pmatrices_of_job(const Partition &partition, const MatrixJob &job, double *matrices,
                                                 double *exponential) {
    Real *table = job.with_table ? (Real *)(matrices + job.table) : 0;
    for (u32 first = 0; first < partition.num_rates; first += GROUP / S) {
        pmatrices_of_rates<S, Real>(partition, job.brlen, first, (Real *)(matrices + job.matrix), table, exponential);
    }
}

template <int S>
__device__ __forceinline__ void pmatrices(const Partition *partitions, const MatrixJob *jobs, u32 num_jobs, double *matrices) {
    SHARED(double, exponential, [GROUP]);
    for (u32 number = blockIdx.x; number < num_jobs; number += gridDim.x) {
        const MatrixJob &job = jobs[number];
        if (job.is_single) {
            pmatrices_of_job<S, float>(partitions[job.partition], job, matrices, exponential);
        } else {
            pmatrices_of_job<S, double>(partitions[job.partition], job, matrices, exponential);
        }
        __syncthreads();
    }
}

#define PMATRIX_OF(S)                                                                                                \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1)                                                           \
        pmatrix_##S(const Partition *partitions, const MatrixJob *jobs, u32 num_jobs, double *matrices) {                   \
        pmatrices<S>(partitions, jobs, num_jobs, matrices);                                                            \
    }
