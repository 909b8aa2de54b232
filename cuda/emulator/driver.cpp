// A stand-in for libcuda.so.1 in tests: the calls of NVIDIA's driver that mlsearch makes, with the emulated kernels.
//
// Switches in the environment: STAND_IN_GPUS (1; 0: no GPU), STAND_IN_CAPABILITY (90, as 10 * major + minor),
// STAND_IN_MEMORY (bytes per GPU), STAND_IN_LAUNCHES (launches after which a GPU is lost), STAND_IN_MULTIPROCESSORS (3),
// STAND_IN_THREADS (128; most threads of a CTA, 128, 256 or 512),
// STAND_IN_COOPERATIVE (1; 0: no cooperative launches), STAND_IN_POOLS (1; 0: no memory pools), STAND_IN_WRONG (1: one bit of what is copied back is wrong),
// STAND_IN_REVERSED (1: threads run in the opposite order), STAND_IN_FAULT (the name of a call that fails), STAND_IN_COUNT (a file to which the
// number of launches and copies is written at the end).
//
// It refuses what a GPU refuses: kernels that are not in the PTX that was loaded, or for newer GPUs; launches of more threads than a kernel is
// compiled for, or of more waiting CTAs than fit; copies beyond an allocation. What writes beyond an allocation ends the process.

#include "words.h"

#include "../kernels.cu"
#include "../probe.cu"

#include "../distances.cu"
#include "fibers.h"
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using Status = int;
using Pointer = unsigned long long;
using Handle = void *;

enum : Status { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, NO_BINARY = 209,
               UNSUPPORTED_PTX = 222, NOT_FOUND = 500, LAUNCH_FAILED = 719, TOO_LARGE = 720, NOT_SUPPORTED = 801, UNKNOWN = 999 };

/// Most CTAs that are on a multiprocessor at the same time.
constexpr int RESIDENT = 2;
/// Most threads of a CTA of a kernel that does not say.
constexpr int THREADS_OF_ANY_KERNEL = 1024;
/// The version of CUDA that the driver is for, and of the PTX that it accepts (times 10).
constexpr int DRIVER = 12000, PTX_VERSION = 80;
/// Bytes before and after each allocation that nobody may write, and what they hold.
constexpr size_t GUARD = 256;
constexpr unsigned char GUARDED = 0xa5;

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

/// A kernel of a module.
struct Function {
    const Binder *kernel;
    /// Of a CTA, and CTAs of so many threads that are on a multiprocessor together (`.maxntid`, `.minnctapersm`).
    int most_threads, least_ctas;

    /// CTAs of so many threads that are on a multiprocessor at the same time: those for which the compiler has spared registers.
    int resident(int threads) const { return std::min(RESIDENT, threads > 0 ? most_threads * least_ctas / threads : 0); }
};

/// The kernels of a text in PTX, as far as the emulator has them.
using Module = std::map<std::string, Function>;
std::vector<std::unique_ptr<Module>> modules;

/// The number that follows a word after a place, and before another one.
int number_after(const std::string &text, const char *word, size_t from, size_t end, int otherwise) {
    size_t at = text.find(word, from);
    return at < end ? std::atoi(text.c_str() + at + std::strlen(word)) : otherwise;
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
    char *memory = static_cast<char *>(std::aligned_alloc(GUARD, (bytes + 3 * GUARD) / GUARD * GUARD));
    std::memset(memory, GUARDED, GUARD);
    // Every number that is read before it was written is NaN.
    std::memset(memory + GUARD, 0xff, bytes);
    std::memset(memory + GUARD + bytes, GUARDED, GUARD);
    *out = reinterpret_cast<Pointer>(memory + GUARD);
    allocations[*out] = {device, bytes};
    used[device] += bytes;
    return SUCCESS;
}

/// Ends the process if something was written before or after an allocation.
void check_guards(Pointer pointer, size_t bytes) {
    const unsigned char *memory = reinterpret_cast<const unsigned char *>(pointer);
    for (size_t i = 0; i < GUARD; i++) {
        if (memory[i - GUARD] != GUARDED || memory[bytes + i] != GUARDED) {
            std::fprintf(stderr, "stand-in: something was written beyond an allocation of %zu bytes\n", bytes);
            std::abort();
        }
    }
}

/// True if so many bytes at an address are one allocation's.
bool is_allocated(Pointer pointer, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    auto next = allocations.upper_bound(pointer);
    if (next == allocations.begin()) {
        return false;
    }
    auto [start, allocation] = *std::prev(next);
    return pointer + bytes <= start + allocation.second;
}

