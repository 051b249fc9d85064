#include "contacts/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

constexpr double kStraight = 1e-8;  // 1 − cos of an angle that is none

Vec3 world_point(const double* poses, int body, const Vec3& local) {
    return pose_position(poses, body) + rotation_matrix(pose_rotation(poses, body)) * local;
}
Vec3 local_point(const double* poses, int body, const Vec3& world) {
    return transpose_times(rotation_matrix(pose_rotation(poses, body)), world - pose_position(poses, body));
}
Vec3 world_direction(const double* poses, int body, const Vec3& local) {
    return rotation_matrix(pose_rotation(poses, body)) * local;
}
Vec3 local_direction(const double* poses, int body, const Vec3& world) {
    return transpose_times(rotation_matrix(pose_rotation(poses, body)), world);
}

Vec3 velocity_at(const double* poses, const double* twists, int body, const Vec3& point) {
    const Vec3 omega = world_direction(poses, body, twist_angular(twists, body));
    return twist_linear(twists, body) + cross(omega, point - pose_position(poses, body));
}

Vec3 part_across(const Vec3& v, const Vec3& n) { return v - dot(v, n) * n; }

}  // namespace

const Contacts::Anchor* Contacts::find_anchor(const FoundContact& found) const {
    const auto key = std::tuple(found.a, found.b, found.point.feature);
    const auto at = std::lower_bound(anchors_.begin(), anchors_.end(), key,
                                     [](const Anchor& anchor, const auto& k) { return anchor.key() < k; });
    return at != anchors_.end() && at->key() == key ? &*at : nullptr;
}

void Contacts::sort(std::vector<Anchor>& anchors) {
    std::sort(anchors.begin(), anchors.end(), [](const Anchor& p, const Anchor& q) { return p.key() < q.key(); });
}

// The way of the contact point on a body's surface since the last commit, in the tangent plane of today.
//
// With the normals n now and n' then, carried along by the body, at the angle α: on a round surface the chord's part in
// the plane is ρ sin α long, along e = (cos α n − n') / sin α, and the arc ρ α.
Vec3 Contacts::way(const Anchor& anchor, int side, int body, const double* poses, const ContactPoint& now) const {
    const Vec3 chord = part_across(now.position - world_point(poses, body, anchor.point[side]), now.normal);
    const Vec3 before = world_direction(poses, body, anchor.normal[side]);
    const double cosine = dot(now.normal, before);
    if (1.0 - cosine < kStraight) return chord;
    const Vec3 turned = cosine * now.normal - before;
    const double sine = norm(turned), angle = std::atan2(sine, cosine);
    if (!(sine > 0.0)) return chord;
    const Vec3 e = (1.0 / sine) * turned;
    return chord + (dot(chord, e) * (angle / sine - 1.0)) * e;
}

void Contacts::evaluate(const FoundContact& found, const double* poses, const double* twists) {
    const ContactPoint& p = found.point;
    const int a = set_.shapes[found.a].body, b = set_.shapes[found.b].body;
    const Vec3 velocity = velocity_at(poses, twists, a, p.position) - velocity_at(poses, twists, b, p.position);
    TouchingPoint at{-p.gap, -dot(velocity, p.normal), {0, 0, 0}, part_across(velocity, p.normal), false};
    if (const Anchor* anchor = find_anchor(found)) {
        const Vec3 before = part_across(world_direction(poses, b, anchor->shear), p.normal);
        at.shear = before + way(*anchor, 1, b, poses, p) - way(*anchor, 0, a, poses, p);
        at.slips = anchor->slips;
    }
    const ContactForce f = contact_force(set_.groups[found.group].law, at);
    touching_.push_back(at);
    forces_.push_back(f);
    contacts_.push_back({found.group, found.a, found.b, p.feature, p.position, p.normal, p.gap,
                         f.normal * p.normal + f.friction, at.slip, at.approach, !f.saturated});
}

const std::vector<Contact>& Contacts::evaluate(const double* poses, const double* twists) {
    contacts_.clear();
    touching_.clear();
    forces_.clear();
    for (const FoundContact& found : search_.find(poses, 0.0)) evaluate(found, poses, twists);
    return contacts_;
}

void Contacts::add_forces(const double* poses, const double* twists, double* force) {
    const int ground = set_.ground;
    for (const Contact& contact : evaluate(poses, twists))
        for (const auto& [shape, sign] : {std::pair(contact.a, 1.0), std::pair(contact.b, -1.0)}) {
            const int body = set_.shapes[shape].body;
            if (body == ground) continue;
            const Vec3 f = sign * contact.force;
            double* record = force + kTwist * body;
            add(record, f);
            add(record + 4, local_direction(poses, body, cross(contact.position - pose_position(poses, body), f)));
        }
}

