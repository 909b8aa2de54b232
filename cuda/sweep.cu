// Sweeps of Newton-Raphson in one launch: mirrors src/library/likelihood/engine/newton.rs (`run_sweep`, `run_trials`).
//
// The host records the sweeps of a call on a tape (`TapeHead` in common.cuh; src/library/likelihood/cuda/tape.rs). Each sweep is run
// by a team of CTAs, which share the blocks of a step's partitions:
//
//     for each step:
//         P-matrices of the updates, at the present lengths                              barrier
//         updates and sumtables                                                          barrier, if by slices of blocks
//         until Newton-Raphson has ended: value and derivatives of the blocks            barrier
//                                         their sums, and the next length
//     P-matrices of the last edges                                                       barrier
//     likelihoods of their blocks, which the host adds up
//
// Every CTA of a team adds up the results of all blocks, in the order of the host, and so comes to the same next length
// without being told. The results of an evaluation are kept during the next one, because a slow CTA may still read them.

#pragma once
#include "derivatives.cu"
#include "newton.cuh"

/// Most blocks of a partition whose sums are made by three threads, those of so many partitions at the same time.
#define FEW_BLOCKS 16
#define PARTITIONS_AT_ONCE 40
/// Levels of the tree of sums over so few blocks, and over BLOCK blocks as one, of which a partition has fewer than 2^13.
#define FEW_LEVELS 5
#define LEVELS 13

/// Calls a function for the number of states of a partition: S, or any if S is 0.
#define WITH_STATES(S, partition, function, ...)                                                                       \
    if (S == 4 || (S == 0 && (partition).num_states == 4)) {                                                           \
        function<4>(__VA_ARGS__);                                                                                 \
    } else if (S == 20 || (S == 0 && (partition).num_states == 20)) {                                                  \
        function<20>(__VA_ARGS__);                                                                                \
    } else {                                                                                                      \
        function<64>(__VA_ARGS__);                                                                                \
    }

/// A tape, as a CTA reads it, with the CTA's team. It is in shared memory, because registers are few.
struct Tape {
    const Partition *partitions;
    u64 *words;
    const TapeHead *head;
    /// The team's P-matrices.
    double *matrices;
    /// Results of an evaluation and of the one before, each of `half` numbers.
    double *results;
    u64 half;
    /// Which of them is next.
    u32 parity;
    Team team;
    /// What is run now.
    const TapeProgram *program;
    const TapeStep *step;

    template <typename T> __device__ __forceinline__ T *at(u32 word) const { return (T *)(words + word); }
    __device__ __forceinline__ double length(u32 number) const { return read_alike(at<double>(head->lengths) + number); }
};

/// P-matrices and tip tables from `first` on.
template <int S>
__device__ __forceinline__ void tape_matrices(const Tape &tape, u32 first, u32 count) {
    SHARED(double, exponential, [GROUP]);
    const TapeMatrix *all = tape.at<TapeMatrix>(tape.head->matrices);
    for (u32 i = tape.team.rank; i < count; i += tape.team.size) {
        const TapeMatrix &job = all[first + i];
        const Partition &partition = tape.partitions[job.partition];
        double brlen = job.scaler * tape.length(job.length);
        double *table = job.with_table ? tape.matrices + job.table : 0;
        WITH_STATES(S, partition, pmatrices_of_rates, partition, brlen, job.first_rate, tape.matrices + job.matrix, table, exponential)
        __syncthreads();
    }
}

/// Updates and sumtables of the step; by slices of its blocks if the team has more CTAs than there are blocks.
template <int S>
__device__ __forceinline__ void start_tape_step(Tape &tape) {
    const TapeStep &step = *tape.step;
    const TapeJob *jobs = tape.at<TapeJob>(tape.head->jobs) + step.first_job;
    u32 slices = tape.team.size > step.num_items && step.has_slices ? SLICES : 1;
    for (u32 number = tape.team.rank; number < step.num_items * slices; number += tape.team.size) {
        u32 item = number / slices;
        const TapeJob &job = jobs[job_of_item(jobs, step.num_jobs, item)];
        const Partition &partition = tape.partitions[job.partition];
        PatternBlock block = pattern_block(partition, item - job.first_item);
        if (slices > 1) {
            block.divide(number % SLICES * SLICE, SLICE);
        }
        const Step *updates = tape.at<Step>(tape.head->updates) + job.first_step;
        WITH_STATES(S, partition, start_edge, partition, block, updates, job.num_steps, tape.matrices)
    }
    if (slices > 1) {
        tape.team.wait(__LINE__);
    }
}

