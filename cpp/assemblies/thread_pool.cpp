#include "assemblies/thread_pool.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace bellcrank {

namespace {

// Looks at the counter, some 20 µs, before a worker sleeps.
constexpr int kPatience = 4000;
constexpr int kRoundShift = 32;

inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

int processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(int threads) : process_(getpid()) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
    if (getpid() != process_) {
        for (std::thread& worker : workers_) worker.detach();
        return;
    }
    ended_ = true;
    ++round_;
    round_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

// A task of the round, if there is one left. A worker that comes late finds another round's counter and takes none.
bool ThreadPool::take_one(unsigned round) {
    auto next = next_.load(std::memory_order_acquire);
    while (static_cast<unsigned>(next >> kRoundShift) == round) {
        const auto left = static_cast<unsigned>(next);
        if (left == 0) return false;
        if (!next_.compare_exchange_weak(next, next - 1, std::memory_order_acq_rel)) continue;
        call_(task_, static_cast<int>(left) - 1);
        done_.fetch_add(1, std::memory_order_release);
        return true;
    }
    return false;
}

void ThreadPool::run(int count, const void* task, Call call) {
    if (workers_.empty() || count < 2) {
        for (int i = 0; i < count; ++i) call(task, i);
        return;
    }
    task_ = task, call_ = call;
    done_.store(0, std::memory_order_relaxed);
    const unsigned round = round_.load(std::memory_order_relaxed) + 1;
    next_.store((static_cast<unsigned long long>(round) << kRoundShift) + static_cast<unsigned>(count),
                std::memory_order_release);
    round_.store(round, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst) > 0) round_.notify_all();
    while (take_one(round)) {
    }
    while (done_.load(std::memory_order_acquire) < count) pause();
}

void ThreadPool::work() {
    unsigned seen = 0;
    while (true) {
        int looks = 0;
        unsigned round = round_.load(std::memory_order_acquire);
        while (round == seen && ++looks < kPatience) {
            pause();
            round = round_.load(std::memory_order_acquire);
        }
        if (round == seen) {
            asleep_.fetch_add(1, std::memory_order_seq_cst);
            round_.wait(seen);
            asleep_.fetch_sub(1, std::memory_order_seq_cst);
            continue;
        }
        if (ended_) return;
        seen = round;
        while (take_one(round)) {
        }
    }
}

}  // namespace bellcrank
