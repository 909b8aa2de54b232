// P(t) = V * exp(L r t) * V^-1 of many branches, and their tip tables: mirrors src/likelihood/cpu/body/pmatrix.rs.
//
//     P_r = max(0, V * diag(exp(L r t) - 1) * V^-1 + I)
//     table[c, r] = sum of the columns of P_r of the states compatible with code c, in their order
//
// One CTA per matrix: its threads first compute the exponentials of a few rates (GROUP of them in shared memory), then the
// elements of these rates' matrices, each as one chain over the eigenvalues.

#pragma once
#include "common.cuh"

/// exp(L r t) - 1 for the rates from `first` on, as many as are at once in GROUP numbers. All threads must call it.
template <int S>
__device__ __forceinline__ void exponentials(const Gene &gene, double brlen, u32 first, double *out) {
    u32 rate = first + threadIdx.x / S;
    if (threadIdx.x < (GROUP / S) * S && rate < gene.num_rates) {
        double eigenval = gene.eigenvals[gene.matrix_of_rate[rate] * S + threadIdx.x % S];
        out[threadIdx.x] = exp_minus_one(eigenval * (gene.rates[rate] * brlen));
    }
    __syncthreads();
}

template <int S>
__device__ void pmatrix_of_job(const Gene &gene, const MatrixJob &job, double *matrices, double *exponential) {
    double *out = matrices + job.matrix;
    for (u32 first = 0; first < gene.num_rates; first += GROUP / S) {
        exponentials<S>(gene, job.brlen, first, exponential);
        u32 left = gene.num_rates - first;
        u32 num_elements = (left < GROUP / S ? left : GROUP / S) * (S * S);
        for (u32 element = threadIdx.x; element < num_elements; element += BLOCK) {
            u32 in_group = element / (S * S), j = element / S % S, i = element % S;
            u64 matrix = (u64)gene.matrix_of_rate[first + in_group] * (S * S);
            const double *left_of = gene.eigenvec_columns + matrix + i;
            const double *right = gene.inv_eigenvec_columns + matrix + j * S;
            const double *e = exponential + in_group * S;
            double sum = (left_of[0] * e[0]) * right[0];
#pragma unroll 2
            for (u32 k = 1; k < S; k++) {
                sum = fma(left_of[k * S] * e[k], right[k], sum);
            }
            sum = i == j ? sum + 1.0 : sum;
            out[(u64)first * (S * S) + element] = sum > 0.0 ? sum : 0.0;
        }
        __syncthreads();
    }
    if (job.with_table == 0) {
        return;
    }
    u32 row = gene.num_rates * S;
    for (u32 element = threadIdx.x; element < gene.num_codes * row; element += BLOCK) {
        u32 code = element / row, rate = element % row / S, i = element % S;
        double sum = 0.0;
        u64 states = gene.code_masks[code];
        for (u32 state = 0; state < S; state++) {
            if (states >> state & 1) {
                sum += out[((u64)rate * S + state) * S + i];
            }
        }
        matrices[job.table + element] = sum;
    }
}

template <int S>
__device__ __forceinline__ void pmatrices(const Gene *genes, const MatrixJob *jobs, u32 num_jobs, double *matrices) {
    __shared__ double exponential[GROUP];
    for (u32 job = blockIdx.x; job < num_jobs; job += gridDim.x) {
        pmatrix_of_job<S>(genes[jobs[job].gene], jobs[job], matrices, exponential);
        __syncthreads();
    }
}

#define PMATRIX(S)                                                                                                \
    extern "C" __global__ void __launch_bounds__(BLOCK, 1)                                                           \
        pmatrix_##S(const Gene *genes, const MatrixJob *jobs, u32 num_jobs, double *matrices) {                   \
        pmatrices<S>(genes, jobs, num_jobs, matrices);                                                            \
    }
PMATRIX(4)
PMATRIX(20)
PMATRIX(64)
