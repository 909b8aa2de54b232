// What all kernels share: sizes, the structs that the host fills, exact elementary functions, sums in a fixed order.
//
// Every number has the bits of the CPU's: the same operations in the same order, with `fma` exactly where the CPU has
// `mul_add`. The compiler must therefore not fuse on its own (`-fmad=false`, or `-ffp-contract=off` for the emulator).
//
// A block of CUDA threads ("CTA" below, because *block* is the word for 128 patterns) works on one block of patterns at a
// time, or on a quarter of one, a *slice*. Each thread has one pattern, and the threads of a pattern share the numbers of its rows
// (`PatternBlock`). In all vectors the pattern is the fastest index, so that neighbouring threads read neighbouring numbers:
//
//     clvs          [slot][block][rate][state][pattern]       scalers  [slot][block][rate or 1][pattern]
//     temporaries   likewise; a sumtable is a temporary, [slot][block][rate][eigen][pattern], with one count per pattern
//     tip_codes     [block][tip][pattern]
//     P-matrix      [rate][column][row]                       tip table  [code][rate][state]
//
// The structs are mirrored in src/library/likelihood/cuda/program.rs, field by field; `common_sizes` lets the host compare.

#pragma once

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

/// A function of which a kernel's code has one copy. (The emulator's compiler decides by itself.)
#ifdef __CUDACC_RTC__
#define SHARED_CODE __noinline__
#else
#define SHARED_CODE inline
#endif

/// Memory that the threads of a CTA share: SHARED(double, x, [3][4]) declares x. (The emulator has words of its own.)
#ifndef SHARED
#define SHARED(type, name, dims) __shared__ type name dims
#endif

/// Bytes of a line of the nearest cache, and asking for one. (The emulator has words of its own.)
#define LINE 128
#ifndef EMULATED
__device__ __forceinline__ void prefetch_line(const void *at) { asm volatile("prefetch.global.L1 [%0];" ::"l"(at)); }
#endif

/// Patterns per block (kernels/layout.rs), and least number of threads of a CTA.
#define BLOCK 128
/// Patterns of a slice: one for each thread of a warp. Slices of a block.
#define SLICE 32
#define SLICES (BLOCK / SLICE)
/// Most threads of a CTA; of the kernels with partitions of different numbers of states, whose code needs more registers.
#define MOST_THREADS 512
#define MOST_THREADS_OF_ANY 256
/// Partial sums in a sum over patterns (kernels/layout.rs).
#define LANES 8
/// Exponentials that are computed at a time, by as many threads (kernels/body/pmatrix.rs).
#define GROUP 64
/// Numbers of a result of a block: see `likelihood.cu` and `derivatives.cu`.
#define SCORE_NUMBERS 2
#define DERIVATIVE_NUMBERS 4
#define OUTCOME_NUMBERS 3

/// A partition's data, vectors and model on one GPU.
struct Partition {
    const u16 *tip_codes;
    const double *weights;
    const double *invariant;
    /// States of each code.
    const u64 *code_masks;
    double *clvs;
    u32 *scalers;
    /// Temporaries and sumtables of sweeps, in the layout of CLVs.
    double *temporaries;
    u32 *temporary_scalers;
    /// The model, as in engine/model_block.rs.
    const double *eigenvals;
    const double *eigenvec_columns;
    const double *inv_eigenvec_columns;
    const double *rates;
    const double *weighted_freqs;
    const double *sumtable_left;
    const double *sumtable_right;
    const double *sumtable_left_tip;
    const double *sumtable_right_tip;
    const double *indicator;
    const u32 *matrix_of_rate;
    /// Number of sites of the correction.
    double corrected_sites;
    u32 num_rates;
    u32 num_codes;
    u32 num_tips;
    /// 1 if scaler counts are kept per rate.
    u32 rate_scalers;
    /// Blocks of sites, and their patterns with padding.
    u32 num_site_blocks;
    u32 num_site_patterns;
    /// The same with the block of constant patterns, if there is one.
    u32 num_blocks;
    u32 num_patterns;
    /// The correction, if it is a function of the sum of the constant patterns' likelihoods; otherwise 0.
    u32 correction;
    /// 4, 20 or 64.
    u32 num_states;
};

