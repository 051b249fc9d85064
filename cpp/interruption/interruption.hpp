// How long work is ended from outside, as Ctrl-C does. Work that may last looks from time to time whether it has to
// end; who calls the core says where to look.
#pragma once

#include <chrono>
#include <exception>

namespace bellcrank {

// Thins out a question that is dear: true about twenty times a second, however often it is asked, for the price of a
// decrement most of the time.
class Pace {
  public:
    bool due();

  private:
    using Clock = std::chrono::steady_clock;

    int countdown_ = 1, interval_ = 1;
    Clock::time_point last_ = Clock::now(), looked_ = last_;
};

// Work was asked to end, and ends; what it had begun is to be thrown away.
struct Interrupted final : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

// Where work looks.
class Interrupter {
  public:
    virtual ~Interrupter() = default;
    // Throws Interrupted, or something else, where the work has to end.
    virtual void look() = 0;
};

// Where the work of all threads looks that says nothing else; null for nowhere.
void set_interrupter(Interrupter* interrupter);

// Lets the work of this thread look there while the object lives; null: where all threads look.
class Interrupting {
  public:
    explicit Interrupting(Interrupter* interrupter);
    ~Interrupting();
    Interrupting(const Interrupting&) = delete;
    Interrupting& operator=(const Interrupting&) = delete;

  private:
    Interrupter* before_;
};

// To be called in loops that may last longer than a person waits, at points where an exception leaves everything as it
// was or to be thrown away.
void look_for_interrupts();

}  // namespace bellcrank
