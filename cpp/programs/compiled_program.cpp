#include "programs/compiled_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "interruption/interruption.hpp"

namespace bellcrank {

namespace {

Program checked(Program program) {
    check(program);
    return program;
}

// A thread costs some tens of microseconds to start; each shall have at least this many operations to do.
constexpr double kOperationsPerThread = 1e6;

constexpr std::size_t kAlign = 8;  // doubles; for whole vectors

}  // namespace

struct CompiledProgram::Batch {
    const double* rows;
    std::size_t row;
    const double* shared;
    double* out;
    int block;          // points side by side
    NativeEntry entry;  // null: the interpreter
    const std::atomic<bool>* ended = nullptr;
};

CompiledProgram::CompiledProgram(Program program)
    : program_(checked(std::move(program))), tables_(program_), interpreter_(program_) {}

void CompiledProgram::set_native(NativeEntry entry, int lanes, std::shared_ptr<void> keeper) {
    if (lanes != 1 && lanes != 4 && lanes != 8) throw std::invalid_argument("native code has 1, 4 or 8 lanes");
    {
        const std::lock_guard lock(keepers_mutex_);
        keepers_.push_back(std::move(keeper));
    }
    (lanes == 1 ? native_ : lanes == 4 ? native_4_ : native_8_).store(entry, std::memory_order_release);
}

int CompiledProgram::native_lanes() const {
    if (native_8_.load(std::memory_order_acquire) != nullptr) return 8;
    return native_4_.load(std::memory_order_acquire) != nullptr ? 4 : 0;
}

// Whole blocks: the points of a block are transposed in and out, the last block is filled up with its last point.
void CompiledProgram::run_points(const Batch& batch, std::size_t begin, std::size_t end, double* in) const {
    const std::size_t width = static_cast<std::size_t>(batch.block), own = batch.row;
    const std::size_t in_count = static_cast<std::size_t>(inputs()), out_count = program_.outputs.size();
    while (reinterpret_cast<std::uintptr_t>(in) % (kAlign * sizeof(double)) != 0) ++in;
    double *out = in + in_count * width, *work = out + out_count * width;

    for (std::size_t k = own; k < in_count; ++k) std::fill_n(in + k * width, width, batch.shared[k - own]);
    for (std::size_t first = begin; first < end; first += width) {
        if (begin == 0) look_for_interrupts();  // this thread is the caller's, and the others follow it
        if (batch.ended->load(std::memory_order_relaxed)) return;
        const std::size_t count = std::min(width, end - first);
        for (std::size_t l = 0; l < width; ++l) {
            const double* row = batch.rows + (first + std::min(l, count - 1)) * own;
            for (std::size_t k = 0; k < own; ++k) in[k * width + l] = row[k];
        }
        if (batch.entry != nullptr)
            batch.entry(in, out, work, &tables_.calls());
        else
            interpreter_.run_block(in, out, work, tables_.calls());
        for (std::size_t l = 0; l < count; ++l) {
            double* row = batch.out + (first + l) * out_count;
            for (std::size_t k = 0; k < out_count; ++k) row[k] = out[k * width + l];
        }
    }
}

void CompiledProgram::evaluate_batch(const double* rows, std::size_t points, int row, const double* shared, double* out,
                                     int threads, bool use_native) const {
    if (row < 0 || row > inputs()) throw std::invalid_argument("program: a point has more numbers than inputs");
    Batch batch{rows, static_cast<std::size_t>(row), shared, out, Interpreter::kBlock, nullptr};
    if (const int lanes = use_native ? native_lanes() : 0; lanes != 0) {
        batch.block = lanes;
        batch.entry = (lanes == 8 ? native_8_ : native_4_).load(std::memory_order_acquire);
    }

    const std::size_t blocks = (points + batch.block - 1) / batch.block;
    std::size_t workers = static_cast<std::size_t>(std::max(threads, 0));
    if (workers == 0) {
        const double pay = static_cast<double>(points) * program_.instructions.size() / kOperationsPerThread;
        workers = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()),
                                        std::max<std::size_t>(1, static_cast<std::size_t>(pay)));
    }
    workers = std::max<std::size_t>(1, std::min(workers, blocks));

    // For each thread: inputs, outputs and workspace of a block, not touched before they are used.
    const std::size_t total =
        (static_cast<std::size_t>(inputs()) + program_.outputs.size() + work_size()) * batch.block + kAlign;
    std::vector<std::unique_ptr<double[]>> buffers;
    for (std::size_t number = 0; number < workers; ++number) buffers.emplace_back(new double[total]);

    std::atomic<bool> ended = false;
    batch.ended = &ended;
    const auto share = [&](std::size_t number) {
        const std::size_t begin = blocks * number / workers * batch.block;
        const std::size_t end = std::min(points, blocks * (number + 1) / workers * batch.block);
        run_points(batch, begin, end, buffers[number].get());
    };
    std::vector<std::jthread> pool;
    for (std::size_t number = 1; number < workers; ++number) pool.emplace_back(share, number);
    try {
        share(0);
    } catch (...) {
        ended = true;
        throw;
    }
}

}  // namespace bellcrank
