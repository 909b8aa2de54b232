// Shared memory of a CTA, and what its team's barriers were.

#pragma once
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

/// (Of the variables of all kernels together; a kernel has fewer.)
constexpr size_t SHARED_BYTES = 96 << 10;

/// Most numbers of shared variables and barriers, which have one counter.
constexpr size_t NUMBERS = 4096;

/// Where the shared variable of a number begins in the memory of every CTA. Asked by every thread of every CTA: without a lock,
/// once the variable has its place.
inline size_t place_of_shared(int number, size_t bytes) {
    // One more than the place; 0: none so far.
    static std::atomic<size_t> places[NUMBERS];
    static std::mutex mutex;
    static size_t next;
    if (static_cast<size_t>(number) >= NUMBERS) {
        std::fprintf(stderr, "emulator: too many shared variables\n");
        std::abort();
    }
    std::atomic<size_t> &place = places[static_cast<size_t>(number)];
    size_t found = place.load(std::memory_order_acquire);
    if (found != 0) {
        return found - 1;
    }
    std::lock_guard<std::mutex> lock(mutex);
    if (place.load(std::memory_order_relaxed) == 0) {
        place.store(next + 1, std::memory_order_release);
        next += (bytes + 15) / 16 * 16;
        if (next > SHARED_BYTES) {
            std::fprintf(stderr, "emulator: too much shared memory\n");
            std::abort();
        }
    }
    return place.load(std::memory_order_relaxed) - 1;
}

/// Memory in which every number is NaN.
inline std::vector<char> new_shared() { return std::vector<char>(SHARED_BYTES, '\xff'); }

/// Ends the process if the CTAs of a team are at different barriers.
class Barriers {
    std::mutex mutex;
    std::map<std::pair<unsigned *, unsigned>, int> places;

  public:
    void note(unsigned *counter, unsigned expected, int place) {
        std::lock_guard<std::mutex> lock(mutex);
        if (places.emplace(std::make_pair(counter, expected), place).first->second != place) {
            std::fprintf(stderr, "emulator: CTAs of a team wait at different barriers\n");
            std::abort();
        }
    }
    void clear() { places.clear(); }
};
