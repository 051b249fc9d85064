// A program that can be run: by the interpreter from the first moment, by native code once somebody has supplied it.
// All ways give the same bits, so that they may be exchanged while others evaluate.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "programs/interpreter.hpp"
#include "programs/program.hpp"
#include "programs/tables.hpp"

namespace bellcrank {

// Native code of a program, for one point or for `lanes` points side by side (in[input][lanes] and so on). `in`, `out`
// and `work` do not overlap.
using NativeEntry = void (*)(const double* in, double* out, double* work, const ProgramTables* calls);

class CompiledProgram {
  public:
    // Throws std::invalid_argument for a program that check() refuses.
    explicit CompiledProgram(Program program);
    CompiledProgram(const CompiledProgram&) = delete;
    CompiledProgram& operator=(const CompiledProgram&) = delete;

    const Program& program() const { return program_; }
    int inputs() const { return program_.inputs; }
    int outputs() const { return static_cast<int>(program_.outputs.size()); }
    // Doubles of the caller's workspace; what it holds before and after is of no concern.
    std::size_t work_size() const { return interpreter_.work_size(); }

    // One point: in (inputs), out (outputs), work (work_size), which do not overlap. No allocation, no lock; any number
    // of threads, each with a workspace of its own.
    void evaluate(const double* in, double* out, double* work) const {
        if (const NativeEntry entry = native_.load(std::memory_order_acquire))
            entry(in, out, work, &tables_.calls());
        else
            interpreter_.run(in, out, work, tables_.calls());
    }
    void interpret(const double* in, double* out, double* work) const {
        interpreter_.run(in, out, work, tables_.calls());
    }

    // The outputs at numbers with derivatives, valid until the next call in this thread.
    std::span<const Dual4> tangent(std::span<const Dual4> in) const;

    // Supplies native code; `keeper` keeps it in memory as long as this object lives. lanes: 1, or 4 or 8 for batches.
    void set_native(NativeEntry entry, int lanes, std::shared_ptr<void> keeper);
    bool native() const { return native_.load(std::memory_order_acquire) != nullptr; }
    // Points side by side in the native code for batches; 0: there is none yet.
    int native_lanes() const;

    // Many points at once, on several threads. The first `row` inputs differ from point to point, rows[point][row]; the
    // others are `shared` by all. out[point][outputs]. threads = 0: as many as pay.
    void evaluate_batch(const double* rows, std::size_t points, int row, const double* shared, double* out,
                        int threads = 0, bool use_native = true) const;

  private:
    struct Batch;
    void run_points(const Batch& batch, std::size_t begin, std::size_t end, double* in) const;

    Program program_;
    BoundTables tables_;
    Interpreter interpreter_;
    std::atomic<NativeEntry> native_{nullptr}, native_4_{nullptr}, native_8_{nullptr};
    std::mutex keepers_mutex_;
    std::vector<std::shared_ptr<void>> keepers_;
};

}  // namespace bellcrank
