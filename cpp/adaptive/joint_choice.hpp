// Which joints of a linkage accelerate, all others being taken as at rest, and the error of that.
#pragma once

#include <cstdint>
#include <vector>

#include "adaptive/assembly.hpp"

namespace bellcrank {

// An error measures joint accelerations that are taken as zero, and the rounding of those computed, by the root of the
// sum of their squares or by the largest of them; as it is, or as a part of the same of all joints. A joint of
// several freedoms counts with the norm of its accelerations; those of a body that hangs on nothing are computed always
// and do not count.
enum class ErrorMeasure { absolute_linkage, relative_linkage, absolute_joint, relative_joint };

class JointChoice {
  public:
    virtual ~JointChoice() = default;

    // Computes more joints, until the error is at most `bound`; what has been computed stays.
    virtual void refine(double bound) = 0;

    // An upper bound of the error, with what rounding may have done to those computed.
    double error() const { return error_; }
    // The part of it that no further joint removes.
    double rounding() const { return measured(0.0, 0.0); }
    // Links whose joints were computed, in the order in which they were.
    const std::vector<int>& computed() const { return computed_; }
    // Along S, per freedom of the linkage; of no meaning for joints not computed.
    const std::vector<double>& accelerations() const { return rate_; }

  protected:
    void forget();
    // A computed acceleration that counts, by its square, and by how much it may be off.
    void count(double square, double rounding);
    // The error where the largest acceleration left out, and the sum of all their squares, are these.
    double measured(double largest_left, double squares_left) const;
    // What rounding() may fall to where accelerations left out are as large as they may be.
    double rounding_at(double largest_left, double squares_left) const;

    ErrorMeasure measure_ = ErrorMeasure::relative_joint;
    std::vector<int> computed_;
    std::vector<double> rate_;
    double error_ = 0.0;
    double largest_ = 0.0, squares_ = 0.0, total_ = 0.0;  // of those computed; of all, at least
    double largest_rounding_ = 0.0, rounding_squares_ = 0.0;
};

// Joints chosen from the top of an assembly down, those of the liveliest parts first, as far as an error bound asks for
// (Redon and Lin, section 4.3).
class Descent final : public JointChoice {
  public:
    explicit Descent(const RootedAssembly& assembly);

    // Begins anew, with nothing computed. base: acceleration of the ground, in its axes.
    void begin(const Vec3& base, ErrorMeasure measure);
    // Ends early where rounding alone is more.
    void refine(double bound) override;
    // All joints, without total accelerations.
    void compute_all(const Vec3& base);
    // Whether the accelerations are known to ten digits.
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

// Joints chosen by accelerations that are known: the largest first.
class Ranking final : public JointChoice {
  public:
    explicit Ranking(const Linkage& linkage);

    // rates: accelerations along S, per freedom. roundings: per link, by how much its joint's may be off. Those
    // `computed` stay so.
    void begin(const std::vector<double>& rates, const std::vector<double>& roundings, ErrorMeasure measure,
               const std::vector<int>& computed);
    void refine(double bound) override;

  private:
    const Linkage& linkage_;
    std::vector<double> square_;        // per link
    std::vector<std::uint8_t> chosen_;  // per link
    std::vector<int> order_;            // links to be computed, the largest acceleration first
    std::vector<double> left_;          // of each place in it and all behind, the sum of squares
    std::size_t next_ = 0;
};

}  // namespace bellcrank
