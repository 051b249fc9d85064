#include "formulations/recursive/recursion.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank::recursive {

namespace {

Articulated rigid(const Link& link) {
    const Vec3& h = link.moment;
    Articulated I;
    std::copy(link.second.begin(), link.second.end(), I.A.m);
    I.B = {{0, -h.z, h.y, h.z, 0, -h.x, -h.y, h.x, 0}};
    I.C = {{link.mass, link.mass, link.mass, 0, 0, 0}};
    return I;
}

// L⁻¹ of D = L Lᵀ; D is overwritten. D⁻¹ is never formed: where it is ill-conditioned, its digits would be lost twice.
void whiten(double* D, double* whitening, int d) {
    std::fill_n(whitening, d * d, 0.0);
    for (int i = 0; i < d; ++i) {
        for (int j = 0; j < i; ++j) {
            for (int k = 0; k < j; ++k) D[d * i + j] -= D[d * i + k] * D[d * j + k];
            D[d * i + j] *= whitening[d * j + j];
            D[d * i + i] -= D[d * i + j] * D[d * i + j];
        }
        whitening[d * i + i] = 1.0 / std::sqrt(D[d * i + i]);
        for (int j = 0; j < i; ++j) {
            double sum = 0.0;
            for (int k = j; k < i; ++k) sum -= D[d * i + k] * whitening[d * k + j];
            whitening[d * i + j] = sum * whitening[d * i + i];
        }
    }
}

}  // namespace

Recursion::Recursion(const LinkTree& tree, int rows, std::vector<RowEnd> ends)
    : tree_(tree), rows_(rows), ends_(std::move(ends)), nodes_(tree.links.size() + 1) {
    std::stable_sort(ends_.begin(), ends_.end(), [](const RowEnd& a, const RowEnd& b) { return a.link < b.link; });
    build_slots();
    build_storage();
    inertia_.resize(tree.links.size());
    for (auto* loads : {&columns_, &half_columns_}) loads->assign(slot_row_.size(), kNothing);
    for (auto* v : {&g_, &y_}) v->assign(slot_row_.size(), 0.0);
    p_.assign(tree.links.size(), kNothing);
    a_.assign(tree.links.size(), kRest);
    U_.assign(tree.speeds, kNothing);
    z_.assign(tree.speeds, 0.0);
    for (auto* v : {&scale_, &size_, &largest_}) v->assign(rows, 0.0);
    dropped_.assign(rows, 0);
    order_.assign(slot_row_.size(), 0);
    kept_.assign(nodes_.size(), 0);
    whole_.resize(tree.links.size());
    motions_.resize(tree.links.size());
    forces_.resize(tree.links.size());
    nothing_.assign(tree.links.size(), kNothing);
    gap_.resize(rows);
    for (auto* v : {&lack_, &more_}) v->assign(tree.speeds, 0.0);
    for (auto* v : {&gaps_, &more_lambda_, &compliance_}) v->assign(rows, 0.0);
}

// A link passes on no more rows of W than twice the columns that it passes on.
void Recursion::build_storage() {
    const size_t n = tree_.links.size();
    int roots = 0, effort = 0, factor = 0, half = 0, highest = 0;
    std::vector<int> arriving(n + 1, 0);
    const auto build = [&](size_t i) {
        Node& node = nodes_[i];
        const int size = node.open + node.closed, speeds = i < n ? tree_.links[i].speeds : 0;
        node.height = arriving[i] + node.closed + speeds;
        node.roots = roots, node.effort = effort, node.factor = factor, node.half = half;
        roots += node.height * size;
        effort += speeds * speeds;
        factor += node.closed * node.closed;
        half += node.closed * node.open;
        highest = std::max(highest, node.height);
        if (i < n && node.open > 0) arriving[parent_node(static_cast<int>(i))] += std::min(node.height, 2 * node.open);
    };
    for (size_t i = n; i-- > 0;) build(i);
    build(n);
    roots_.assign(roots, 0.0);
    whitening_.assign(effort, 0.0);
    factor_.assign(factor, 0.0);
    half_.assign(half, 0.0);
    reflector_.assign(highest, 0.0);
}

