#include "interruption/interruption.hpp"

#include <algorithm>
#include <utility>

namespace bellcrank {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks{1};  // at the clock
constexpr milliseconds kBetweenQuestions{50};
constexpr int kMostCalls = 1024;  // between two looks at the clock

Interrupter* everywhere = nullptr;
thread_local Interrupter* here = nullptr;
thread_local Pace pace;

}  // namespace

bool Pace::due() {
    if (--countdown_ > 0) return false;
    const auto now = Clock::now();
    interval_ = now - looked_ < kBetweenLooks ? std::min(2 * interval_, kMostCalls) : std::max(interval_ / 4, 1);
    countdown_ = interval_;
    looked_ = now;
    if (now - last_ < kBetweenQuestions) return false;
    last_ = now;
    return true;
}

void set_interrupter(Interrupter* interrupter) { everywhere = interrupter; }

Interrupting::Interrupting(Interrupter* interrupter) : before_(std::exchange(here, interrupter)) {}

Interrupting::~Interrupting() { here = before_; }

void look_for_interrupts() {
    if (!pace.due()) return;
    if (Interrupter* const asked = here != nullptr ? here : everywhere) asked->look();
}

}  // namespace bellcrank
