// A stand-in for libcuda.so.1 in tests: the calls of NVIDIA's driver that mlsearch makes, with the emulated kernels.
//
// Switches in the environment: STAND_IN_GPUS (1; 0: no GPU), STAND_IN_CAPABILITY (90, as 10 * major + minor),
// STAND_IN_MEMORY (bytes per GPU), STAND_IN_LAUNCHES (launches after which a GPU is lost), STAND_IN_MULTIPROCESSORS (3),
// STAND_IN_THREADS (128; most threads of a CTA, 128, 256 or 512),
// STAND_IN_COOPERATIVE (1; 0: no cooperative launches), STAND_IN_WRONG (1: one bit of what is copied back is wrong), STAND_IN_REVERSED (1: threads run in the opposite order), STAND_IN_COUNT (a file to which the number of launches and
// copies is written at the end).

#include "words.h"

#include "../kernels.cu"
#include "../probe.cu"

#include "../distances.cu"
#include "fibers.h"
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

namespace {

using Status = int;
using Pointer = unsigned long long;
using Handle = void *;

enum : Status { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_FOUND = 500, LAUNCH_FAILED = 719, TOO_LARGE = 720 };

/// CTAs that are on a multiprocessor at the same time.
constexpr int RESIDENT = 2;

long number(const char *name, long otherwise) {
    const char *text = std::getenv(name);
    return text ? std::atol(text) : otherwise;
}

using Kernel = std::function<void()>;
using Binder = std::function<Kernel(void **)>;

template <class... A, size_t... I>
Kernel with_arguments(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    std::tuple<A...> values(*static_cast<A *>(arguments[I])...);
    return [kernel, values] { kernel(std::get<I>(values)...); };
}

template <class... A> Binder binder(void (*kernel)(A...)) {
    return [kernel](void **arguments) { return with_arguments(kernel, arguments, std::index_sequence_for<A...>{}); };
}

std::map<std::string, Binder> &kernels() {
#define OF_STATES(name) {#name "_4", binder(name##_4)}, {#name "_20", binder(name##_20)}, {#name "_64", binder(name##_64)}
    static std::map<std::string, Binder> all = {
        OF_STATES(pmatrix), OF_STATES(partials), OF_STATES(likelihood), OF_STATES(likelihood_single), OF_STATES(derivatives_sumtable),
        OF_STATES(derivatives), OF_STATES(sweep), {"sweep_any", binder(sweep_any)},
        {"probe_nothing", binder(probe_nothing)}, {"probe_copy", binder(probe_copy)}, {"probe_fma", binder(probe_fma)},
        {"probe_fma_single", binder(probe_fma_single)},
        {"probe_barriers", binder(probe_barriers)}, {"common_sizes", binder(common_sizes)},
    };
#undef OF_STATES
    all.insert({{"pair_distances_7", binder(pair_distances_7)}, {"pair_distances_10", binder(pair_distances_10)},
                {"pair_distances_any", binder(pair_distances_any)}, {"distances_sizes", binder(distances_sizes)}});
    return all;
}

std::mutex mutex;
std::map<Pointer, std::pair<int, size_t>> allocations;
std::map<int, size_t> used;
thread_local int device;
int contexts[64];
long launches, copies;
std::atomic<bool> is_lost;

/// Ends the process's use of the stand-in with its counts.
struct Count {
    ~Count() {
        const char *path = std::getenv("STAND_IN_COUNT");
        std::FILE *file = path ? std::fopen(path, "w") : nullptr;
        if (file) {
            std::fprintf(file, "%ld launches, %ld copies\n", launches, copies);
            std::fclose(file);
        }
    }
} count_at_end;

size_t capacity() { return static_cast<size_t>(number("STAND_IN_MEMORY", 4L << 30)); }

Status allocate(Pointer *out, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    if (is_lost) {
        return LAUNCH_FAILED;
    }
    if (used[device] + bytes > capacity()) {
        return OUT_OF_MEMORY;
    }
    // Aligned as on a GPU.
    void *memory = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
    // Every number that is read before it was written is NaN.
    std::memset(memory, 0xff, bytes);
    *out = reinterpret_cast<Pointer>(memory);
    allocations[*out] = {device, bytes};
    used[device] += bytes;
    return SUCCESS;
}

Status release(Pointer pointer) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = allocations.find(pointer);
    if (found == allocations.end()) {
        return INVALID_VALUE;
    }
    used[found->second.first] -= found->second.second;
    std::free(reinterpret_cast<void *>(pointer));
    allocations.erase(found);
    return SUCCESS;
}

Status copy(void *to, const void *from, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    copies++;
    if (is_lost) {
        return LAUNCH_FAILED;
    }
    std::memcpy(to, from, bytes);
    return SUCCESS;
}

Status lost() { return is_lost ? LAUNCH_FAILED : SUCCESS; }

Status launch(Handle function, unsigned ctas, unsigned threads, bool is_cooperative, void **arguments) {
    std::lock_guard<std::mutex> lock(mutex);
    long limit = number("STAND_IN_LAUNCHES", -1);
    is_lost = is_lost || (limit >= 0 && launches >= limit);
    if (is_lost) {
        return LAUNCH_FAILED;
    }
    launches++;
    bool is_reversed = number("STAND_IN_REVERSED", 0) != 0;
    run_grid(ctas, threads, is_cooperative, is_reversed, (*static_cast<Binder *>(function))(arguments));
    return SUCCESS;
}

} // namespace

