// The threads of a CTA as fibers: stacks between which one operating-system thread switches at barriers.
//
// A fiber runs one thread of the CTA after the other, until one of them reaches a barrier; that thread keeps the fiber, and
// another fiber takes the next thread. A kernel without barriers therefore runs on a single fiber, as a plain loop.
//
// The CTAs of a cooperative launch are fibers, too, each with its own fibers for its threads: a thread that waits for other
// CTAs lets the next CTA run.

#include "fibers.h"
#include "shared.h"
#include "words.h"
#include <memory>
#include <sys/mman.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

Index threadIdx, blockIdx, blockDim, gridDim;

namespace {

constexpr size_t STACK = 256 << 10;
/// Stacks begin at different distances from a page, up to this: otherwise what all of them use most would compete for the same
/// places in the caches.
constexpr size_t SPREAD = 64 << 10, STEP = 17 * 64;

#ifdef __x86_64__
// Saves the callee-saved registers on the present stack, and continues on the other. (The system's `swapcontext` makes a
// system call each time, which takes 20 times as long.)
extern "C" void switch_stacks(void **save, void *load);
asm(R"(
.text
.globl switch_stacks
.hidden switch_stacks
.type switch_stacks, @function
switch_stacks:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size switch_stacks, .-switch_stacks
)");
struct Context {
    void *stack_pointer;
    void start(void *stack, void (*entry)()) {
        void **top = reinterpret_cast<void **>(static_cast<char *>(stack) + STACK);
        *--top = nullptr;
        *--top = reinterpret_cast<void *>(entry);
        for (int i = 0; i < 6; i++) {
            *--top = nullptr;
        }
        stack_pointer = top;
    }
    void switch_to(Context &other) { switch_stacks(&stack_pointer, other.stack_pointer); }
};
#else
struct Context {
    ucontext_t context;
    void start(void *stack, void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
    }
    void switch_to(Context &other) { swapcontext(&context, &other.context); }
};
#endif

struct Fiber {
    void *stack;
    Context context;
    /// The CTA's thread that waits at a barrier.
    unsigned thread;
};

/// A CTA that runs.
struct Cta {
    Index index;
    unsigned next_thread;
    std::vector<Fiber *> fibers;
    Fiber *current;
    /// Whether threads are being started; later, the fiber of this position runs.
    bool is_starting;
    size_t position;
    /// The threads that have come to the next barrier, and which one it is.
    size_t num_waiting;
    int place;
    bool any_now, any_before;
    std::vector<char> shared;
    /// Where its threads go when they wait or have ended.
    Context scheduler;
    /// In a cooperative launch: its own stack, where it goes on after waiting for others, and whether it has ended.
    void *stack;
    Context *goes_on;
    Index thread_then;
    bool has_ended;
};

const std::function<void()> *kernel;
bool is_reversed, is_cooperative;
Cta *cta;
/// The CTAs of earlier launches, whose stacks are used again.
std::vector<std::unique_ptr<Cta>> ctas;
/// In a cooperative launch: where CTAs go when they wait for others, and whether any has done something since.
Context grid_scheduler;
bool has_progressed;
Barriers barriers;

unsigned position_of(unsigned number) { return is_reversed ? blockDim.x - 1 - number : number; }

[[noreturn]] void complain(const char *what) {
    std::fprintf(stderr, "emulator: %s in CTA %u\n", what, blockIdx.x);
    std::abort();
}

/// Lets the processor fetch what a fiber needs first: its registers, and what its thread used last. (The stacks of all threads of a
/// CTA do not fit into the nearest cache.)
void fetch_soon(const Fiber *fiber) {
#ifdef __x86_64__
    constexpr int LINE = 64, NUM_LINES = 4;
    const char *top = static_cast<const char *>(fiber->context.stack_pointer);
    for (int i = 0; i < NUM_LINES; i++) {
        __builtin_prefetch(top + i * LINE);
    }
#else
    (void)fiber;
#endif
}

/// Lets the next fiber run, without a detour through the scheduler if its thread has been started.
void give_way(Fiber *own) {
    if (cta->is_starting || ++cta->position == blockDim.x) {
        own->context.switch_to(cta->scheduler);
        return;
    }
    if (cta->position + 2 < blockDim.x) {
        fetch_soon(cta->fibers[cta->position + 2]);
    }
    Fiber *next = cta->fibers[cta->position];
    cta->current = next;
    threadIdx.x = next->thread;
    own->context.switch_to(next->context);
}

/// What a fiber does: threads, until none is left.
void run_threads() {
    for (;;) {
        while (cta->next_thread < blockDim.x) {
            threadIdx.x = position_of(cta->next_thread++);
            (*kernel)();
        }
        give_way(cta->current);
    }
}

void *new_stack() {
    static size_t count;
    void *stack = mmap(nullptr, STACK + SPREAD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) {
        std::fprintf(stderr, "emulator: no memory for stacks\n");
        std::abort();
    }
    return static_cast<char *>(stack) + count++ * STEP % SPREAD;
}

Fiber *new_fiber() {
    Fiber *fiber = new Fiber;
    fiber->stack = new_stack();
    return fiber;
}

void resume(Fiber *fiber) {
    cta->current = fiber;
    cta->scheduler.switch_to(fiber->context);
}

/// All threads of the present CTA.
void run_cta() {
    std::vector<Fiber *> &fibers = cta->fibers;
    std::fill(cta->shared.begin(), cta->shared.end(), '\xff');
    cta->next_thread = 0;
    cta->num_waiting = 0;
    cta->any_now = false;
    cta->is_starting = true;
    while (cta->next_thread < blockDim.x) {
        if (cta->num_waiting == fibers.size()) {
            fibers.push_back(new_fiber());
        }
        Fiber *fiber = fibers[cta->num_waiting];
        fiber->context.start(fiber->stack, run_threads);
        resume(fiber);
    }
    cta->is_starting = false;
    while (cta->num_waiting > 0) {
        if (cta->num_waiting < blockDim.x) {
            complain("some threads ended while others wait at a barrier");
        }
        cta->any_before = cta->any_now;
        cta->any_now = false;
        cta->num_waiting = 0;
        cta->position = 0;
        threadIdx.x = fibers[0]->thread;
        resume(fibers[0]);
    }
}

/// What the fiber of a CTA does in a cooperative launch.
void run_cta_of_grid() {
    run_cta();
    cta->has_ended = true;
    cta->scheduler.switch_to(grid_scheduler);
}

void make_ctas(size_t count) {
    while (ctas.size() < count) {
        ctas.push_back(std::make_unique<Cta>());
        ctas.back()->shared = new_shared();
        ctas.back()->stack = nullptr;
    }
}

/// All CTAs, of which each runs until it ends or waits for others.
void run_together(unsigned num_ctas) {
    make_ctas(num_ctas);
    std::vector<Context> starts(num_ctas);
    for (unsigned i = 0; i < num_ctas; i++) {
        Cta &own = *ctas[i];
        own.index = {is_reversed ? num_ctas - 1 - i : i, 0, 0};
        own.stack = own.stack ? own.stack : new_stack();
        starts[i].start(own.stack, run_cta_of_grid);
        own.goes_on = &starts[i];
        own.thread_then = {0, 0, 0};
        own.has_ended = false;
    }
    for (unsigned num_ended = 0; num_ended < num_ctas;) {
        has_progressed = false;
        for (unsigned i = 0; i < num_ctas; i++) {
            if (ctas[i]->has_ended) {
                continue;
            }
            cta = ctas[i].get();
            blockIdx = cta->index;
            threadIdx = cta->thread_then;
            grid_scheduler.switch_to(*cta->goes_on);
            num_ended += cta->has_ended;
            has_progressed = has_progressed || cta->has_ended;
        }
        if (!has_progressed) {
            complain("CTAs of a team wait for others that do not come");
        }
    }
    barriers.clear();
}

} // namespace

