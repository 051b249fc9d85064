// Joint accelerations from the top of an assembly down, those of the liveliest parts first, as far as an error bound
// asks for (Redon and Lin, section 4.3).
#pragma once

#include <vector>

#include "adaptive/assembly.hpp"
#include "adaptive/joint_choice.hpp"

namespace bellcrank {

class Descent final : public JointChoice {
  public:
    explicit Descent(const RootedAssembly& assembly);

    // Begins anew, with nothing computed. base: acceleration of the ground, in its axes.
    void begin(const Vec3& base, ErrorMeasure measure);
    // Ends early where rounding alone is more.
    void refine(double bound) override;
    // All joints, without total accelerations.
    void compute_all(const Vec3& base);
    // Whether joins have lost so little of any that nobody minds.
    bool has_digits() const { return assembly_.is_even() || error_ <= 1e-10; }

  private:
    struct Open {
        int node;
        double input[RootedAssembly::kInput];
        double rounding;  // of it, as the root of an energy
    };
    struct Priority {
        double total;
        int open;
        bool operator<(const Priority& other) const { return total < other.total; }
    };
    double compute(int node, const double* input, double rounding, double* force);
    void push(int node, const double* input, double rounding);
    void pop();
    struct Total {
        double least, most;
    };
    Total total(int node, const double* input, double rounding) const;
    void add(double change);
    void count_open(double total, int sign);
    void free_bodies(int node, const double* input);
    double error_left() const;

    const RootedAssembly& assembly_;
    std::vector<std::uint8_t> carries_free_;  // per node: a law of the ground with a body that hangs on nothing
    std::vector<Open> open_;
    std::vector<Priority> queue_;
    double sum_ = 0.0, rest_ = 0.0;  // of the totals in the queue: two numbers, whose sum is exact to 32 digits
    int unknown_ = 0;                // of them, that are not known
};

}  // namespace bellcrank
