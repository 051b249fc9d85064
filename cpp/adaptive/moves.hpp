// Records of what moved: frames of varying length, and the poses that follow from them.
#pragma once

#include <cstdint>
#include <vector>

#include "adaptive/linkage.hpp"
#include "spatial/fields.hpp"

namespace bellcrank {

// Rows of all frames lie one after another; `rows` and `values` tell where those of a frame begin, and end with their
// counts.
struct MoveRecord {
    std::vector<double> time;
    std::vector<std::int64_t> rows{0}, values{0};
    std::vector<int> body;
    std::vector<double> value;
    std::vector<double> error, lost, kinetic, potential, work;
    std::vector<int> free;

    BELLCRANK_FIELDS(MoveRecord, (time, "s", "of the frame"), (rows, "1", "first row of the frame"),
                     (values, "1", "first value of the frame"), (body, "1", "the body behind the joint that moved"),
                     (value, "m, rad or 1", "coordinates of the joint: slides, then its turn"),
                     (error, "1, m/s^2 or rad/s^2", "of the accelerations of the step before, in the run's measure"),
                     (lost, "J", "kinetic energy lost by locking joints since the start"),
                     (kinetic, "J", "kinetic energy of the bodies; 0 of quasi-static runs"),
                     (potential, "J", "of the weight, from the world origin, and of springs; likewise"),
                     (work, "J", "by forces that have no potential, and by drives, since the start; likewise"),
                     (free, "1", "number of joints that could move in the step before"))
};

// What the step before a frame was: the error of its accelerations, the kinetic energy that locks have taken since the
// start, J, and the number of joints that could move. And energies at its end, J.
struct StepFacts {
    double error = 0.0, lost = 0.0;
    int free = 0;
    double kinetic = 0.0, potential = 0.0, work = 0.0;
};

// Frames with the coordinates of the joints that moved since the last one.
class MoveRecorder {
  public:
    explicit MoveRecorder(const Linkage& linkage) : linkage_(linkage), last_(linkage.links.size(), -1) {
        pending_.reserve(linkage.links.size());
    }
    void note(const std::vector<int>& moved);
    void note_all();
    void frame(double time, const std::vector<double>& coordinates, const StepFacts& step);
    // What was recorded since the last call.
    MoveRecord take();

  private:
    const Linkage& linkage_;
    MoveRecord record_;
    std::vector<int> last_, pending_;  // per link the frame that it was noted for last; links of the next frame
    int frame_ = 0;
};

// Poses from records: where joints are set, and of single bodies in as many steps as a node has levels.
class MoveReplay {
  public:
    explicit MoveReplay(const Model& model);
    // Coordinates of the joints that carry some bodies, one after another. Throws std::invalid_argument where their
    // numbers do not fit.
    void apply(const int* bodies, size_t rows, const double* values, size_t count);
    Place pose(int body);  // of a body's principal frame
    // Per body, of the joint that carries it: number of coordinates, block of rows (−1: it has none).
    std::vector<int> widths() const;
    std::vector<int> blocks() const;

  private:
    Linkage linkage_;
    Frames frames_;
    LevelMarks marks_;
};

}  // namespace bellcrank