enum Correction { LEWIS = 1, FELSENSTEIN = 2 };

/// Where the vector of an end of an edge is.
/// (SINGLE: likewise in the scratch of a CTA, in single precision.)
enum Place { TIP = 0, STORED = 1, TEMPORARY = 2, SCRATCH = 3, SINGLE = 4 };

/// One end of an edge: a vector, and in `matrices` the P-matrix, or for a tip its table.
struct End {
    u32 place;
    u32 index;
    u64 matrix;
};

enum StepKind { PARTIALS = 0, PENDANT = 1, SCORE = 2, EDGE = 3, SUMTABLE = 4 };

/// One step of a job. `out` is the vector that is made; for a score, `out_index` is that of the pendant vector.
struct Step {
    u32 kind;
    u32 out_place;
    u32 out_index;
    u32 padding;
    End ends[2];
};

/// Steps that are run in order for each block of one partition.
struct Job {
    u32 partition;
    u32 first_step;
    u32 num_steps;
    /// Number of the job's first item; an item is one block of one job.
    u32 first_item;
    /// Where its results begin, `[score][block]`.
    u64 results;
};

/// One P-matrix to be computed.
struct MatrixJob {
    u32 partition;
    /// 1 if the tip table is wanted, too; 1 if both are wanted in single precision.
    u16 with_table, is_single;
    double brlen;
    /// Where the matrix and the table go.
    u64 matrix;
    u64 table;
};

/// A sumtable at one length, for a launch that evaluates it once.
struct DerivativeJob {
    u32 partition;
    u32 first_item;
    double brlen;
    u64 results;
    /// The temporary that the sumtable is.
    u32 sumtable;
    u32 padding;
};

/// Sweeps as a tape: all that a launch needs, one after the other in an array of 64-bit words. Here is where its lists begin,
/// in words. (What the sweeps do with it: `sweep.cu`.)
struct TapeHead {
    u32 num_programs, num_teams;
    u32 seats, programs, steps, jobs, updates, matrices;
    /// Counters of the teams' barriers.
    u32 counters;
    /// Branch lengths. Each is written once: a change makes a new one. The first were filled by the host, and the last are
    /// the outcomes, [length, log-likelihood] at the end of each step, and how often its derivatives were evaluated.
    u32 lengths;
    u32 outcomes;
    /// Log-likelihoods of partitions, for programs with a floor.
    u32 lnls;
};

/// A CTA's place in its team.
struct Seat {
    u32 team, rank, size, padding;
    /// Where the team's matrices and the results of its derivatives begin; the latter have `half` numbers, twice.
    u64 matrices, results, half;
};

/// A sweep, or a part of one, which one team runs.
struct TapeProgram {
    u32 first_step, num_steps;
    /// Steps after which the floor is looked at; 0 if there is none.
    u32 num_first;
    /// Log-likelihoods of all partitions, and the one that is replaced by that of the last of the first steps.
    u32 first_lnl, num_lnls, replaced;
    /// Edges to be evaluated after the last step, and their matrices.
    u32 first_finish, num_finish, num_finish_items;
    u32 first_matrix, num_matrices;
    u32 padding;
    double lo, hi, gain_tolerance, floor;
};

/// One branch to be optimised.
struct TapeStep {
    u32 first_job, num_jobs;
    /// Blocks of all jobs.
    u32 num_items;
    u32 first_matrix, num_matrices;
    /// The length of the branch.
    u32 branch;
    /// 1 if CTAs may share the updates of a block.
    u32 has_slices, padding;
};

/// One partition's part in a step, in the order of the partitions.
struct TapeJob {
    u32 partition;
    /// Updates; the last makes the sumtable, or is the edge to be evaluated.
    u32 first_step, num_steps;
    u32 first_item;
    /// The partition's length before and after the step.
    u32 edge, edge_after;
    /// For an edge to be evaluated, where its results go, from the outcomes on.
    u32 results;
    u32 padding;
    /// Factor of the partition's lengths.
    double scaler;
};

/// A P-matrix, or the part of one from this rate category on that a CTA makes at once.
struct TapeMatrix {
    u32 partition;
    /// 1 if the tip table is wanted, too.
    u32 with_table;
    u32 length;
    u32 first_rate;
    double scaler;
    /// Where the matrix and the table go, among the team's.
    u64 matrix;
    u64 table;
};