/// Value and derivatives of the step's blocks when its branch has length t.
template <int S>
__device__ __forceinline__ void tape_derivatives(const Tape &tape, const double &t, double *results) {
    const TapeStep &step = *tape.step;
    const TapeJob *jobs = tape.at<TapeJob>(tape.head->jobs) + step.first_job;
    for (u32 item = tape.team.rank; item < step.num_items; item += tape.team.size) {
        const TapeJob &job = jobs[job_of_item(jobs, step.num_jobs, item)];
        const Partition &partition = tape.partitions[job.partition];
        PatternBlock block = pattern_block(partition, item - job.first_item);
        u32 last = job.first_step + job.num_steps - 1;
        u32 sumtable = tape.at<Step>(tape.head->updates)[last].out_index;
        double rest = tape.length(job.edge) - tape.length(step.branch);
        double brlen = job.scaler * (rest + t);
        double *result = results + (u64)item * DERIVATIVE_NUMBERS;
        WITH_STATES(S, partition, derivatives_of_block, partition, block, sumtable, brlen, result)
    }
}

/// A sum over blocks as the binary tree of the host (`engine/block_sum.rs`). `sums[level]` waits for a partner if the bit of the level is
/// set in the number of blocks so far.
struct BlockSum {
    u32 num_blocks;
    double *sums;

    __device__ __forceinline__ void add(double sum) {
        u32 level = 0;
        for (; num_blocks >> level & 1; level++) {
            sum = sums[level] + sum;
        }
        sums[level] = sum;
        num_blocks++;
    }

    /// The total of the blocks, and of others that follow them if there are any.
    __device__ __forceinline__ double total(bool has_others, double others) const {
        double total = others;
        bool is_first = !has_others;
        for (u32 level = 0; num_blocks >> level; level++) {
            if (num_blocks >> level & 1) {
                total = is_first ? sums[level] : sums[level] + total;
                is_first = false;
            }
        }
        return total;
    }
};

/// Results of the blocks of one partition of a step. Without blocks, all sums are 0.
struct BlockResults {
    const Partition &partition;
    const double *first;
    /// Number of blocks whose results are summands; with the correction, which is one more.
    u32 num_sums, count;

    __device__ __forceinline__ BlockResults(const Tape &tape, const TapeJob &job, const double *results)
        : partition(tape.partitions[job.partition]), first(results + (u64)job.first_item * DERIVATIVE_NUMBERS) {
        num_sums = partition.correction ? partition.num_site_blocks : partition.num_blocks;
        count = num_sums + (partition.correction ? 1 : 0);
    }

    __device__ __forceinline__ double at(u32 block, u32 which) const {
        const double *result = first + (u64)block * DERIVATIVE_NUMBERS;
        return block < num_sums ? result[which] : correction_of_sum(partition.correction, partition.corrected_sites, result, which);
    }
};

/// The chain rule of a partition's factor of lengths.
__device__ __forceinline__ double with_factor(const TapeJob &job, u32 which, double sum) {
    double factor = which == 1 ? job.scaler : job.scaler * job.scaler;
    return which == 0 ? sum : factor * sum;
}

/// Sums over the blocks of a partition that has many. All threads must call it.
__device__ SHARED_CODE void sum_many_blocks(const Tape &tape, const TapeJob &job, const double *results, double (&sums)[3]) {
    double *tree = room();
    SHARED(double, levels, [3][LEVELS]);
    BlockResults blocks(tape, job, results);
    BlockSum whole = {0, levels[threadIdx.x < 3 ? threadIdx.x : 0]};
    for (u32 first = 0; first < blocks.count; first += BLOCK) {
        u32 left = blocks.count - first;
        u32 len = left < BLOCK ? left : BLOCK;
        for (u32 i = threadIdx.x; i < 3 * BLOCK; i += blockDim.x) {
            if (i % BLOCK < len) {
                tree[i] = blocks.at(first + i % BLOCK, i / BLOCK);
            }
        }
        __syncthreads();
        // A sum of 2 * width blocks is where the first of them was, once both halves are complete.
        for (u32 width = 1; width < len; width *= 2) {
            u32 pairs = BLOCK / (2 * width);
            for (u32 i = threadIdx.x; i < 3 * pairs; i += blockDim.x) {
                u32 at = i % pairs * (2 * width);
                if (at + 2 * width <= len) {
                    double *own = tree + i / pairs * BLOCK + at;
                    own[0] = own[0] + own[width];
                }
            }
            __syncthreads();
        }
        if (threadIdx.x < 3) {
            const double *own = tree + threadIdx.x * BLOCK;
            if (len == BLOCK) {
                whole.add(own[0]);
            }
            if (left <= BLOCK) {
                // Sums that have no partner, from the smallest on.
                double rest = 0.0;
                bool has_rest = false;
                for (u32 width = 1; width < BLOCK; width *= 2) {
                    if (len < BLOCK && (len & width)) {
                        double sum = own[len / (2 * width) * (2 * width)];
                        rest = has_rest ? sum + rest : sum;
                        has_rest = true;
                    }
                }
                sums[threadIdx.x] = with_factor(job, threadIdx.x, whole.total(has_rest, rest));
            }
        }
        __syncthreads();
    }
}

