// The threads of a CTA as threads of the operating system, in place of fibers.cpp: compiled with a thread sanitizer, it shows
// races between the threads of a CTA, wherever no barrier is between two accesses. Much slower than fibers.
//
//     c++ -std=c++17 -O1 -g -fsanitize=thread -DTHREADS_OF_THE_SYSTEM -ffp-contract=off -fPIC -shared driver.cpp threads.cpp

#include "fibers.h"
#include "words.h"
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <vector>

thread_local Index threadIdx;
Index blockIdx, blockDim, gridDim;

namespace {

/// What a thread brought to a barrier.
struct Brought {
    int place;
    bool value;
};

const std::function<void()> *kernel;
pthread_barrier_t barrier;
std::vector<Brought> brought;

void wait() { pthread_barrier_wait(&barrier); }

/// What each thread does: its part of all CTAs, one after the other.
void run_thread(unsigned thread, unsigned num_ctas, bool is_reversed) {
    threadIdx = {is_reversed ? blockDim.x - 1 - thread : thread, 0, 0};
    for (unsigned cta = 0; cta < num_ctas; cta++) {
        if (thread == 0) {
            blockIdx = {is_reversed ? num_ctas - 1 - cta : cta, 0, 0};
        }
        wait();
        (*kernel)();
        wait();
    }
}

} // namespace

bool emulated_barrier(int place, bool value) {
    brought[threadIdx.x] = {place, value};
    wait();
    bool any = false;
    for (const Brought &other : brought) {
        if (other.place != place) {
            std::fprintf(stderr, "emulator: threads wait at different barriers in CTA %u\n", blockIdx.x);
            std::abort();
        }
        any = any || other.value;
    }
    wait();
    return any;
}

void run_grid(unsigned num_ctas, unsigned num_threads, bool is_reversed, const std::function<void()> &given) {
    kernel = &given;
    gridDim = {num_ctas, 1, 1};
    blockDim = {num_threads, 1, 1};
    brought.assign(num_threads, {});
    pthread_barrier_init(&barrier, nullptr, num_threads);
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < num_threads; thread++) {
        threads.emplace_back(run_thread, thread, num_ctas, is_reversed);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    pthread_barrier_destroy(&barrier);
}
