// Which joints of a linkage accelerate, all others being taken as at rest, and the error of that.
#pragma once

#include <vector>

namespace bellcrank {

// Of joint accelerations that are taken as zero beside those computed, and of what rounding makes of these: the root of
// the sum of their squares, or the largest of them; as it is, or as a part of the same of all joints. A joint of
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

}  // namespace bellcrank
