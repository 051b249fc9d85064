// Fork and join: tasks that do not depend on each other, on several threads.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace bellcrank {

// The caller works too and returns when all tasks are done. Workers take one task after another by a counter, without
// locks, look for new work for some microseconds and then sleep. What a task writes must not depend on who runs it. In
// a process that was forked there are no workers: the caller does all the work.
class ThreadPool {
  public:
    explicit ThreadPool(int threads);  // the caller's included
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return static_cast<int>(workers_.size()) + 1; }

    // Calls task(i) for i = 0 … count − 1, in any order. Tasks throw nothing.
    template <class Task>
    void run(int count, const Task& task) {
        run(count, &task, [](const void* t, int i) { (*static_cast<const Task*>(t))(i); });
    }

  private:
    using Call = void (*)(const void*, int);
    void run(int count, const void* task, Call call);
    void work();
    bool take_one(unsigned round);

    std::vector<std::thread> workers_;
    const int process_;
    const void* task_ = nullptr;
    Call call_ = nullptr;
    alignas(64) std::atomic<unsigned> round_{0};
    alignas(64) std::atomic<unsigned long long> next_{0};  // round, and how many of its tasks are left
    alignas(64) std::atomic<int> done_{0};
    std::atomic<int> asleep_{0};
    std::atomic<bool> ended_{false};
};

// Threads that this process may use at the same time.
int processors();

}  // namespace bellcrank
