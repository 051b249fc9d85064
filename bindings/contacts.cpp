// Which shapes of a model touch, and by what law; what a system's contacts do where it stands.
#include "contacts/contacts.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "marshal.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

void bind_contacts(nb::module_& m) {
    nb::class_<ContactLaw>(m, "ContactLaw", "A law of contact (cpp/contacts/contact_law.hpp).")
        .def(
            "__init__",
            [](ContactLaw* self, const std::array<double, 12>& p) {
                new (self) ContactLaw{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11]};
            },
            "numbers"_a,
            "Stiffness, exponent, dissipation, static and kinetic friction, ratio of tangential to normal stiffness, "
            "time constant of tangential damping, restitution of rigid contacts; stiffness of the points "
            "of a tyre's rim; resistance to rolling and spinning, and whether restitution is Poisson's.");
    nb::class_<ContactSet>(m, "ContactSet", "Shapes of bodies, and the groups of them that touch each other.")
        .def(nb::init<>())
        .def_prop_ro(
            "bodies",
            [](const ContactSet& self) {
                std::vector<int> out;
                for (const BodyShape& shape : self.shapes) out.push_back(shape.body);
                return out;
            },
            "The body of each shape.")
        .def_prop_ro(
            "sizes",
            [](const ContactSet& self) {
                std::vector<double> out;
                for (const BodyShape& body : self.shapes) {
                    const Shape& shape = *body.shape;
                    out.push_back(shape.kind == ShapeKind::tyre ? thickness(shape) : shape.reach_out);
                }
                return out;
            },
            "The distance of each shape's farthest point from its own origin, m; infinite for planes. The section of a "
            "tyre.")
        .def_prop_ro(
            "laws",
            [](const ContactSet& self) {
                std::vector<std::vector<double>> out;
                for (const ContactGroup& g : self.groups)
                    out.push_back({g.law.stiffness, g.law.exponent, g.law.dissipation, g.law.static_friction,
                                   g.law.kinetic_friction, g.law.shear_ratio, g.law.shear_time, g.law.restitution,
                                   g.law.rim_stiffness, g.law.rolling, g.law.spinning, g.law.by_impulse});
                return out;
            },
            "The numbers of the law of each group, as ContactLaw takes them.")
        .def(
            "add_shape",
            [](ContactSet& self, const std::shared_ptr<Shape>& shape, int body, const Triple& position,
               const Quadruple& rotation) {
                self.shapes.push_back({shape, body, {to_vec3(position), rotation_matrix(to_quat(rotation))}});
                return static_cast<int>(self.shapes.size()) - 1;
            },
            "shape"_a, "body"_a, "position"_a, "rotation"_a, "At a pose in the body's axes; its number.")
        .def(
            "add_group",
            [](ContactSet& self, const ContactLaw& law, const std::vector<int>& bodies, const std::vector<int>& shapes,
               const std::vector<std::pair<int, int>>& apart,
               bool of_tyre) { self.groups.push_back({law, bodies, shapes, apart, of_tyre}); },
            "law"_a, "bodies"_a, "shapes"_a, "apart"_a, "of_tyre"_a,
            "Shapes that touch each other, but for pairs of bodies kept apart; of_tyre: all others touch the first, a "
            "tyre.");
}

}  // namespace bellcrank
