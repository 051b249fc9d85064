#include "derivation/links.hpp"

namespace bellcrank::symbolic {

namespace {

bool is_one(Expression e) { return e.graph->is_constant(e.ref) && e.graph->constant_value(e.ref) == 1.0; }

}  // namespace

bool LinkTree::is_shared() const {
    std::vector<bool> used(speeds(), false);
    for (const Axis& axis : axes) {
        if (axis.shares.size() != 1 || !is_one(axis.shares[0].factor) || used[axis.shares[0].speed]) return true;
        used[axis.shares[0].speed] = true;
    }
    return false;
}

bool LinkTree::is_simple() const {
    for (const Link& link : links)
        if (link.motion != Motion::turn && link.motion != Motion::slide) return false;
    return !is_shared();
}

Vector to_joint(const Link& link, const Vector& v) {
    Vector out = v;
    for (const Turn& turn : link.setting) out = rotated_back(turn, out);
    return out;
}

Vector from_joint(const Link& link, const Vector& v) {
    Vector out = v;
    for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) out = rotated(*turn, out);
    return out;
}

Vector across_motion(const Link& link, const Vector& v) {
    if (link.motion == Motion::slide) return v;
    return link.motion == Motion::turn ? rotated_back(link.turn, v) : transpose_times(link.rotation, v);
}

Vector before_motion(const Link& link, const Vector& v) {
    if (link.motion == Motion::slide) return v;
    return link.motion == Motion::turn ? rotated(link.turn, v) : link.rotation * v;
}

Vector to_link(const Link& link, const Vector& v) { return across_motion(link, to_joint(link, v)); }
Vector to_parent(const Link& link, const Vector& v) { return from_joint(link, before_motion(link, v)); }

Symmetric to_parent(const Link& link, const Symmetric& s) {
    Symmetric out = s;
    if (link.motion == Motion::turn) out = rotated(link.turn, out);
    if (link.motion == Motion::ball || link.motion == Motion::general) out = rotated(link.rotation, out);
    for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) out = rotated(*turn, out);
    return out;
}

Matrix to_parent_conjugated(const Link& link, const Matrix& a) {
    Matrix out = a;
    if (link.motion == Motion::turn) out = conjugated(link.turn, out);
    if (link.motion == Motion::ball || link.motion == Motion::general) out = conjugated(link.rotation, out);
    for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) out = conjugated(*turn, out);
    return out;
}

Vector displacement(const LinkTree& tree, const Link& link) {
    if (link.motion == Motion::general) return link.shift;
    Vector d = zero_vector(*tree.graph);
    if (link.motion == Motion::slide) d.z = link.position;
    return d;
}

Moments shifted(const Moments& m, const Vector& s) {
    const Vector h = m.first, p = m.first + scaled(m.mass, s);  // r = r' + s
    Symmetric J = m.second;
    J.xx = J.xx + (h.x + p.x) * s.x;
    J.yy = J.yy + (h.y + p.y) * s.y;
    J.zz = J.zz + (h.z + p.z) * s.z;
    J.xy = J.xy + h.x * s.y + s.x * p.y;
    J.xz = J.xz + h.x * s.z + s.x * p.z;
    J.yz = J.yz + h.y * s.z + s.y * p.z;
    return {m.mass, p, J};
}

Moments operator+(const Moments& a, const Moments& b) {
    return {a.mass + b.mass, a.first + b.first, a.second + b.second};
}

void lump(LinkTree& tree) {
    const Expression o = tree.number(0.0);
    for (Link& link : tree.links) link.lumped = link.moments;
    for (size_t k = tree.links.size(); k-- > 0;) {
        Link& link = tree.links[k];
        Moments& own = link.lumped;
        Moments passed{o, zero_vector(*tree.graph), zero_symmetric(*tree.graph)};
        switch (link.motion) {
            case Motion::turn:
                passed.mass = own.mass;
                passed.first.z = own.first.z;
                passed.second.zz = own.second.zz;
                own.mass = own.first.z = own.second.zz = o;
                break;
            case Motion::slide:
                passed.second = own.second;
                own.second = zero_symmetric(*tree.graph);
                break;
            case Motion::ball:
                passed.mass = own.mass;
                own.mass = o;
                break;
            default:  // general
                if (link.axes > 0) break;
                passed = own;  // it does not move
                passed.first = link.rotation * passed.first;
                passed.second = rotated(link.rotation, passed.second);
                passed = shifted(passed, link.shift);
                own = {o, zero_vector(*tree.graph), zero_symmetric(*tree.graph)};
                break;
        }
        if (link.parent < 0) continue;
        for (auto turn = link.setting.rbegin(); turn != link.setting.rend(); ++turn) {
            passed.first = rotated(*turn, passed.first);
            passed.second = rotated(*turn, passed.second);
        }
        Moments& parent = tree.links[link.parent].lumped;
        parent = parent + shifted(passed, link.offset);
    }
}

}  // namespace bellcrank::symbolic
