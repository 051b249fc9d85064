// What touches in a model.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/model.hpp"

namespace bellcrank {

namespace {

void require_below(int index, int end, const char* array, size_t entry) {
    if (index < 0 || index >= end)
        throw std::invalid_argument(std::string(array) + "[" + std::to_string(entry) + "]: index out of range");
}

}  // namespace

// Poses of shapes in principal axes; which pairs of bodies are kept apart, in the order that searches need.
void Model::add_contacts() {
    contacts = data_.contacts;
    contacts.ground = ground();
    contacts.gravity = norm(gravity);
    for (size_t i = 0; i < contacts.shapes.size(); ++i) {
        BodyShape& s = contacts.shapes[i];
        require_below(s.body, ground() + 1, "contact_shapes", i);
        s.on_body.p = principal_offset(s.body, s.on_body.p);
        if (s.body != ground()) s.on_body.R = transpose_times(rotation_matrix(principal_rotation[s.body]), s.on_body.R);
    }
    for (size_t i = 0; i < contacts.groups.size(); ++i) {
        ContactGroup& group = contacts.groups[i];
        for (const int body : group.bodies) require_below(body, ground() + 1, "contact_groups", i);
        for (const int shape : group.shapes)
            require_below(shape, static_cast<int>(contacts.shapes.size()), "contact_groups", i);
        for (auto& [a, b] : group.apart)
            if (a > b) std::swap(a, b);
        std::sort(group.apart.begin(), group.apart.end());
    }
}

}  // namespace bellcrank