/// Shared memory of a CTA for what is done just now: all that is kept there between two barriers. ROOM numbers.
#define ROOM (8 * BLOCK)
__device__ __forceinline__ double *room() {
    SHARED(double, numbers, [ROOM]);
    return numbers;
}

/// Asks for bytes that the CTA is going to read, so that they come into the nearest cache all at the same time. The calling threads
/// ask for one line after the other.
__device__ __forceinline__ void fetch(const void *from, u32 bytes) {
    for (u32 at = threadIdx.x * LINE; at < bytes; at += blockDim.x * LINE) {
        prefetch_line((const char *)from + at);
    }
}

// 2^-256, 2^256, 2^-960, ln(2^256): kernels/scaling.rs.
#define THRESHOLD 0x1p-256
#define FACTOR 0x1p256
#define NEGLIGIBLE 0x1p-960
#define LN_FACTOR (256.0 * 0.693147180559945309417232121458)

/// THRESHOLD^count, or 0 if that underflows (kernels/scaling.rs).
__device__ __forceinline__ double factor(u32 count) {
    const double square = THRESHOLD * THRESHOLD;
    double below_two = count == 0 ? 1.0 : THRESHOLD;
    double two_or_three = count == 2 ? square : square * THRESHOLD;
    double below_four = count < 2 ? below_two : two_or_three;
    return count < 4 ? below_four : 0.0;
}

/// Natural logarithm (kernels/elementary.rs, with the coefficients of fdlibm's e_log.c).
__device__ __forceinline__ double natural_log(double x) {
    const u64 sqrt_half = 0x3fe6a09e667f3bcdULL, one = 0x3ff0000000000000ULL;
    const u64 mantissa = 0x000fffffffffffffULL, magic = 0x4330000000000000ULL;
    const double ln2_hi = 6.931471803691238e-1, ln2_lo = 1.9082149292705877e-10;
    u64 shifted = (u64)__double_as_longlong(x) + (one - sqrt_half);
    double k = __longlong_as_double((long long)((shifted >> 52) | magic)) - (4503599627370496.0 + 1023.0);
    double m = __longlong_as_double((long long)((shifted & mantissa) + sqrt_half));
    double f = m - 1.0;
    double s = f / (2.0 + f);
    double z = s * s;
    double r = 1.4798198605116586e-1;
    r = fma(r, z, 1.5313837699209373e-1);
    r = fma(r, z, 1.818357216161805e-1);
    r = fma(r, z, 2.2222198432149784e-1);
    r = fma(r, z, 2.857142874366239e-1);
    r = fma(r, z, 3.999999999940942e-1);
    r = fma(r, z, 6.666666666666735e-1);
    r = r * z;
    double half_square = 0.5 * f * f;
    double tail = fma(s, half_square + r, k * ln2_lo);
    double value = k * ln2_hi - ((half_square - tail) - f);
    return x > 0.0 ? value : -__longlong_as_double(0x7ff0000000000000LL);
}

/// exp(x) - 1 (kernels/elementary.rs).
__device__ __forceinline__ double exp_minus_one(double given) {
    const double log2_e = 1.44269504088896340735992468100189214, round = 6755399441055744.0;
    const double ln2_hi = 6.931471803691238e-1, ln2_lo = 1.9082149292705877e-10;
    double x = given > -708.0 ? given : -708.0;
    double rounded = fma(x, log2_e, round);
    double k = rounded - round;
    double r = fma(-k, ln2_lo, fma(-k, ln2_hi, x));
    double q = 1.0 / 6227020800.0;
    q = fma(q, r, 1.0 / 479001600.0);
    q = fma(q, r, 1.0 / 39916800.0);
    q = fma(q, r, 1.0 / 3628800.0);
    q = fma(q, r, 1.0 / 362880.0);
    q = fma(q, r, 1.0 / 40320.0);
    q = fma(q, r, 1.0 / 5040.0);
    q = fma(q, r, 1.0 / 720.0);
    q = fma(q, r, 1.0 / 120.0);
    q = fma(q, r, 1.0 / 24.0);
    q = fma(q, r, 1.0 / 6.0);
    q = fma(q, r, 1.0 / 2.0);
    q = fma(q, r, 1.0);
    q = q * r;
    double power = __longlong_as_double((long long)(((u64)__double_as_longlong(rounded) + 1023ULL) << 52));
    return fma(power, q, power - 1.0);
}

