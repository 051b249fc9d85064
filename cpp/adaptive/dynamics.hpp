// Motion with inertia of a linkage of which few joints are free (docs/theory/adaptive.md, adaptive dynamics): free
// joints move, locked ones stand still, and the error of that is known.
#pragma once

#include <memory>
#include <vector>

#include "adaptive/hybrid_assembly.hpp"
#include "adaptive/linkage_forces.hpp"

namespace bellcrank {

class AdaptiveDynamics {
  public:
    // Throws std::invalid_argument with all reasons if the model cannot be taken.
    explicit AdaptiveDynamics(std::shared_ptr<const Model> model);
    static std::vector<Obstacle> obstacles(const Model& model);

    // Where the bodies are and how they move (records of spatial/body_state.hpp). All joints are free.
    void start(double t, const double* poses, const double* twists);

    // Which joints are free, per link; a body that hangs on nothing is always. Those that lock are stopped by an
    // inelastic impact in which all free ones take part. The kinetic energy that it loses.
    double set_free(const std::vector<std::uint8_t>& free);
    // Accelerations at the present state, and how far they are from those of all joints.
    void evaluate();

    double time() const { return time_; }
    const Linkage& linkage() const { return *linkage_; }
    const HybridAssembly& assembly() const { return assembly_; }
    // ‖a_H − a_F‖² over masses, kg m²/s⁴, and by the mass the root of its mean, m/s².
    double distance() const { return distance_; }
    double error() const;
    double mass() const { return mass_; }
    // Along S, per freedom of the linkage; of locked joints zero.
    const std::vector<double>& speeds() const { return u_; }
    const std::vector<double>& accelerations() const { return rates_; }
    const std::vector<double>& coordinates() const { return q_; }
    double kinetic_energy() const { return assembly_.kinetic_energy(); }
    // Poses, twists and accelerations of all bodies, as records; that of the ground is left as it is.
    void motions(double* x, double* u, double* udot) const;

  private:
    void place(int link);
    void move_to(double t);
    void follow();

    const std::shared_ptr<const Model> model_;
    const std::shared_ptr<const Linkage> linkage_;
    HybridAssembly assembly_;
    LinkageForces forces_;
    double time_ = 0.0, mass_ = 0.0, distance_ = 0.0;
    std::vector<double> q_, u_, rates_, stopped_;
    std::vector<int> free_;  // links
};

}  // namespace bellcrank