/// Sums over the blocks of each partition, then over partitions, in the order of the host. All threads must call it.
__device__ __forceinline__ void sum_tape_derivatives(const Tape &tape, const double *results, double (&total)[3]) {
    const TapeStep &step = *tape.step;
    SHARED(double, of_partition, [PARTITIONS_AT_ONCE][3]);
    SHARED(double, levels, [PARTITIONS_AT_ONCE * 3][FEW_LEVELS]);
    const TapeJob *jobs = tape.at<TapeJob>(tape.head->jobs) + step.first_job;
    u32 number = threadIdx.x / 3, which = threadIdx.x % 3;
    double all = 0.0;
    for (u32 first = 0; first < step.num_jobs; first += PARTITIONS_AT_ONCE) {
        u32 left = step.num_jobs - first;
        u32 count = left < PARTITIONS_AT_ONCE ? left : PARTITIONS_AT_ONCE;
        if (number < count) {
            const TapeJob &job = jobs[first + number];
            BlockResults blocks(tape, job, results);
            if (blocks.count <= FEW_BLOCKS) {
                BlockSum sum = {0, levels[threadIdx.x]};
#pragma unroll 4
                for (u32 block = 0; block < blocks.count; block++) {
                    sum.add(blocks.at(block, which));
                }
                of_partition[number][which] = with_factor(job, which, sum.total(false, 0.0));
            }
        }
        for (u32 i = 0; i < count; i++) {
            const TapeJob &job = jobs[first + i];
            if (BlockResults(tape, job, results).count > FEW_BLOCKS) {
                sum_many_blocks(tape, job, results, of_partition[i]);
            }
        }
        __syncthreads();
        if (threadIdx.x < 3) {
            for (u32 i = 0; i < count; i++) {
                all += of_partition[i][threadIdx.x];
            }
        }
        __syncthreads();
    }
    if (threadIdx.x < 3) {
        total[threadIdx.x] = all;
    }
    __syncthreads();
}

/// The likelihoods of the blocks of one of the last edges.
template <int S>
__device__ SHARED_CODE void score_edge(const Partition &partition, PatternBlock block, const Step &step, const double *matrices,
                                           double *result) {
    Scratch none = {0, 0, 0};
    score<S, double>(partition, block, none, step, matrices, result, 0);
}

/// True if the program ends after its present step, because the log-likelihood of the tree is below the floor then.
__device__ __forceinline__ bool is_below_floor(const Tape &tape, double lnl) {
    const TapeProgram &program = *tape.program;
    u32 number = (u32)(tape.step - tape.at<TapeStep>(tape.head->steps));
    if (number + 1 != program.first_step + program.num_first) {
        return false;
    }
    const double *lnls = tape.at<double>(tape.head->lnls) + program.first_lnl;
    double sum = 0.0;
    for (u32 i = 0; i < program.num_lnls; i++) {
        sum += i == program.replaced ? lnl : lnls[i];
    }
    return sum < program.floor;
}

