// Runs a kernel as CUDA would, with the threads of each CTA as fibers (fibers.cpp) or threads of the system (threads.cpp).

#pragma once
#include <functional>

/// Runs `kernel` for all CTAs of a grid, one after the other, or at the same time if `is_cooperative`; the last thread and CTA
/// first if `is_reversed`.
void run_grid(unsigned num_ctas, unsigned num_threads, bool is_cooperative, bool is_reversed,
              const std::function<void()> &kernel);
