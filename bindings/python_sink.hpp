// Frames of the core on their way to Python.
#pragma once

#include <nanobind/ndarray.h>

#include <algorithm>
#include <vector>

#include "integrate/simulate.hpp"
#include "interruption/interruption.hpp"
#include "state_of.hpp"

namespace bellcrank {

namespace nb = nanobind;

// Collects frames (time first) and gives them in blocks to a Python callable; asks for signals twenty times a second,
// between steps and in work within them that lasts.
class PythonSink : public Sink, public Interrupter {
  public:
    explicit PythonSink(int width)
        : width_(width + 1), capacity_(std::clamp(4'000'000 / (8 * width_), 1, 4096)), room_(std::min(64, capacity_)) {
        buffer_.resize(static_cast<size_t>(width_) * room_);
        event_numbers_.reserve(kEvents);
        event_frames_.reserve(static_cast<size_t>(width_) * kEvents);
    }

    // Whom to call from now on; whoever sets them keeps them alive.
    void call(nb::handle on_block, nb::handle on_progress, nb::handle on_sample = {}, nb::handle on_slow = {}) {
        on_block_ = on_block, on_progress_ = on_progress, on_sample_ = on_sample, on_slow_ = on_slow;
    }

    double* event(int index, double t) override {
        event_numbers_.push_back(index);
        event_frames_.resize(event_frames_.size() + width_);
        double* at = event_frames_.data() + event_frames_.size() - width_;
        at[0] = t;
        return at + 1;
    }

    // Their numbers, and their frames (n, 1 + width).
    const std::vector<int>& event_numbers() const { return event_numbers_; }
    Rows event_frames() const {
        const auto count = static_cast<Eigen::Index>(event_numbers_.size());
        return Eigen::Map<const Rows>(event_frames_.data(), count, width_);
    }

    double* frame(double t) override {
        if (count_ == room_) make_room();
        double* at = buffer_.data() + static_cast<size_t>(count_++) * width_;
        at[0] = t;
        return at + 1;
    }

    void contacts(const Contacts& found) override {
        has_contacts_ = true;
        found.append_rows(contact_rows_);
    }

    void sample(int index, double t) override {
        const nb::gil_scoped_acquire gil;
        const Interrupting outside(nullptr);
        on_sample_(index, t);
    }

    void crawls(const SlowRun&) override {
        const nb::gil_scoped_acquire gil;
        const Interrupting outside(nullptr);
        if (on_slow_.is_valid() && !on_slow_.is_none()) on_slow_();
    }

    bool alive(double t) override {
        reached_ = t;
        return !pace_.due() || continues();
    }

    void look() override {
        if (!continues()) throw Interrupted();
    }

    bool continues() {
        flush();
        const nb::gil_scoped_acquire gil;
        const Interrupting outside(nullptr);  // what is called may work in the core as well
        if (PyErr_CheckSignals() != 0) {
            if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw nb::python_error();
            PyErr_Clear();
            return false;
        }
        return !on_progress_(reached_).is(nb::bool_(false));
    }

    void flush() {
        if (count_ == 0) return;
        const nb::gil_scoped_acquire gil;
        const Interrupting outside(nullptr);
        const size_t shape[2] = {static_cast<size_t>(count_), static_cast<size_t>(width_)};
        // A view: the callable copies what it keeps.
        const nb::ndarray<nb::numpy, double, nb::ndim<2>> frames(buffer_.data(), 2, shape, nb::handle());
        count_ = 0;
        if (!has_contacts_) {
            on_block_(frames);
            return;
        }
        const size_t points[2] = {contact_rows_.size() / Contacts::kColumns, Contacts::kColumns};
        on_block_(frames, nb::ndarray<nb::numpy, double, nb::ndim<2>>(contact_rows_.data(), 2, points, nb::handle()));
        contact_rows_.clear();
    }

  private:
    static constexpr size_t kEvents = 64;  // room for so many at first

    void make_room() {
        if (room_ == capacity_) return flush();
        room_ = std::min(4 * room_, capacity_);
        buffer_.resize(static_cast<size_t>(width_) * room_);
    }

    int width_, capacity_, room_, count_ = 0;
    double reached_ = 0.0;
    Pace pace_;
    nb::handle on_block_, on_progress_, on_sample_, on_slow_;
    std::vector<double> buffer_, event_frames_, contact_rows_;
    bool has_contacts_ = false;
    std::vector<int> event_numbers_;
};

}  // namespace bellcrank
