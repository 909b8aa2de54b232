// The threads of a CTA as fibers: stacks between which one operating-system thread switches at barriers.
//
// A fiber runs one thread of the CTA after the other, until one of them reaches a barrier; that thread keeps the fiber, and
// another fiber takes the next thread. A kernel without barriers therefore runs on a single fiber, as a plain loop.

#include "fibers.h"
#include "words.h"
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <vector>
#ifndef __x86_64__
#include <ucontext.h>
#endif

Index threadIdx, blockIdx, blockDim, gridDim;

namespace {

constexpr size_t STACK = 256 << 10;

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
    /// The CTA's thread that waits at a barrier, and the barrier.
    unsigned thread;
    int place;
};

const std::function<void()> *kernel;
bool is_reversed;
unsigned next_thread;
Context scheduler;
std::vector<Fiber *> fibers;
Fiber *current;
bool is_waiting, any_now, any_before;

unsigned position_of(unsigned number) { return is_reversed ? blockDim.x - 1 - number : number; }

/// What a fiber does: threads, until none is left.
void run_threads() {
    for (;;) {
        while (next_thread < blockDim.x) {
            threadIdx.x = position_of(next_thread++);
            (*kernel)();
        }
        is_waiting = false;
        current->context.switch_to(scheduler);
    }
}

Fiber *new_fiber() {
    Fiber *fiber = new Fiber;
    fiber->stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fiber->stack == MAP_FAILED) {
        std::fprintf(stderr, "emulator: no memory for stacks\n");
        std::abort();
    }
    return fiber;
}

void resume(Fiber *fiber) {
    current = fiber;
    is_waiting = false;
    scheduler.switch_to(fiber->context);
}

[[noreturn]] void complain(const char *what) {
    std::fprintf(stderr, "emulator: %s in CTA %u\n", what, blockIdx.x);
    std::abort();
}

/// All threads of one CTA.
void run_cta() {
    next_thread = 0;
    size_t num_waiting = 0;
    any_now = false;
    while (next_thread < blockDim.x) {
        if (num_waiting == fibers.size()) {
            fibers.push_back(new_fiber());
        }
        Fiber *fiber = fibers[num_waiting];
        fiber->context.start(fiber->stack, run_threads);
        resume(fiber);
        num_waiting += is_waiting;
    }
    while (num_waiting > 0) {
        if (num_waiting < blockDim.x) {
            complain("some threads ended while others wait at a barrier");
        }
        for (size_t i = 1; i < num_waiting; i++) {
            if (fibers[i]->place != fibers[0]->place) {
                complain("threads wait at different barriers");
            }
        }
        any_before = any_now;
        any_now = false;
        size_t still = 0;
        for (size_t i = 0; i < blockDim.x; i++) {
            threadIdx.x = fibers[i]->thread;
            resume(fibers[i]);
            still += is_waiting;
        }
        num_waiting = still;
    }
}

} // namespace

bool emulated_barrier(int place, bool value) {
    Fiber *own = current;
    own->thread = threadIdx.x;
    own->place = place;
    any_now = any_now || value;
    is_waiting = true;
    own->context.switch_to(scheduler);
    return any_before;
}

void run_grid(unsigned num_ctas, unsigned num_threads, bool reversed, const std::function<void()> &given) {
    kernel = &given;
    is_reversed = reversed;
    gridDim = {num_ctas, 1, 1};
    blockDim = {num_threads, 1, 1};
    for (unsigned cta = 0; cta < num_ctas; cta++) {
        blockIdx = {reversed ? num_ctas - 1 - cta : cta, 0, 0};
        threadIdx = {0, 0, 0};
        run_cta();
    }
}