/// Optimises the branch of the step. False if the program ends with it.
template <int S> __device__ __forceinline__ bool run_step(Tape &tape) {
    SHARED(Newton, newton, );
    SHARED(double, total, [3]);
    SHARED(bool, goes_on, );
    if (tape.step->num_matrices > 0) {
        tape_matrices<S>(tape, tape.step->first_matrix, tape.step->num_matrices);
        tape.team.wait(__LINE__);
    }
    start_tape_step<S>(tape);
    if (threadIdx.x == 0) {
        const TapeProgram &program = *tape.program;
        newton.start(tape.length(tape.step->branch), program.lo, program.hi, program.gain_tolerance);
    }
    __syncthreads();
    while (!newton.is_finished) {
        tape_derivatives<S>(tape, newton.x, tape.results + tape.parity * tape.half);
        tape.team.wait(__LINE__);
        sum_tape_derivatives(tape, tape.results + tape.parity * tape.half, total);
        if (threadIdx.x == 0) {
            newton.tell(total[0], total[1], total[2]);
            tape.parity ^= 1;
        }
        __syncthreads();
    }
    const TapeStep &step = *tape.step;
    double change = newton.best - tape.length(step.branch);
    for (u32 job = threadIdx.x; job < step.num_jobs; job += blockDim.x) {
        const TapeJob &of_partition = tape.at<TapeJob>(tape.head->jobs)[step.first_job + job];
        write_alike(tape.at<double>(tape.head->lengths) + of_partition.edge_after, tape.length(of_partition.edge) + change);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        u64 number = (u64)(tape.step - tape.at<TapeStep>(tape.head->steps));
        double *outcome = tape.at<double>(tape.head->outcomes) + OUTCOME_NUMBERS * number;
        write_alike(outcome, newton.best);
        write_alike(outcome + 1, newton.best_value);
        write_alike(outcome + 2, (double)newton.evaluations);
        goes_on = !is_below_floor(tape, newton.best_value);
        tape.step++;
    }
    __syncthreads();
    return goes_on;
}

/// Evaluates the edges after the last step.
template <int S> __device__ SHARED_CODE void finish_program(Tape &tape) {
    tape_matrices<S>(tape, tape.program->first_matrix, tape.program->num_matrices);
    tape.team.wait(__LINE__);
    for (u32 item = tape.team.rank; item < tape.program->num_finish_items; item += tape.team.size) {
        const TapeJob *jobs = tape.at<TapeJob>(tape.head->jobs) + tape.program->first_finish;
        const TapeJob &job = jobs[job_of_item(jobs, tape.program->num_finish, item)];
        const Partition &partition = tape.partitions[job.partition];
        u32 number = item - job.first_item;
        const Step &edge = tape.at<Step>(tape.head->updates)[job.first_step];
        double *result = tape.at<double>(tape.head->outcomes) + job.results + (u64)number * SCORE_NUMBERS;
        WITH_STATES(S, partition, score_edge, partition, pattern_block(partition, number), edge, tape.matrices, result)
    }
}

/// The same as a function, for partitions with different numbers of states: all their code in one is too much for the registers.
template <int S> __device__ SHARED_CODE bool run_step_called(Tape &tape) { return run_step<S>(tape); }

/// All programs of a tape, by teams.
template <int S>
__device__ __forceinline__ void run_tape(const Partition *partitions, u64 *words, double *matrices, double *results) {
    SHARED(Tape, tape, );
    if (threadIdx.x == 0) {
        const TapeHead *head = (const TapeHead *)words;
        const Seat &seat = ((const Seat *)(words + head->seats))[blockIdx.x];
        u32 *counter = (u32 *)(words + head->counters) + seat.team;
        tape.partitions = partitions;
        tape.words = words;
        tape.head = head;
        tape.matrices = matrices + seat.matrices;
        tape.results = results + seat.results;
        tape.half = seat.half;
        tape.parity = 0;
        tape.team = {seat.rank, seat.size, counter, 0};
    }
    __syncthreads();
    const Seat &seat = tape.at<Seat>(tape.head->seats)[blockIdx.x];
    for (u32 number = seat.team; number < tape.head->num_programs; number += tape.head->num_teams) {
        if (threadIdx.x == 0) {
            tape.program = tape.at<TapeProgram>(tape.head->programs) + number;
            tape.step = tape.at<TapeStep>(tape.head->steps) + tape.program->first_step;
        }
        __syncthreads();
        bool goes_on = true;
        for (u32 i = 0; goes_on && i < tape.program->num_steps; i++) {
            goes_on = S == 0 ? run_step_called<S>(tape) : run_step<S>(tape);
        }
        if (goes_on && tape.program->num_finish > 0) {
            finish_program<S>(tape);
        }
        // The next program's matrices go where this one's are.
        tape.team.wait(__LINE__);
    }
}

#define SWEEP_OF(name, S)                                                                                         \
    extern "C" __global__ void __launch_bounds__(S == 0 ? MOST_THREADS_OF_ANY : MOST_THREADS, 1)                  \
        sweep_##name(const Partition *partitions, u64 *words, double *matrices, double *results) {                          \
        run_tape<S>(partitions, words, matrices, results);                                                             \
    }
