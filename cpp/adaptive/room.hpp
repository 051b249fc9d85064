// Room for numbers within a function: as many as are known where it is compiled, or taken from what the thread had
// taken before.
#pragma once

#include <memory>
#include <vector>

#include "spatial/aligned.hpp"

namespace bellcrank {

template <int Size>
class Room {
  public:
    explicit Room(int /* size */) {}
    operator double*() const { return numbers_; }

  private:
    mutable double numbers_[Size];
};

// Rooms are left in the order opposite to that in which they are entered.
template <>
class Room<0> {
  public:
    explicit Room(int size) : numbers_(enter(size)) {}
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() { --depth_; }
    operator double*() const { return numbers_; }

  private:
    using Numbers = std::vector<double, AlignedAllocator<double>>;
    static double* enter(int size) {
        if (depth_ == rooms_.size()) rooms_.push_back(std::make_unique<Numbers>());
        Numbers& room = *rooms_[depth_++];
        if (room.size() < static_cast<size_t>(size)) room.resize(size);
        return room.data();
    }

    static inline thread_local std::vector<std::unique_ptr<Numbers>> rooms_;
    static inline thread_local size_t depth_ = 0;
    double* numbers_;
};

}  // namespace bellcrank
