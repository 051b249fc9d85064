// Applied and gyroscopic forces of a model on its bodies, and the energies that belong to them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contacts/contacts.hpp"
#include "model/branches.hpp"
#include "model/constraint_rows.hpp"
#include "model/model.hpp"
#include "model/observation.hpp"

namespace bellcrank {

// Per body a record of kTwist: force [N], world axes, 0, moment about the com minus ω × Iω [N m], principal axes, 0.
// left_out: nonzero for laws that are accounted for otherwise, if there are such.
void applied_forces(const Model& model, const AngleBranches& branches, Contacts& contacts, double t, const double* x,
                    const double* u, double* force, const std::uint8_t* left_out = nullptr);

// Adds what laws, wrenches, formulas and contacts exert, in the same records; whether there are any.
void add_element_forces(const Model& model, const AngleBranches& branches, Contacts& contacts, double t,
                        const double* x, const double* u, double* force, const std::uint8_t* left_out = nullptr);
bool has_element_forces(const Model& model);
// Adds what laws side by side between the same markers exert, as those of a bushing. The first that is not among them.
size_t add_laws(const Model& model, const AngleBranches& branches, size_t first, double t, const double* x,
                const double* u, double* force, const std::uint8_t* left_out = nullptr);

// Effort and potential of a law, moment x, y, z or force x, y, z of a wrench.
double law_effort(const Scenery& at, const Law& law);
int number_of(const Model& model, const Law& law);
double law_potential(const Scenery& at, const Law& law);  // 0 if it has none
double wrench_component(const Model& model, const Wrench& wrench, int component, double t);

// ∂τ/∂φ, ∂τ/∂φ̇ and ∂τ/∂t of a law; at a kink, those of the side on which the input lies. room: that is used.
struct LawSlopes {
    double value, rate, time;
};
LawSlopes law_slopes(const Model& model, const Law& law, const LawInput<double>& at, std::vector<Dual4>& room);

struct Energy {
    double kinetic, potential;  // [J]
};

// Kinetic energy of the bodies and of rotors (compliant rows), and that of their weight, from the world origin.
Energy inertial_energy(const Model& model, const AngleBranches& branches, const double* x, const double* u);
// Kinetic energy of the bodies and of rotors (compliant rows); potential of gravity, measured from the world origin,
// of the force laws that have one, and of contacts.
Energy energy(const Model& model, const AngleBranches& branches, Contacts& contacts, double t, const double* x,
              const double* u);

// How easily bodies are moved.

// Distance of each body's farthest marker from its centre of mass; of bodies whose markers are all there, and of those
// that are out of all proportion, a part of the mechanism's largest.
std::vector<double> reaches(const Model& model);

// Largest over smallest of what a newton at a body's reach moves, of linear and angular inertia, among all bodies.
double spread_of_mobility(const Model& model);
// Largest over smallest mass.
double mass_ratio(const Model& model);

}  // namespace bellcrank
