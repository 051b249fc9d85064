// What a join, or a rake of a join, takes from the parts below it, bodies and joins alike.
#pragma once

#include "adaptive/assembly.hpp"

namespace bellcrank {

// A body has one handle where a join has two: all blocks of Φ and Ψ are one. Without totals psi1 is null, as for a body
// alone, whose total is zero.
struct RootedAssembly::Ends {
    const Matrix6 *phi1, *phi21, *phi2;
    const double *b1, *b2;
    const Matrix6 *psi1, *psi21, *psi2;
    const double *p1, *p2;
    double eta;
};

inline RootedAssembly::Ends RootedAssembly::ends(int number) const {
    const AssemblyNode& node = tree().nodes[number];
    if (node.kind == NodeKind::join) {
        const JoinState& s = joins_[node.slot];
        Ends e{&s.phi1, &s.phi21, &s.phi2, s.b1, s.b2, nullptr, nullptr, nullptr, nullptr, nullptr, 0.0};
        if (with_totals_) {
            const JoinTotals& t = join_totals_[node.slot];
            e.psi1 = &t.psi1, e.psi21 = &t.psi21, e.psi2 = &t.psi2, e.p1 = t.p1, e.p2 = t.p2, e.eta = t.eta;
        }
        return e;
    }
    const BodyState& s = bodies_[node.link];
    Ends e{&s.phi, &s.phi, &s.phi, s.b, s.b, nullptr, nullptr, nullptr, nullptr, nullptr, 0.0};
    if (node.left >= 0 && with_totals_) {
        const Totals& t = body_totals_[node.slot];
        e.psi1 = e.psi21 = e.psi2 = &t.psi;
        e.p1 = e.p2 = t.p;
        e.eta = t.eta;
    }
    return e;
}

}  // namespace bellcrank