/// True if the environment says that this call fails.
bool is_faulty(const char *call) {
    const char *name = std::getenv("STAND_IN_FAULT");
    return name && std::strcmp(name, call) == 0;
}

Status release(Pointer pointer) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = allocations.find(pointer);
    if (found == allocations.end()) {
        return INVALID_VALUE;
    }
    used[found->second.first] -= found->second.second;
    check_guards(pointer, found->second.second);
    std::free(reinterpret_cast<void *>(pointer - GUARD));
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

Status launch(Handle handle, unsigned ctas, unsigned threads, bool is_cooperative, void **arguments) {
    const Function &function = *static_cast<const Function *>(handle);
    if (ctas == 0 || threads == 0 || threads > static_cast<unsigned>(function.most_threads)) {
        return INVALID_VALUE;
    }
    if (is_cooperative && ctas > function.resident(static_cast<int>(threads)) * number("STAND_IN_MULTIPROCESSORS", 3)) {
        return TOO_LARGE;
    }
    std::lock_guard<std::mutex> lock(mutex);
    long limit = number("STAND_IN_LAUNCHES", -1);
    is_lost = is_lost || (limit >= 0 && launches >= limit);
    if (is_lost) {
        return LAUNCH_FAILED;
    }
    launches++;
    bool is_reversed = number("STAND_IN_REVERSED", 0) != 0;
    run_grid(ctas, threads, is_cooperative, is_reversed, (*function.kernel)(arguments));
    for (auto &[pointer, allocation] : allocations) {
        check_guards(pointer, allocation.second);
    }
    return SUCCESS;
}

} // namespace

