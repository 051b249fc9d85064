// Whether a run gets on, by attempts at steps. No clock is read, so that runs are reproducible.
#pragma once

#include <vector>

namespace bellcrank {

// More attempts than that are not waited for: days of the fastest steps.
inline constexpr double kMostAttempts = 1e10;

// So many are worth a warning.
inline constexpr double kManyAttempts = 1e7;

// Counts attempts at steps and compares them, in windows of powers of two, with the time that they pass.
class Progress {
  public:
    enum class Verdict {
        fine,
        slow,    // another method may do better: 1e6 more attempts at this pace
        crawls,  // worth a warning: 1e7 more, for 1e5 already
        endless  // 1e10 more, the fewer of them seen the more are to come
    };

    // Counts from here on. events: how many kinds of them may end steps.
    void begin(double t, int events);
    // After an attempt. left: time to the end of the run.
    Verdict count(double t, double left);
    // An event of this number has ended a step.
    void end_at(int event) { ++ends_[event]; }

    long long attempts() const { return attempts_; }
    // What the last window that was looked at shows: attempts that are left at its pace, its length, and the event by
    // which at least every tenth attempt in it was ended, or −1; how often that was.
    double attempts_left() const { return left_; }
    long long window() const { return window_; }
    int event() const { return event_; }
    long long ended() const { return ended_; }

  private:
    Verdict judge(double t, double left, long long window, double begun);
    void look_at_events();

    long long attempts_ = 0, window_ = 0, ended_ = 0;
    double left_ = 0.0;
    int event_ = -1;
    std::vector<double> begun_;    // times at which the windows at hand began, the shortest first
    std::vector<long long> ends_;  // by event, in the shortest window
};

}  // namespace bellcrank