int Recursion::parent_node(int link) const {
    const int parent = tree_.links[link].parent;
    return parent < 0 ? static_cast<int>(tree_.links.size()) : parent;
}

// A row is open at every link between one of its ends and the link where all of them meet.
void Recursion::build_slots() {
    const int ground = static_cast<int>(tree_.links.size());
    std::vector<std::vector<int>> links(rows_);
    for (const RowEnd& end : ends_) links[end.row].push_back(end.link);
    std::vector<std::vector<int>> open(ground + 1), closed(ground + 1);
    std::vector<int> seen(ground + 1, -1);
    for (int r = 0; r < rows_; ++r) {
        // Numbers are preorder, so that the largest of the links reached cannot lie above the others.
        std::vector<int> front = links[r];
        std::sort(front.begin(), front.end());
        front.erase(std::unique(front.begin(), front.end()), front.end());
        if (front.empty()) front.push_back(ground);
        while (front.size() > 1 || front.back() < 0) {
            if (front.back() < 0) {
                front.back() = ground;
                break;
            }
            const int link = front.back();
            front.pop_back();
            open[link].push_back(r);
            const int above = tree_.links[link].parent;
            const auto at = std::lower_bound(front.begin(), front.end(), above);
            if (at == front.end() || *at != above) front.insert(at, above);
        }
        closed[front.back()].push_back(r);
    }
    for (int i = 0; i <= ground; ++i) {
        Node& node = nodes_[i];
        node.slot = static_cast<int>(slot_row_.size());
        node.open = static_cast<int>(open[i].size());
        node.closed = static_cast<int>(closed[i].size());
        for (const auto* list : {&open[i], &closed[i]}) slot_row_.insert(slot_row_.end(), list->begin(), list->end());
    }
    // Rows ascend among the open ones of a node and among its closed ones.
    const auto slot_at = [&](const Node& node, int row) {
        const auto begin = slot_row_.begin() + node.slot, middle = begin + node.open, end = middle + node.closed;
        auto found = std::lower_bound(begin, middle, row);
        if (found == middle || *found != row) found = std::lower_bound(middle, end, row);
        return static_cast<int>(found - slot_row_.begin());
    };
    slot_above_.assign(slot_row_.size(), -1);
    for (int i = 0; i < ground; ++i)
        for (int s = nodes_[i].slot; s < nodes_[i].slot + nodes_[i].open; ++s)
            slot_above_[s] = slot_at(nodes_[parent_node(i)], slot_row_[s]);
    for (const RowEnd& end : ends_) end_slot_.push_back(end.link < 0 ? -1 : slot_at(nodes_[end.link], end.row));
}

void Recursion::factor(const TreeState& k, const double* compliance, const double* natural, double tolerance) {
    const int n = static_cast<int>(tree_.links.size());
    for (int i = 0; i < n; ++i) inertia_[i] = rigid(tree_.links[i]);
    std::fill(columns_.begin(), columns_.end(), kNothing);
    for (Node& node : nodes_) node.used = 0;
    std::copy_n(compliance, rows_, size_.begin());
    std::copy_n(compliance, rows_, compliance_.begin());
    std::fill(whole_.begin(), whole_.end(), Size{});
    doubtful_ = false;
    std::fill(dropped_.begin(), dropped_.end(), 0);
    smallest_ = 1.0;
    largest_dropped_ = 0.0;
    for (size_t e = 0; e < ends_.size(); ++e)
        if (end_slot_[e] >= 0) columns_[end_slot_[e]] += -1.0 * ends_[e].load;
    for (int i = n - 1; i >= 0; --i) {
        const Node& node = nodes_[i];
        if (node.closed > 0) close_rows(i, compliance, natural, tolerance);
        reduce(k, i);
    }
    if (nodes_[n].closed > 0) close_rows(n, compliance, natural, tolerance);
}

