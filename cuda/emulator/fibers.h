// Runs a kernel as CUDA would, CTA after CTA, with the threads of each as fibers.

#pragma once
#include <functional>

/// Runs `kernel` for all CTAs of a grid; the last thread first if `is_reversed`.
void run_grid(unsigned num_ctas, unsigned num_threads, bool is_reversed, const std::function<void()> &kernel);