void Contacts::add_wrench(int group, int body, const double* poses, double wrench[6]) const {
    for (const Contact& contact : contacts_) {
        if (contact.group != group) continue;
        for (const auto& [shape, sign] : {std::pair(contact.a, 1.0), std::pair(contact.b, -1.0)}) {
            if (set_.shapes[shape].body != body) continue;
            add(wrench, sign * cross(contact.position - pose_position(poses, body), contact.force));
            add(wrench + 3, sign * contact.force);
        }
    }
}

double Contacts::elastic_energy(const double* poses, const double* twists) {
    evaluate(poses, twists);
    double sum = 0.0;
    for (const ContactForce& f : forces_) sum += f.normal_energy + f.shear_energy;
    return sum;
}

Contacts::Anchor Contacts::anchor_at(const double* poses, int a, int b, std::uint64_t feature, const Vec3& position,
                                     const Vec3& normal, const Vec3& shear, bool slips) const {
    const int bodies[2] = {set_.shapes[a].body, set_.shapes[b].body};
    Anchor out{a, b, feature, local_direction(poses, bodies[1], shear), {}, {}, slips};
    for (int side = 0; side < 2; ++side) {
        out.point[side] = local_point(poses, bodies[side], position);
        out.normal[side] = local_direction(poses, bodies[side], normal);
    }
    return out;
}

// Where the friction of the spring alone is beyond Coulomb's limit, the anchor follows (radial return).
void Contacts::commit(const double* poses, const double* twists) {
    next_.clear();
    evaluate(poses, twists);
    for (size_t i = 0; i < contacts_.size(); ++i) {
        const Contact& c = contacts_[i];
        const Vec3& s = touching_[i].shear;
        const ContactLaw& law = set_.groups[c.group].law;
        const double friction = c.sticks ? law.static_friction : law.kinetic_friction;
        const double limit = friction * forces_[i].normal, spring = forces_[i].shear_stiffness * norm(s);
        const Vec3 shear = spring > limit ? (limit / spring) * s : s;
        next_.push_back(anchor_at(poses, c.a, c.b, c.feature, c.position, c.normal, shear, !c.sticks));
    }
    sort(next_);
    anchors_.swap(next_);
}

std::vector<double> Contacts::memory(const double* poses) const {
    std::vector<double> out;
    for (const Anchor& anchor : anchors_) {
        const int b = set_.shapes[anchor.b].body;
        const auto put = [&out](const Vec3& v) { out.insert(out.end(), {v.x, v.y, v.z}); };
        out.insert(out.end(),
                   {static_cast<double>(anchor.a), static_cast<double>(anchor.b),
                    static_cast<double>(anchor.feature >> 32), static_cast<double>(anchor.feature & 0xffffffffu)});
        put(world_direction(poses, b, anchor.shear));
        put(world_point(poses, b, anchor.point[1]));
        put(world_direction(poses, b, anchor.normal[1]));
        out.push_back(anchor.slips ? 1.0 : 0.0);
    }
    return out;
}

void Contacts::remember(std::span<const double> numbers, const double* poses) {
    if (numbers.size() % kMemory != 0)
        throw std::invalid_argument("the memory of contacts has " + std::to_string(kMemory) +
                                    " numbers for each point, got " + std::to_string(numbers.size()));
    std::vector<Anchor> read;
    const double shapes = static_cast<double>(set_.shapes.size());
    for (size_t i = 0; i < numbers.size(); i += kMemory) {
        const double* p = numbers.data() + i;
        if (!std::all_of(p, p + kMemory, [](double x) { return std::isfinite(x); }))
            throw std::invalid_argument("the memory of contacts must be finite");
        for (int k = 0; k < 2; ++k)
            if (!(p[k] >= 0.0 && p[k] < shapes && p[2 + k] >= 0.0 && p[2 + k] < 4294967296.0))
                throw std::invalid_argument("the memory of contacts is that of another mechanism");
        const std::uint64_t feature = feature_pair(static_cast<Feature>(p[2]), static_cast<Feature>(p[3]));
        read.push_back(anchor_at(poses, static_cast<int>(p[0]), static_cast<int>(p[1]), feature, load(p + 7),
                                 load(p + 10), load(p + 4), p[13] != 0.0));
    }
    sort(read);
    anchors_.swap(read);
}

}  // namespace bellcrank
