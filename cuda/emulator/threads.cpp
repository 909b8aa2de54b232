// The threads of a CTA as threads of the operating system, in place of fibers.cpp: compiled with a thread sanitizer, it shows
// races between the threads of a CTA, and in a cooperative launch of all CTAs, wherever no barrier is between two accesses. Much slower than fibers.
//
//     c++ -std=c++17 -O1 -g -fsanitize=thread -DTHREADS_OF_THE_SYSTEM -ffp-contract=off -fPIC -shared driver.cpp threads.cpp

#include "fibers.h"
#include "shared.h"
#include "words.h"
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <thread>

thread_local Index threadIdx, blockIdx;
Index blockDim, gridDim;

namespace {

/// What a thread brought to a barrier.
struct Brought {
    int place;
    bool value;
};

/// Threads that run a CTA, or one CTA after the other.
struct Cta {
    pthread_barrier_t barrier;
    std::vector<Brought> brought;
    std::vector<char> shared;
};

const std::function<void()> *kernel;
thread_local Cta *cta;
Barriers barriers;

void wait() { pthread_barrier_wait(&cta->barrier); }

/// What each thread does: its part of some CTAs, one after the other.
void run_thread(Cta *own, unsigned thread, unsigned first, unsigned count, bool is_reversed) {
    cta = own;
    threadIdx = {is_reversed ? blockDim.x - 1 - thread : thread, 0, 0};
    for (unsigned number = first; number < first + count; number++) {
        blockIdx = {is_reversed ? gridDim.x - 1 - number : number, 0, 0};
        wait();
        (*kernel)();
        wait();
    }
}

} // namespace

bool emulated_barrier(int place, bool value) {
    cta->brought[threadIdx.x] = {place, value};
    wait();
    bool any = false;
    for (const Brought &other : cta->brought) {
        if (other.place != place) {
            std::fprintf(stderr, "emulator: threads wait at different barriers in CTA %u\n", blockIdx.x);
            std::abort();
        }
        any = any || other.value;
    }
    wait();
    return any;
}

void *emulated_shared(int number, size_t bytes) { return cta->shared.data() + place_of_shared(number, bytes); }

void note_barrier(unsigned *counter, unsigned expected, int place) { barriers.note(counter, expected, place); }

void wait_for_count(unsigned *counter, unsigned value) {
    while (static_cast<int>(__atomic_load_n(counter, __ATOMIC_ACQUIRE) - value) < 0) {
        sched_yield();
    }
}

void run_grid(unsigned num_ctas, unsigned num_threads, bool is_cooperative, bool is_reversed,
              const std::function<void()> &given) {
    kernel = &given;
    gridDim = {num_ctas, 1, 1};
    blockDim = {num_threads, 1, 1};
    unsigned together = is_cooperative ? num_ctas : 1;
    std::vector<std::unique_ptr<Cta>> ctas;
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < together; number++) {
        ctas.push_back(std::make_unique<Cta>());
        Cta *own = ctas.back().get();
        own->brought.assign(num_threads, {});
        own->shared = new_shared();
        pthread_barrier_init(&own->barrier, nullptr, num_threads);
        for (unsigned thread = 0; thread < num_threads; thread++) {
            threads.emplace_back(run_thread, own, thread, number, num_ctas / together, is_reversed);
        }
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (std::unique_ptr<Cta> &own : ctas) {
        pthread_barrier_destroy(&own->barrier);
    }
    barriers.clear();
}