// Eliminates the acceleration along the joint and takes what the link asks of it to the parent's frame: (2) and (3) of
// docs/theory/recursive.md.
void Recursion::reduce(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    const Node& node = nodes_[i];
    Articulated I = inertia_[i];
    if (link.given < 0) {
        for (int a = 0; a < link.speeds; ++a) U_[link.u + a] = inertia_[i] * k.S[link.u + a];
        double D[36], *white = whitening_.data() + node.effort;
        for (int a = 0; a < link.speeds; ++a)
            for (int b = 0; b < link.speeds; ++b) D[link.speeds * a + b] = dot(k.S[link.u + a], U_[link.u + b]);
        for (int a = 0; a < link.speeds; ++a) D[(link.speeds + 1) * a] += link.rotor[a];
        whiten(D, white, link.speeds);
        for (int a = 0; a < link.speeds; ++a) {
            Load V = white[link.speeds * a] * U_[link.u];
            for (int b = 1; b <= a; ++b) V += white[link.speeds * a + b] * U_[link.u + b];
            I.add_dyad(-1.0, V, V);
        }
        if (link.speeds == 6) I = {};  // nothing passes a joint that holds nothing
    }
    judge(k, i);
    if (node.open > 0) pass_columns(k, i);
    if (link.parent < 0) return;
    I = {rotated(k.rotation[i], I.A), rotated(k.rotation[i], I.B), rotated(k.rotation[i], I.C)};
    shift(k.shift[i], I);
    inertia_[link.parent] += I;
}

// Compares what was left along the joint with what had been there, here or at what hangs on it.
void Recursion::judge(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    const double *A = inertia_[i].A.m, *C = inertia_[i].C.m;
    Size& whole = whole_[i];
    whole.turning = std::max(whole.turning, A[0] + A[1] + A[2]);
    whole.mass = std::max(whole.mass, C[0] + C[1] + C[2]);
    const double* white = whitening_.data() + nodes_[i].effort;
    for (int c = 0; c < link.speeds && link.given < 0; ++c) {
        const Twist& S = k.S[link.u + c];
        const double was = dot(S.w, S.w) * whole.turning + dot(S.v, S.v) * whole.mass;
        const double by_pivot = white[link.speeds * c + c] * white[link.speeds * c + c];
        if (kLittleInertia * was * by_pivot > 1.0) doubtful_ = true;
    }
    if (link.parent < 0) return;
    Size& above = whole_[link.parent];
    above.turning = std::max({above.turning, whole.turning, whole.mass * dot(k.shift[i], k.shift[i])});
    above.mass = std::max(above.mass, whole.mass);
}

// Takes the joint's freedoms out of the open columns, and adds their rows to W.
void Recursion::pass_columns(const TreeState& k, int i) {
    const Link& link = tree_.links[i];
    Node& node = nodes_[i];
    const int d = link.given < 0 ? link.speeds : 0;
    const double* white = whitening_.data() + node.effort;
    for (int s = 0; s < node.open; ++s) {
        Load P = columns_[node.slot + s];
        double* W = roots_.data() + node.roots + node.height * s + node.used;
        double along[6], weight[6] = {};
        for (int a = 0; a < d; ++a) along[a] = dot(k.S[link.u + a], P);
        for (int a = 0; a < d; ++a) {
            W[a] = 0.0;
            for (int b = 0; b <= a; ++b) W[a] += white[d * a + b] * along[b];
            for (int b = 0; b <= a; ++b) weight[b] += white[d * a + b] * W[a];
            size_[slot_row_[node.slot + s]] += W[a] * W[a];
        }
        for (int a = 0; a < d; ++a) P += -weight[a] * U_[link.u + a];
        if (link.parent >= 0) columns_[slot_above_[node.slot + s]] += outward(k.rotation[i], k.shift[i], P);
    }
    node.used += d;
    pass_roots(i);
}