extern "C" {

Status cuInit(unsigned) { return number("STAND_IN_GPUS", 1) == 0 ? NO_DEVICE : SUCCESS; }
Status cuDriverGetVersion(int *version) {
    *version = 12000;
    return SUCCESS;
}
Status cuDeviceGetCount(int *count) {
    *count = static_cast<int>(number("STAND_IN_GPUS", 1));
    return SUCCESS;
}
Status cuDeviceGet(int *out, int ordinal) {
    *out = ordinal;
    return ordinal < number("STAND_IN_GPUS", 1) ? SUCCESS : INVALID_DEVICE;
}
Status cuDeviceGetName(char *out, int length, int) {
    std::snprintf(out, static_cast<size_t>(length), "stand-in");
    return SUCCESS;
}
Status cuDeviceGetAttribute(int *out, int attribute, int) {
    long capability = number("STAND_IN_CAPABILITY", 90);
    switch (attribute) {
    case 1: *out = static_cast<int>(number("STAND_IN_THREADS", 128)); break;
    case 16: *out = static_cast<int>(number("STAND_IN_MULTIPROCESSORS", 3)); break;
    case 95: *out = static_cast<int>(number("STAND_IN_COOPERATIVE", 1)); break;
    case 75: *out = static_cast<int>(capability / 10); break;
    case 76: *out = static_cast<int>(capability % 10); break;
    default: *out = 0;
    }
    return SUCCESS;
}
Status cuDeviceTotalMem_v2(size_t *out, int) {
    *out = capacity();
    return SUCCESS;
}
Status cuDevicePrimaryCtxRetain(Handle *out, int ordinal) {
    *out = &contexts[ordinal];
    return SUCCESS;
}
Status cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
Status cuCtxSetCurrent(Handle context) {
    device = context ? static_cast<int>(static_cast<int *>(context) - contexts) : 0;
    return SUCCESS;
}
Status cuCtxGetCurrent(Handle *out) {
    *out = &contexts[device];
    return SUCCESS;
}
Status cuCtxSynchronize() { return lost(); }
Status cuMemGetInfo_v2(size_t *free, size_t *total) {
    std::lock_guard<std::mutex> lock(mutex);
    *total = capacity();
    *free = capacity() - used[device];
    return SUCCESS;
}
Status cuMemAlloc_v2(Pointer *out, size_t bytes) { return allocate(out, bytes); }
Status cuMemAllocAsync(Pointer *out, size_t bytes, Handle) { return allocate(out, bytes); }
Status cuMemFree_v2(Pointer pointer) { return release(pointer); }
Status cuMemFreeAsync(Pointer pointer, Handle) { return release(pointer); }
Status cuMemcpyHtoD_v2(Pointer to, const void *from, size_t bytes) {
    return copy(reinterpret_cast<void *>(to), from, bytes);
}
Status cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes, Handle) {
    return copy(reinterpret_cast<void *>(to), from, bytes);
}
Status cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes, Handle) {
    Status status = copy(to, reinterpret_cast<void *>(from), bytes);
    // Of numbers, not of the sizes of structs.
    if (number("STAND_IN_WRONG", 0) != 0 && bytes >= 64) {
        static_cast<char *>(to)[5] ^= 1;
    }
    return status;
}
Status cuMemsetD8Async(Pointer to, unsigned char value, size_t bytes, Handle) {
    std::memset(reinterpret_cast<void *>(to), value, bytes);
    return lost();
}
Status cuStreamCreate(Handle *out, unsigned) {
    *out = std::malloc(1);
    return SUCCESS;
}
Status cuStreamDestroy_v2(Handle stream) {
    std::free(stream);
    return SUCCESS;
}
Status cuStreamSynchronize(Handle) { return lost(); }
Status cuStreamWaitEvent(Handle, Handle, unsigned) { return SUCCESS; }
Status cuEventCreate(Handle *out, unsigned) {
    *out = std::malloc(1);
    return SUCCESS;
}
Status cuEventDestroy_v2(Handle event) {
    std::free(event);
    return SUCCESS;
}
Status cuEventRecord(Handle, Handle) { return SUCCESS; }
Status cuEventQuery(Handle) { return SUCCESS; }
Status cuEventSynchronize(Handle) { return SUCCESS; }
Status cuModuleLoadData(Handle *out, const void *image) {
    *out = contexts;
    return image ? SUCCESS : INVALID_VALUE;
}
Status cuModuleUnload(Handle) { return SUCCESS; }
Status cuModuleGetFunction(Handle *out, Handle, const char *name) {
    auto found = kernels().find(name);
    if (found == kernels().end()) {
        return NOT_FOUND;
    }
    *out = &found->second;
    return SUCCESS;
}
Status cuFuncGetAttribute(int *out, int, Handle) {
    *out = 0;
    return SUCCESS;
}
Status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, Handle, int, size_t, unsigned) {
    *out = RESIDENT;
    return SUCCESS;
}
Status cuLaunchKernel(Handle function, unsigned x, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned,
                      Handle, void **arguments, void **) {
    return launch(function, x, threads, false, arguments);
}
Status cuLaunchCooperativeKernel(Handle function, unsigned x, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                                 unsigned, Handle, void **arguments) {
    bool fits = x <= RESIDENT * number("STAND_IN_MULTIPROCESSORS", 3);
    return fits ? launch(function, x, threads, true, arguments) : TOO_LARGE;
}
Status cuGetErrorName(Status, const char **out) {
    *out = "CUDA_ERROR_OF_STAND_IN";
    return SUCCESS;
}
Status cuGetErrorString(Status status, const char **out) {
    *out = status == LAUNCH_FAILED ? "unspecified launch failure" : "error of the stand-in";
    return SUCCESS;
}
}
