// What a join, or a rake of a join, takes from the parts below it, bodies and joins alike.
#pragma once

#include "adaptive/assembly.hpp"

namespace bellcrank {

// A body has one handle where a join has two: all blocks of Φ are one.
struct RootedAssembly::Ends {
    const Matrix6 *phi1, *phi21, *phi2;
    const double *b1, *b2;
};

inline RootedAssembly::Ends RootedAssembly::ends(int number) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::join) {
        const JoinState& s = joins_[node.slot];
        return {&s.phi1, &s.phi21, &s.phi2, s.b1, s.b2};
    }
    const BodyState& s = bodies_[node.link];
    return {&s.phi, &s.phi, &s.phi, s.b, s.b};
}

// The form of a part of a join; that of a body alone is zero.
inline EndForm RootedAssembly::end_form(const Forms& forms, int number) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::join) return EndForm(forms.joins[node.slot]);
    return node.left < 0 ? EndForm() : EndForm(forms.bodies[node.slot]);
}

}  // namespace bellcrank
