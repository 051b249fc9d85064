// What the position corrections of the last steps say of the next.
#pragma once

#include <array>
#include <vector>

namespace bellcrank {

// A fixed step leaves a smooth motion off its constraints by an error that changes little from one step to the next,
// and so do the multipliers τ that correct it (Tasora eq. 36): carried on by a polynomial in time they anticipate most
// of the correction, at the cost of no evaluation. Whether a motion is smooth enough for its steps is shown by how near
// the last expectation came.
class CorrectionHistory {
  public:
    void resize(int rows);
    // Begins the correction of the step that ends at time t. The multipliers expected of it; null if nothing is known:
    // steps of another length, too few of them, or an expectation that failed.
    const double* expect(double t);
    // A part of the correction, unless none is begun or the last has ended.
    void add(const double* tau);
    void end() { begun_ = false; }

  private:
    static constexpr int kKept = 4;

    bool foreseen() const;
    void extrapolate();

    std::array<std::vector<double>, kKept> corrections_;  // τ of steps, a ring: the latest at latest_
    std::vector<double> expected_;
    int latest_ = 0;
    int alike_ = 0;  // steps of one length, the latest included
    bool begun_ = false;
    double time_ = 0.0, step_ = 0.0;
};

}  // namespace bellcrank
