// Arrays of doubles for the hot kernels.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bellcrank {

// Aligned to cache lines; large arrays to large pages, which the system is asked for where it leaves the choice.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    static constexpr std::size_t kLine = 64, kLargePage = std::size_t{1} << 21;

    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}

    static std::align_val_t alignment(std::size_t n) {
        return std::align_val_t{n * sizeof(T) < kLargePage ? kLine : kLargePage};
    }
    T* allocate(std::size_t n) {
        void* p = ::operator new(n * sizeof(T), alignment(n));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (n * sizeof(T) >= kLargePage) madvise(p, n * sizeof(T), MADV_HUGEPAGE);
#endif
        return static_cast<T*>(p);
    }
    void deallocate(T* p, std::size_t n) { ::operator delete(p, alignment(n)); }
    friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

using AlignedVector = std::vector<double, AlignedAllocator<double>>;

}  // namespace bellcrank