bool emulated_barrier(int place, bool value) {
    Fiber *own = cta->current;
    own->thread = threadIdx.x;
    if (cta->num_waiting++ == 0) {
        cta->place = place;
    } else if (cta->place != place) {
        complain("threads wait at different barriers");
    }
    cta->any_now = cta->any_now || value;
    give_way(own);
    return cta->any_before;
}

void *emulated_shared(int number, size_t bytes) { return cta->shared.data() + place_of_shared(number, bytes); }

void note_barrier(unsigned *counter, unsigned expected, int place) {
    if (!is_cooperative) {
        complain("CTAs wait for each other in a launch that is not cooperative");
    }
    barriers.note(counter, expected, place);
    has_progressed = true;
}

void wait_for_count(unsigned *counter, unsigned value) {
    while (static_cast<int>(*counter - value) < 0) {
        Fiber *own = cta->current;
        cta->goes_on = &own->context;
        cta->thread_then = threadIdx;
        own->context.switch_to(grid_scheduler);
    }
}

void run_grid(unsigned num_ctas, unsigned num_threads, bool cooperative, bool reversed,
              const std::function<void()> &given) {
    kernel = &given;
    is_reversed = reversed;
    is_cooperative = cooperative;
    gridDim = {num_ctas, 1, 1};
    blockDim = {num_threads, 1, 1};
    if (cooperative) {
        run_together(num_ctas);
        return;
    }
    make_ctas(1);
    cta = ctas[0].get();
    for (unsigned i = 0; i < num_ctas; i++) {
        blockIdx = {reversed ? num_ctas - 1 - i : i, 0, 0};
        threadIdx = {0, 0, 0};
        run_cta();
    }
}
