// Ctrl-C in long work that Python has called.
#include "interruption/interruption.hpp"

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

// Whether Ctrl-C raises KeyboardInterrupt, as it does unless a program has said otherwise.
bool interrupt_is_raised() {
    const nb::module_ signals = nb::module_::import_("_signal");  // its functions run no Python code
    return signals.attr("getsignal")(signals.attr("SIGINT")).is(signals.attr("default_int_handler"));
}

// Signals of the process. Handlers may do anything, so that work which keeps the GIL, and through it what all threads
// write into, runs none: it ends where Ctrl-C would raise, and leaves other handlers to who called it.
class Signals final : public Interrupter {
  public:
    void look() override {
        if (PyGILState_Check()) {
            if (!PyOS_InterruptOccurred()) return;
            if (!interrupt_is_raised()) return PyErr_SetInterrupt();
            PyErr_SetNone(PyExc_KeyboardInterrupt);
            throw nb::python_error();
        }
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
};

}  // namespace

void bind_interruption(nb::module_&) {
    static Signals signals;
    set_interrupter(&signals);
}

}  // namespace bellcrank