/// A block of patterns of a partition: its first pattern, and its number of patterns with padding (a multiple of 8). And the
/// calling thread's share of the work on it: one pattern, and of what there is to be done for it every `num_shares`-th part.
struct PatternBlock {
    u32 index, offset, len;
    u32 pattern, share, num_shares;

    /// False for threads that only come to the barriers.
    __device__ __forceinline__ bool is_used() const { return pattern < len; }
    /// The first share of a whole block are the threads that have one pattern each.
    __device__ __forceinline__ bool is_first() const { return share == 0 && pattern < len; }

    /// The CTA works on so many patterns (BLOCK or SLICE) from this one on.
    __device__ __forceinline__ void divide(u32 first, u32 count) {
        pattern = first + (threadIdx.x & (count - 1));
        share = threadIdx.x / count;
        num_shares = blockDim.x / count;
    }
};

/// A block on which the CTA works as a whole.
__device__ __forceinline__ PatternBlock pattern_block(const Partition &partition, u32 index) {
    PatternBlock block;
    bool constant = index >= partition.num_site_blocks;
    block.index = index;
    block.offset = constant ? partition.num_site_patterns : index * BLOCK;
    u32 left = (constant ? partition.num_patterns : partition.num_site_patterns) - block.offset;
    block.len = left < BLOCK ? left : BLOCK;
    block.divide(0, BLOCK);
    return block;
}

/// One slice of a block.
__device__ __forceinline__ PatternBlock pattern_slice(const Partition &partition, u32 index, u32 slice) {
    PatternBlock block = pattern_block(partition, index);
    block.divide(slice * SLICE, SLICE);
    return block;
}

/// The block of constant patterns under a correction that is a function of the sum of their likelihoods.
__device__ __forceinline__ bool is_summed(const Partition &partition, u32 block) {
    return partition.correction != 0 && block >= partition.num_site_blocks;
}

/// The job that an item belongs to: the last whose first item is not after it.
template <typename AnyJob>
__device__ __forceinline__ u32 job_of_item(const AnyJob *jobs, u32 num_jobs, u32 item) {
    u32 low = 0, high = num_jobs;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (jobs[middle].first_item <= item) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Sums of COUNT values of each pattern, which the first BLOCK threads have, in the order of the CPU: pattern i is added to partial
/// sum i modulo 8, and the partial sums in a fixed order (`add_lanes`). Only the first COUNT threads write one of the results. All
/// must call it. (In the room, a thread writes only where no other has read since the last barrier.)
template <int COUNT> __device__ __forceinline__ void sums_of_block(const double (&own)[COUNT], double *result) {
    double *values = room(), *lanes = room() + COUNT * BLOCK;
    if (threadIdx.x < BLOCK) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            values[i * BLOCK + threadIdx.x] = own[i];
        }
    }
    __syncthreads();
    if (threadIdx.x < COUNT * LANES) {
        u32 i = threadIdx.x / LANES, lane = threadIdx.x % LANES;
        double sum = 0.0;
#pragma unroll
        for (u32 at = lane; at < BLOCK; at += LANES) {
            sum += values[i * BLOCK + at];
        }
        lanes[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x < COUNT) {
        const double *x = lanes + threadIdx.x * LANES;
        result[threadIdx.x] = ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
    }
    __syncthreads();
}

/// Sizes of the structs, for the host to compare with its own.
extern "C" __global__ void common_sizes(u32 *out) {
    out[0] = sizeof(Partition);
    out[1] = sizeof(Step);
    out[2] = sizeof(Job);
    out[3] = sizeof(MatrixJob);
    out[4] = sizeof(DerivativeJob);
    out[5] = sizeof(TapeHead);
    out[6] = sizeof(Seat);
    out[7] = sizeof(TapeProgram);
    out[8] = sizeof(TapeStep);
    out[9] = sizeof(TapeJob);
    out[10] = sizeof(TapeMatrix);
}