// Uses what factor() made: loads go up by (3), accelerations and multipliers down by (1).
void Recursion::solve(const TreeState& k, const Input& in, double* udot, double* lambda) {
    up(k, in);
    down(k, in, udot, lambda);
}

void Recursion::up(const TreeState& k, const Input& in) {
    const int n = static_cast<int>(tree_.links.size());
    for (int i = 0; i < n; ++i) p_[i] = -1.0 * in.loads[i];
    std::fill(g_.begin(), g_.end(), 0.0);
    for (int i = n - 1; i >= 0; --i) {
        const Link& link = tree_.links[i];
        const Node& node = nodes_[i];
        if (node.closed > 0) close_up(i, in.targets);
        Twist a = in.bias == nullptr ? kRest : in.bias[i];  // at rest of the parent, without multipliers
        along_joint(k, i, in, p_[i], a);
        for (int c = 0; c < link.speeds; ++c) a += z_[link.u + c] * k.S[link.u + c];
        for (int s = node.slot; s < node.slot + node.open; ++s) g_[slot_above_[s]] += g_[s] - dot(a, columns_[s]);
        if (link.parent < 0) continue;
        Load p = inertia_[i] * a;
        p += p_[i];
        p_[link.parent] += outward(k.rotation[i], k.shift[i], p);
    }
    if (nodes_[n].closed > 0) close_up(n, in.targets);
}

// z: what the joint's speeds change by where the link would accelerate at a without them and asks for I a + p.
void Recursion::along_joint(const TreeState& k, int i, const Input& in, const Load& p, const Twist& a) {
    const Link& link = tree_.links[i];
    double* z = z_.data() + link.u;
    if (link.given >= 0) {
        z[0] = in.given == nullptr ? 0.0 : in.given[link.given];
        return;
    }
    Load asked = inertia_[i] * a;
    asked += p;
    double u[6];
    for (int c = 0; c < link.speeds; ++c)
        u[c] = (in.efforts == nullptr ? 0.0 : in.efforts[link.u + c]) - dot(k.S[link.u + c], asked);
    const double* white = whitening_.data() + nodes_[i].effort;
    for (int c = 0; c < link.speeds; ++c) z[c] = 0.0;
    for (int c = 0; c < link.speeds; ++c) {
        double along = 0.0;
        for (int d = 0; d <= c; ++d) along += white[link.speeds * c + d] * u[d];
        for (int d = 0; d <= c; ++d) z[d] += white[link.speeds * c + d] * along;
    }
}

void Recursion::down(const TreeState& k, const Input& in, double* udot, double* lambda) {
    const int n = static_cast<int>(tree_.links.size());
    if (nodes_[n].closed > 0) close_down(n, kRest, lambda);
    for (int i = 0; i < n; ++i) {
        const Link& link = tree_.links[i];
        const Node& node = nodes_[i];
        Twist a = in.bias == nullptr ? kRest : in.bias[i];
        if (link.parent >= 0) a += inward(k.rotation[i], k.shift[i], a_[link.parent]);
        Load p = p_[i];
        for (int s = node.slot; s < node.slot + node.open; ++s) p += lambda[slot_row_[s]] * columns_[s];
        along_joint(k, i, in, p, a);
        for (int c = 0; c < link.speeds; ++c) {
            udot[link.u + c] = z_[link.u + c];
            a += z_[link.u + c] * k.S[link.u + c];
        }
        a_[i] = a;
        if (node.closed > 0) close_down(i, a, lambda);
    }
}

void Recursion::accelerations(const TreeState& k, const Twist* bias, const double* udot,
                              std::vector<Twist>& out) const {
    for (size_t i = 0; i < tree_.links.size(); ++i) {
        const Link& link = tree_.links[i];
        Twist a = bias == nullptr ? kRest : bias[i];
        if (link.parent >= 0) a += inward(k.rotation[i], k.shift[i], out[link.parent]);
        for (int c = 0; c < link.speeds; ++c) a += udot[link.u + c] * k.S[link.u + c];
        out[i] = a;
    }
}

}  // namespace bellcrank::recursive
