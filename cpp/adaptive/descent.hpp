// Joint accelerations from the top of an assembly down, those of the liveliest parts first, as far as an error bound
// asks for (Redon and Lin, section 4.3).
#pragma once

#include <vector>

#include "adaptive/assembly.hpp"

namespace bellcrank {

// Of joint accelerations that are taken as zero beside those computed: the root of the sum of their squares, or the
// largest of them; as it is, or as a part of the same of all joints. A joint of several freedoms counts with the norm
// of its accelerations; those of a body that hangs on nothing are computed always and do not count.
enum class ErrorMeasure { absolute_linkage, relative_linkage, absolute_joint, relative_joint };

class Descent {
  public:
    explicit Descent(const RootedAssembly& assembly);

    // Begins anew, with nothing computed. base: acceleration of the ground, in its axes.
    void begin(const Vec3& base, ErrorMeasure measure);
    // Computes more joints, until the error is at most `bound`; what has been computed stays.
    void refine(double bound);
    // All joints, without total accelerations.
    void compute_all(const Vec3& base);

    // An upper bound of the error, with what rounding may hide; refining never raises it.
    double error() const { return error_; }
    // Links whose joints were computed, in the order in which they were.
    const std::vector<int>& computed() const { return computed_; }
    // Along S, per freedom of the linkage; of no meaning for joints not computed.
    const std::vector<double>& accelerations() const { return rate_; }

  private:
    struct Open {
        int node;
        double input[RootedAssembly::kInput];
    };
    struct Priority {
        double total;
        int open;
        bool operator<(const Priority& other) const { return total < other.total; }
    };
    void compute(int node, const double* input, double* force);
    void push(int node, const double* input);
    void pop();
    void add(double change);
    void free_bodies(int node, const double* input);
    double measured() const;

    const RootedAssembly& assembly_;
    ErrorMeasure measure_ = ErrorMeasure::relative_joint;
    std::vector<std::uint8_t> carries_free_;  // per node: a law of the ground with a body that hangs on nothing
    std::vector<Open> open_;
    std::vector<Priority> queue_;
    std::vector<int> computed_;
    std::vector<double> rate_;
    double error_ = 0.0, largest_ = 0.0, squares_ = 0.0;  // squares_: of those computed
    double total_ = 0.0;                                  // total acceleration, at least
    double sum_ = 0.0, rest_ = 0.0;  // of the totals in the queue: two numbers, whose sum is exact to 32 digits
};

}  // namespace bellcrank