#define FAILS(call)                                                                                               \
    if (is_faulty(#call)) {                                                                                       \
        return UNKNOWN;                                                                                           \
    }

extern "C" {

Status cuInit(unsigned) {
    FAILS(cuInit)
    return number("STAND_IN_GPUS", 1) == 0 ? NO_DEVICE : SUCCESS;
}
Status cuDriverGetVersion(int *version) {
    FAILS(cuDriverGetVersion)
    *version = DRIVER;
    return SUCCESS;
}
Status cuDeviceGetCount(int *count) {
    FAILS(cuDeviceGetCount)
    *count = static_cast<int>(number("STAND_IN_GPUS", 1));
    return SUCCESS;
}
Status cuDeviceGet(int *out, int ordinal) {
    FAILS(cuDeviceGet)
    *out = ordinal;
    return ordinal < number("STAND_IN_GPUS", 1) ? SUCCESS : INVALID_DEVICE;
}
Status cuDeviceGetName(char *out, int length, int) {
    FAILS(cuDeviceGetName)
    std::snprintf(out, static_cast<size_t>(length), "stand-in");
    return SUCCESS;
}
Status cuDeviceGetAttribute(int *out, int attribute, int) {
    FAILS(cuDeviceGetAttribute)
    long capability = number("STAND_IN_CAPABILITY", 90);
    switch (attribute) {
    case 1: *out = static_cast<int>(number("STAND_IN_THREADS", 128)); break;
    case 16: *out = static_cast<int>(number("STAND_IN_MULTIPROCESSORS", 3)); break;
    case 115: *out = static_cast<int>(number("STAND_IN_POOLS", 1)); break;
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
    FAILS(cuDevicePrimaryCtxRetain)
    *out = &contexts[ordinal];
    return SUCCESS;
}
Status cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
Status cuCtxSetCurrent(Handle context) {
    FAILS(cuCtxSetCurrent)
    device = context ? static_cast<int>(static_cast<int *>(context) - contexts) : 0;
    return SUCCESS;
}
Status cuCtxGetCurrent(Handle *out) {
    *out = &contexts[device];
    return SUCCESS;
}
Status cuCtxSynchronize() {
    FAILS(cuCtxSynchronize)
    return lost();
}
Status cuMemGetInfo_v2(size_t *free, size_t *total) {
    FAILS(cuMemGetInfo)
    std::lock_guard<std::mutex> lock(mutex);
    *total = capacity();
    *free = capacity() - used[device];
    return SUCCESS;
}
Status cuMemAlloc_v2(Pointer *out, size_t bytes) {
    FAILS(cuMemAlloc)
    return allocate(out, bytes);
}
Status cuMemAllocAsync(Pointer *out, size_t bytes, Handle) {
    FAILS(cuMemAllocAsync)
    return number("STAND_IN_POOLS", 1) ? allocate(out, bytes) : NOT_SUPPORTED;
}
Status cuMemFree_v2(Pointer pointer) { return release(pointer); }
Status cuMemFreeAsync(Pointer pointer, Handle) { return release(pointer); }
Status cuMemcpyHtoD_v2(Pointer to, const void *from, size_t bytes) {
    FAILS(cuMemcpyHtoD)
    return !is_allocated(to, bytes) ? INVALID_VALUE : copy(reinterpret_cast<void *>(to), from, bytes);
}
Status cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes, Handle) {
    FAILS(cuMemcpyHtoDAsync)
    return !is_allocated(to, bytes) ? INVALID_VALUE : copy(reinterpret_cast<void *>(to), from, bytes);
}
Status cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes, Handle) {
    FAILS(cuMemcpyDtoHAsync)
    if (!is_allocated(from, bytes)) {
        return INVALID_VALUE;
    }
    Status status = copy(to, reinterpret_cast<void *>(from), bytes);
    // Of numbers, not of the sizes of structs.
    if (number("STAND_IN_WRONG", 0) != 0 && bytes >= 64) {
        static_cast<char *>(to)[5] ^= 1;
    }
    return status;
}
Status cuMemsetD8Async(Pointer to, unsigned char value, size_t bytes, Handle) {
    FAILS(cuMemsetD8Async)
    if (!is_allocated(to, bytes)) {
        return INVALID_VALUE;
    }
    std::memset(reinterpret_cast<void *>(to), value, bytes);
    return lost();
}
Status cuStreamCreate(Handle *out, unsigned) {
    FAILS(cuStreamCreate)
    *out = std::malloc(1);
    return SUCCESS;
}
Status cuStreamDestroy_v2(Handle stream) {
    std::free(stream);
    return SUCCESS;
}
Status cuStreamSynchronize(Handle) {
    FAILS(cuStreamSynchronize)
    return lost();
}
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
    FAILS(cuModuleLoadData)
    std::string text(static_cast<const char *>(image));
    auto found = std::make_unique<Module>();
    const char *version = std::strstr(text.c_str(), "\n.version ");
    if (!version || std::atof(version + std::strlen("\n.version ")) * 10.0 > PTX_VERSION + 0.5) {
        return UNSUPPORTED_PTX;
    }
    if (number_after(text, "\n.target sm_", 0, std::string::npos, 0) > number("STAND_IN_CAPABILITY", 90)) {
        return NO_BINARY;
    }
    const std::string entry = ".entry ";
    for (size_t at = text.find(entry); at != std::string::npos; at = text.find(entry, at + 1)) {
        size_t name = at + entry.size(), parameters = text.find('(', name), body = text.find('{', name);
        auto kernel = kernels().find(text.substr(name, parameters - name));
        if (kernel != kernels().end()) {
            int most_threads = number_after(text, ".maxntid ", name, body, THREADS_OF_ANY_KERNEL);
            (*found)[kernel->first] = {&kernel->second, most_threads, number_after(text, ".minnctapersm ", name, body, RESIDENT)};
        }
    }
    std::lock_guard<std::mutex> lock(mutex);
    *out = found.get();
    modules.push_back(std::move(found));
    return SUCCESS;
}
Status cuModuleUnload(Handle) { return SUCCESS; }
Status cuModuleGetFunction(Handle *out, Handle module, const char *name) {
    FAILS(cuModuleGetFunction)
    auto found = static_cast<Module *>(module)->find(name);
    if (found == static_cast<Module *>(module)->end()) {
        return NOT_FOUND;
    }
    *out = &found->second;
    return SUCCESS;
}
Status cuFuncGetAttribute(int *out, int, Handle) {
    *out = 0;
    return SUCCESS;
}
Status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, Handle function, int threads, size_t, unsigned) {
    FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
    *out = static_cast<const Function *>(function)->resident(threads);
    return SUCCESS;
}
Status cuLaunchKernel(Handle function, unsigned x, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned,
                      Handle, void **arguments, void **) {
    FAILS(cuLaunchKernel)
    return launch(function, x, threads, false, arguments);
}
Status cuLaunchCooperativeKernel(Handle function, unsigned x, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                                 unsigned, Handle, void **arguments) {
    FAILS(cuLaunchCooperativeKernel)
    return launch(function, x, threads, true, arguments);
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
