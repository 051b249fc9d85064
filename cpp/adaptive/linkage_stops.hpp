// Stops along coordinates of a linkage's joints. One of a locked joint is silent: its gap stays as it is. So the stops
// of free joints alone are measured, and cost what is free.
#pragma once

#include <vector>

#include "adaptive/linkage.hpp"
#include "model/stops.hpp"

namespace bellcrank {

// Directions along which a joint is held by stops, by its freedoms, and the acceleration along S that keeps it there.
struct HeldDirections {
    int count = 0;
    double along[36], bias[6];
};

class LinkageStops {
  public:
    LinkageStops(const Model& model, const Linkage& linkage);
    // Why stops of a model cannot be taken; empty if they can.
    static std::vector<Obstacle> obstacles(const Model& model);

    bool empty() const { return all_.empty(); }
    // At coordinates, angles with their whole turns.
    // No joint is free.
    void begin(const double* q);
    // The joints that are free from now on. Those that are not any longer rest on what is closed.
    void choose(const std::vector<int>& free, const double* q);

    // Stops of free joints, numbered as `link_of` and others take them; and their joints.
    Stops& chosen() { return chosen_; }
    const std::vector<int>& links() const { return links_; }
    int link_of(int stop) const { return all_[numbers_[stop]].link; }
    void measure(const double* q, const double* u);
    // The rate of a gap is n·u, its second derivative n·u̇ and what is added here.
    void direction(int stop, const double* q, double* n) const { direction_of(numbers_[stop], q, n); }
    double second_rate(int stop, const double* q, const double* u) const;
    // What stops hold that are marked, per stop.
    HeldDirections held(int link, const std::vector<std::uint8_t>& marked, const double* q, const double* u) const;
    // Marks no more of a free joint's stops what pulls, by what is exerted along S; whether anything did.
    bool open_pulling(int link, const double* q, const double* exerted, double size,
                      std::vector<std::uint8_t>& marked) const;
    // Puts what penetrates its stop back onto it, and what is held by one that is marked, with no speed there. Joints
    // that were moved.
    void put_back(const std::vector<std::uint8_t>& marked, double* q, double* u, std::vector<int>& moved) const;

    // Locked joints that stand at a stop, and those of their stops that F holds as well.
    const std::vector<int>& resting() const { return resting_; }
    bool is_resting(int link) const { return is_resting_[link] != 0; }
    HeldDirections held_at_rest(int link, const double* q) const;
    // Opens what pulls, by what is exerted along S, and, if it may, closes what F would pass by accelerations along S;
    // whether anything changed. size: of what is exerted.
    bool judge(int link, const double* q, const double* rate, const double* exerted, double size, bool may_close);

  private:
    struct Along {
        int row, link, coordinate;
        double coefficient, constant, restitution;
    };
    double gap(const Along& stop, const double* q) const {
        return stop.coefficient * q[linkage_.links[stop.link].coordinate + stop.coordinate] - stop.constant;
    }
    void direction_of(int number, const double* q, double* n) const;
    void add(int number, const double* q, HeldDirections& to) const;

    const Model& model_;
    const Linkage& linkage_;
    const StopOptions options_;
    std::vector<Along> all_;    // those of one link side by side
    std::vector<int> first_;    // per link
    std::vector<int> free_;     // links, as they were chosen
    std::vector<int> links_;    // of these, those with stops
    std::vector<int> numbers_;  // of their stops among all
    std::vector<int> at_;       // per link with stops its first among those, −1: it is locked
    Stops chosen_;
    std::vector<int> resting_;
    std::vector<std::uint8_t> held_, is_resting_;  // per stop of all: F holds it; per link
};

}  // namespace bellcrank
