// Shared memory of a CTA, and what its team's barriers were.

#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

constexpr size_t SHARED_BYTES = 48 << 10;

/// Where the shared variable of a number begins in the memory of every CTA.
inline size_t place_of_shared(int number, size_t bytes) {
    static std::mutex mutex;
    static std::vector<size_t> starts;
    static size_t next;
    std::lock_guard<std::mutex> lock(mutex);
    if (starts.size() <= static_cast<size_t>(number)) {
        starts.resize(static_cast<size_t>(number) + 1, SHARED_BYTES);
    }
    size_t &start = starts[static_cast<size_t>(number)];
    if (start == SHARED_BYTES) {
        start = next;
        next += (bytes + 15) / 16 * 16;
        if (next > SHARED_BYTES) {
            std::fprintf(stderr, "emulator: too much shared memory\n");
            std::abort();
        }
    }
    return start;
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
