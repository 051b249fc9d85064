// Which shapes of a model touch, and by what law; what a system's contacts do where it stands.
#include "contacts/contacts.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bindings.hpp"
#include "contacts/contact_search.hpp"
#include "records.hpp"
#include "spatial/body_state.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

// The least gap of each body (rows, bodies and the ground) that is open, by more than what counts as closed; infinite
// above the reach of the row.
Rows gaps_of(const ContactSet& self, const Rows& positions, const Rows& rotations, const Eigen::VectorXd& reach,
             double closed) {
    const Eigen::Index rows = positions.rows(), bodies = positions.cols() / 3;
    if (positions.cols() != 3 * bodies || rotations.rows() != rows || rotations.cols() != 4 * bodies ||
        reach.size() != rows)
        throw std::invalid_argument("positions, rotations and reaches must be of the same frames and bodies");
    ContactSet set = self;
    set.ground = static_cast<int>(bodies);
    for (ContactGroup& group : set.groups)
        for (auto& [a, b] : group.apart)
            if (a > b) std::swap(a, b);
    ContactSearch search(set);
    std::vector<double> poses(kPose * static_cast<size_t>(bodies + 1), 0.0);
    poses[kPose * static_cast<size_t>(bodies) + 4] = 1.0;
    Rows out = Rows::Constant(rows, bodies + 1, std::numeric_limits<double>::infinity());
    for (Eigen::Index i = 0; i < rows; ++i) {
        for (Eigen::Index b = 0; b < bodies; ++b) {
            double* pose = poses.data() + kPose * b;
            std::copy_n(positions.data() + 3 * (i * bodies + b), 3, pose);
            std::copy_n(rotations.data() + 4 * (i * bodies + b), 4, pose + 4);
        }
        for (const FoundContact& found : search.find(poses.data(), reach[i]))
            for (const int shape : {found.a, found.b}) {
                double& gap = out(i, set.shapes[shape].body);
                if (found.point.gap > closed) gap = std::min(gap, found.point.gap);
            }
    }
    return out;
}

}  // namespace

void bind_contacts(nb::module_& m) {
    auto law = bind_record<ContactLaw>(m, "ContactLaw", "A law of contact (cpp/contacts/contact_law.hpp).");
    read_by_name(make_by_name(law));
    bind_record<ContactMemory>(m, "ContactMemory", "What a touching point remembers, as states hold it.");
    bind_record<RecordedContact>(m, "RecordedContact", "What is recorded of a touching point.");
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
                std::vector<ContactLaw> out;
                for (const ContactGroup& group : self.groups) out.push_back(group.law);
                return out;
            },
            "The law of each group.")
        .def("gaps", &gaps_of, "positions"_a, "rotations"_a, "reach"_a, "closed"_a,
             "The least gap of each body and of the ground (n, bodies + 1), m, beyond one that counts as closed; "
             "infinite if it is beyond a reach (n,). At poses of the bodies' frames: positions (n, 3 bodies), "
             "quaternions (n, 4 bodies).")
        .def(
            "add_shape",
            [](ContactSet& self, const std::shared_ptr<Shape>& shape, int body, const Vec3& position,
               const Quat& rotation) {
                self.shapes.push_back({shape, body, {position, rotation_matrix(rotation)}});
                return static_cast<int>(self.shapes.size()) - 1;
            },
            "shape"_a, "body"_a, "position"_a, "rotation"_a, "At a pose in the body's axes; its number.")
        .def(
            "add_group",
            [](ContactSet& self, const ContactLaw& law, const std::vector<int>& bodies, const std::vector<int>& shapes,
               const std::vector<std::pair<int, int>>& apart,
               bool of_tyre) { self.groups.push_back({law, bodies, shapes, apart, of_tyre}); },
            nb::kw_only(), "law"_a, "bodies"_a, "shapes"_a, "apart"_a, "of_tyre"_a,
            "Shapes that touch each other, but for pairs of bodies kept apart; of_tyre: all others touch the first, a "
            "tyre.");
}

}  // namespace bellcrank
